// The dead-letter queue: pages that failed for good. Replay or delete them.
import { countOf, html, useState } from "../ui/draw.js";
import { Button } from "../ui/controls.js";
import { Banner, Empty, Loaded } from "../ui/feedback.js";
import { Card, Table, useConfirm } from "../ui/layout.js";
import { usePolling } from "../ui/state.js";
import { Ago } from "../ui/times.js";
import { act } from "./zone-api.js";

const REFRESH_S = 5;
const SHOWN = 200;

export function Failed({ zone }) {
  const state = usePolling(() => zone.get(`failed?limit=${SHOWN}`), REFRESH_S, zone.id);
  const [chosen, setChosen] = useState(new Set());
  const [notice, setNotice] = useState(null);
  const [dialog, ask] = useConfirm();
  const run = async (work) => {
    if (await act(setNotice, work)) setChosen(new Set());
    state.refresh();
  };
  const replay = (ids) => run(async () => `${countOf((await zone.send("failed/replay", ids ? { ids } : {})).replayed, "page")} back in the queue. See Batches.`);
  const remove = (ids) => ask({ title: `Delete ${countOf(ids.length, "failed page")}?`, text: "They are not tried again until something asks for them.", action: "Delete", run: () => run(async () => `${countOf((await zone.remove("failed", { ids })).deleted, "page")} deleted.`) });
  const choose = (id, isOn) => setChosen(new Set(isOn ? [...chosen, id] : [...chosen].filter((each) => each !== id)));
  const columns = [
    ["Select", ({ id, url }) => html`<input type="checkbox" checked=${chosen.has(id)} aria-label="Select ${url}" onChange=${(event) => choose(id, event.target.checked)} />`],
    ["Page", ({ url, variant }) => (variant ? `${url} (${variant})` : url), "wrap"],
    ["Status", ({ status }) => status ?? "", "number"],
    ["Reason", ({ reason }) => reason, "wrap"],
    ["Attempts", ({ attempt }) => attempt + 1, "number"],
    ["Fails since", ({ fails_since: since, failed_at: at }) => html`<${Ago} time=${(since ?? at) * 1000} />`],
    ["Last try", ({ failed_at: at }) => html`<${Ago} time=${at * 1000} />`],
    ["", ({ id, url }) => html`<div class="row"><${Button} aria-label="Replay ${url}" onClick=${() => replay([id])}>Replay<//><${Button} kind="danger" aria-label="Delete ${url}" onClick=${() => remove([id])}>Delete<//></div>`],
  ];
  return html`<${Card} title="Failed pages">
    <p class="hint">These pages failed permanently or too often. Ten of them are retried every hour; after a week they are deleted.</p>
    ${notice && html`<${Banner} kind=${notice.kind}>${notice.text}<//>`}${dialog}
    <${Loaded} state=${state}>
      ${({ count, failed }) => {
        if (!count) return html`<${Empty} title="No page has failed">Pages that fail appear here with the reason.<//>`;
        const ids = failed.map(({ id }) => id).filter((id) => chosen.has(id));
        return html`<div class="row">
            <${Button} kind="primary" icon="refresh" onClick=${() => replay()}>Replay all<//><${Button} onClick=${() => setChosen(new Set(failed.map(({ id }) => id)))}>Select all<//>
            <${Button} disabled=${!ids.length} onClick=${() => replay(ids)}>Replay selected<//><${Button} kind="danger" disabled=${!ids.length} onClick=${() => remove(ids)}>Delete selected<//>
            <span class="hint" role="status">${ids.length} selected</span>
          </div>
          ${count > failed.length && html`<${Banner} kind="">Only the first ${failed.length} failed pages are shown.<//>`}
          <${Table} caption="Failed pages" columns=${columns} rows=${failed} keyOf=${({ id }) => id} />`;
      }}
    <//>
  <//>`;
}
