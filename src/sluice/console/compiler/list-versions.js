// The versions of a list: when each was made, what changed, and the way back.
import { formatNumber, html, useState } from "../ui/draw.js";
import { getJson, sendJson } from "../ui/api.js";
import { LineChart } from "../ui/charts.js";
import { Button, Select } from "../ui/controls.js";
import { Badge, ErrorBanner, Figures, Loaded } from "../ui/feedback.js";
import { Card, Table, useConfirm } from "../ui/layout.js";
import { usePolling, useToken } from "../ui/state.js";
import { Ago } from "../ui/times.js";
import { DiffView } from "./result-view.js";

export function Versions({ name, version, refresh }) {
  const state = usePolling((options) => getJson(`/lists/${name}/versions`, options), 0, `${name} ${version}`);
  const token = useToken();
  const [error, setError] = useState(null);
  const [dialog, ask] = useConfirm();
  const rollBack = (chosen) =>
    ask({
      title: `Publish version ${chosen} again?`,
      text: `Its rules become a new version, and subscribers get them at their next update. The next rebuild replaces it.`,
      action: `Publish version ${chosen} again`,
      run: async () => {
        try {
          setError(null);
          await sendJson(`/lists/${name}/rollback`, { version: chosen });
          refresh();
        } catch (failure) {
          setError(failure);
        }
      },
    });
  const action = (row) => (token && row.version !== version ? html`<${Button} onClick=${() => rollBack(row.version)} aria-label="Roll back to version ${row.version}">Roll back<//>` : "");
  return html`<${Card} title="Versions">
    <${ErrorBanner} error=${error} />${dialog}
    <${Loaded} state=${state}>
      ${({ versions }) =>
        html`<${Table}
            caption="Versions"
            columns=${[["Version", (row) => html`<strong>${row.version}</strong>${row.version === version && html` <${Badge} kind="good">served<//>`}`], ["Made", (row) => html`<${Ago} time=${row.createdAt} />`], ["Rules", (row) => formatNumber(row.ruleCount), "number"], ["", action]]}
            rows=${versions}
            keyOf=${(row) => row.version}
          />
          ${versions.length > 1 && html`<${LineChart} title="Size of the versions" unit="rules" isStep=${true} points=${toPoints(versions)} /><${Differences} name=${name} versions=${versions} />`}`}
    <//>
  <//>`;
}

// Oldest first; the served version lasts until now.
function toPoints(versions, now = Date.now()) {
  const points = versions.map(({ createdAt, ruleCount }) => ({ at: Date.parse(createdAt), value: ruleCount })).reverse();
  return [...points, { at: Math.max(now, points.at(-1).at), value: points.at(-1).value }];
}

function Differences({ name, versions }) {
  const [from, setFrom] = useState(String(versions[1].version));
  const [to, setTo] = useState(String(versions[0].version));
  const diff = usePolling((options) => getJson(`/lists/${name}/diff?from=${from}&to=${to}`, options), 0, `${name} ${from} ${to}`);
  const options = versions.map(({ version }) => [String(version), `Version ${version}`]);
  return html`<h3>Differences</h3>
    <div class="row"><${Select} label="From" value=${from} options=${options} onInput=${setFrom} /><${Select} label="to" value=${to} options=${options} onInput=${setTo} /></div>
    <${Loaded} state=${diff}>
      ${({ added, removed, unlisted }) => {
        const [plus, minus] = [added.length + (unlisted?.added ?? 0), removed.length + (unlisted?.removed ?? 0)];
        return html`<${Figures} figures=${[["Added", `+${formatNumber(plus)}`], ["Removed", `−${formatNumber(minus)}`]]} />
          ${plus + minus > 0 ? html`<${DiffView} added=${added} removed=${removed} all=${plus + minus} />` : html`<p>The rules are the same.</p>`}`;
      }}
    <//>`;
}
