// One published list: its addresses, its sources, its versions, and why it blocks a domain.
import { countOf, formatNumber, html, useEffect, useState } from "../ui/draw.js";
import { getJson, request, sendJson } from "../ui/api.js";
import { Button } from "../ui/controls.js";
import { Badge, Banner, Empty, ErrorBanner, Figures, Loaded } from "../ui/feedback.js";
import { Card, Table, useConfirm } from "../ui/layout.js";
import { SignedIn } from "../ui/sign-in.js";
import { usePolling, useToken } from "../ui/state.js";
import { Ago } from "../ui/times.js";
import { ListState } from "./lists-view.js";
import { describeSchedule } from "./new-list.js";
import { Overlap, WhyBlocked } from "./list-questions.js";
import { Subscribe } from "./list-subscribe.js";
import { Versions } from "./list-versions.js";

const SOURCE_STATES = { ok: ["good", "ok"], mirror: ["warn", "from a mirror"], "last-good": ["warn", "last good copy"], failed: ["bad", "failed"] };
const OUTCOMES = { published: "a new version", unchanged: "no change", refused: "refused", failed: "failed" };

function describeOutcome(outcome, version) {
  const told = OUTCOMES[outcome] ?? outcome;
  return version && (outcome === "refused" || outcome === "failed") ? `${told}: the old version is served` : told;
}

export function ListPage({ name, onBack }) {
  const [isDeleting, setDeleting] = useState(false);
  const [error, setError] = useState(null);
  const fail = (failure) => {
    setError(failure);
    setDeleting(false);
  };
  return html`<div><${Button} onClick=${onBack}>← All lists<//></div>
    <${ErrorBanner} error=${error} />
    ${isDeleting ? html`<${Deletion} name=${name} onDone=${onBack} onFail=${fail} />` : html`<${ListParts} name=${name} onDelete=${() => setDeleting(true)} />`}`;
}

// Takes the place of all other parts, which ends their requests: nothing asks for a list that is going away.
function Deletion({ name, onDone, onFail }) {
  useEffect(() => {
    request(`/lists/${name}`, { method: "DELETE" }).then(onDone, onFail);
  }, []);
  return html`<p role="status">Deleting ${name}…</p>`;
}

function ListParts({ name, onDelete }) {
  const state = usePolling((options) => getJson(`/lists/${name}`, options), 5, name);
  return html`<${Loaded} state=${state}>
      ${(list) =>
        html`<${Summary} list=${list} refresh=${state.refresh} onDelete=${onDelete} />
          ${list.version ? html`<${Subscribe} list=${list} />` : html`<${Card} title="Subscribe"><${Empty} title="Not built yet">The addresses appear with the first version.<//><//>`}
          <${Sources} sources=${list.sources ?? []} />
          ${list.version > 0 && html`<div class="columns"><${WhyBlocked} name=${name} /><${Overlap} name=${name} version=${list.version} /></div><${Versions} name=${name} version=${list.version} refresh=${state.refresh} />`}`}
    <//>`;
}

function Summary({ list, refresh, onDelete }) {
  const token = useToken();
  const [error, setError] = useState(null);
  const [dialog, ask] = useConfirm();
  const attempt = async (work) => {
    try {
      setError(null);
      await work();
      refresh();
    } catch (failure) {
      setError(failure);
    }
  };
  const remove = () =>
    ask({
      title: `Delete ${list.title}?`,
      text: `The addresses /lists/${list.name}… stop answering for everybody who subscribed. This cannot be undone.`,
      action: "Delete the list",
      run: onDelete,
    });
  const actions = token && html`<${Button} icon="refresh" onClick=${() => attempt(() => sendJson(`/lists/${list.name}/rebuild`, {}))}>Rebuild now<//><${Button} icon="trash" kind="danger" onClick=${remove}>Delete<//><${SignedIn} />`;
  const build = list.lastBuild;
  const troubles = (list.sources ?? []).filter(({ state }) => state !== "ok");
  return html`<${Card} title=${list.title} actions=${actions}>
    <p class="hint">Name in the address: <code>${list.name}</code></p>
    ${list.description && html`<p>${list.description}</p>`}
    <${Figures}
      figures=${[
        ["State", html`<${ListState} list=${list} />`],
        ["Rules", list.version ? formatNumber(list.ruleCount) : "–"],
        ["Version", list.version || "–"],
        ["Updated", list.updatedAt ? html`<${Ago} time=${list.updatedAt} />` : "–"],
        ["Rebuilt", describeSchedule(list.schedule)],
      ]}
    />
    ${list.state === "failed" && build?.endedAt && html`<${Banner}>${(list.reason ?? "The last build failed").replace(/\.?$/, ".")} ${list.version ? "The version before it is served." : "Mend its sources, then rebuild."}<//>`}
    ${list.state === "degraded" && html`<${Banner} kind="warn">${countOf(troubles.length, "source")} could not be read. The list keeps their rules from the last good copy.<//>`}
    ${build && html`<p class="hint">Last build: ${build.endedAt ? html`<${Ago} time=${build.endedAt} />, ${describeOutcome(build.outcome, list.version)}` : html`running since <${Ago} time=${build.startedAt} />`}</p>`}
    <${ErrorBanner} error=${error} />${dialog}
  <//>`;
}

const Sources = ({ sources }) =>
  html`<${Card} title="Sources">
    ${sources.length ? html`<${Table} caption="Sources of the list" columns=${SOURCE_COLUMNS} rows=${sources} keyOf=${({ source }) => source} />` : html`<${Empty}>None has been read yet.<//>`}
  <//>`;

const SOURCE_COLUMNS = [
  ["Source", ({ source }) => source, "wrap"],
  ["State", ({ state }) => html`<${Badge} kind=${SOURCE_STATES[state]?.[0]}>${SOURCE_STATES[state]?.[1] ?? state}<//>`],
  ["Rules", ({ ruleCount }) => (ruleCount == null ? "" : formatNumber(ruleCount)), "number"],
  ["Read", ({ fetchedAt }) => (fetchedAt ? html`<${Ago} time=${fetchedAt} />` : "")],
  ["Problem", ({ reason }) => reason ?? "", "wrap"],
];
