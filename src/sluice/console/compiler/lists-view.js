// Published lists: all of them, one of them, or a new one.
import { countOf, formatNumber, html } from "../ui/draw.js";
import { getJson } from "../ui/api.js";
import { Button } from "../ui/controls.js";
import { Badge, Empty, Loaded } from "../ui/feedback.js";
import { Card, Table } from "../ui/layout.js";
import { SignedIn } from "../ui/sign-in.js";
import { usePolling } from "../ui/state.js";
import { Ago } from "../ui/times.js";
import { ListPage } from "./list-page.js";
import { NewList } from "./new-list.js";

const STATES = { fresh: "good", degraded: "warn", failed: "bad" };

// A list without a version has not failed before its first build has ended.
export const ListState = ({ list: { state, version, lastBuild } }) => {
  const isNew = !version && !lastBuild?.endedAt;
  return html`<${Badge} kind=${isNew ? "" : STATES[state]}>${isNew ? "not built yet" : state}<//>`;
};

export function ListsView({ path, go, form }) {
  if (path === "new") return html`<${NewList} form=${form} onDone=${go} />`;
  if (path) return html`<${ListPage} key=${path} name=${path} onBack=${() => go("")} />`;
  return html`<${AllLists} go=${go} />`;
}

function AllLists({ go }) {
  const lists = usePolling((options) => getJson("/lists", options), 15);
  const columns = [
    ["List", ({ name, title, description }) => html`<strong><a href="#lists/${name}">${title}</a></strong>${title !== name && html` <code class="hint">${name}</code>`}${description && html`<br /><span class="hint">${description}</span>`}`, "wrap"],
    ["State", (list) => html`<${ListState} list=${list} />`],
    ["Rules", ({ version, ruleCount }) => (version ? formatNumber(ruleCount) : ""), "number"],
    ["Version", ({ version }) => version || "", "number"],
    ["Updated", ({ updatedAt }) => (updatedAt ? html`<${Ago} time=${updatedAt} />` : "")],
  ];
  const actions = html`<${SignedIn} /><${Button} icon="plus" kind="primary" onClick=${() => go("new")}>New list<//>`;
  return html`<${Card} title="Published lists" actions=${actions}>
    <${Loaded} state=${lists}>
      ${({ lists: rows }) =>
        rows.length
          ? html`<p class="hint">${countOf(rows.length, "list")}. Everybody may subscribe to them; each is rebuilt on its own schedule.</p><${Table} caption="Published lists" columns=${columns} rows=${rows} keyOf=${({ name }) => name} />`
          : html`<${Empty} title="No list is published yet">A published list has an address that AdGuard Home, Pi-hole, dnsmasq and uBlock Origin can subscribe to. Fill in the form under <a href="#">Compile</a>, then press New list.<//>`}
    <//>
  <//>`;
}
