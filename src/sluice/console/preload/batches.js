// Batches: warm pages or a sitemap, follow the progress, cancel.
import { countOf, formatNumber, html, useState } from "../ui/draw.js";
import { Button, Check, TextArea, TextField } from "../ui/controls.js";
import { Badge, Banner, Empty, ErrorBanner, Loaded } from "../ui/feedback.js";
import { Card, Table, useConfirm } from "../ui/layout.js";
import { usePolling } from "../ui/state.js";
import { Ago, formatDuration } from "../ui/times.js";
import { act } from "./zone-api.js";

const REFRESH_S = 2;
const KINDS = { finished: "good", running: "warn", crawling: "warn" };
const COUNTS = ["done", "failed", "gone", "skipped", "dropped", "cancelled"];
const short = (id) => id.replace(/^(preload|purge)-/, "").slice(0, 8);
const describe = ({ preload_batch_id: id, enqueued, sitemap }) => (sitemap ? `Batch ${short(id)}: the sitemap ${sitemap} is being read.` : `Batch ${short(id)}: ${countOf(enqueued, "page")} in the queue.`);

export function Batches({ zone }) {
  const state = usePolling(async () => (await zone.get("status")).batches, REFRESH_S, zone.id);
  const [notice, setNotice] = useState(null);
  const [dialog, ask] = useConfirm();
  const send = async (path, body) => {
    setNotice({ kind: "good", text: describe(await zone.send(path, body)) });
    state.refresh();
  };
  const cancel = (id) =>
    ask({
      title: `Cancel batch ${short(id)}?`,
      text: "Its waiting pages leave the queue. A page that is being fetched now is still finished.",
      action: "Cancel the batch",
      run: async () => {
        await act(setNotice, async () => (await zone.send(`batches/${encodeURIComponent(id)}/cancel`), "Cancelled."));
        state.refresh();
      },
    });
  const columns = [
    ["Batch", ({ preload_batch_id: id }) => html`<span class="mono" title=${id}>${short(id)}</span>`],
    ["Trigger", ({ trigger }) => trigger],
    ["State", ({ state: name }) => html`<${Badge} kind=${KINDS[name]}>${name}<//>`],
    ["Progress", Bar, "bar"],
    ["Pages", describeCounts, "wrap"],
    ["Time left", ({ eta_s, state: name }) => (name === "finished" ? "" : eta_s === null ? "not progressing" : formatDuration(eta_s))],
    ["Started", ({ created_at: at }) => html`<${Ago} time=${at * 1000} />`],
    ["", (batch) => (batch.state === "finished" ? "" : html`<${Button} kind="danger" aria-label="Cancel ${short(batch.preload_batch_id)}" onClick=${() => cancel(batch.preload_batch_id)}>Cancel<//>`)],
  ];
  return html`<div class="columns"><${WarmForm} send=${send} /><${SitemapForm} send=${send} /></div>
    ${notice && html`<${Banner} kind=${notice.kind}>${notice.text}<//>`}${dialog}
    <${Card} title="Batches">
      <${Loaded} state=${state}>
        ${(batches) => (batches.length ? html`<${Table} caption="Batches" columns=${columns} rows=${batches} keyOf=${({ preload_batch_id: id }) => id} />` : html`<${Empty} title="No batch yet">Warm pages above. A purge, the schedule and the sitemap make batches too.<//>`)}
      <//>
    <//>`;
}

const Bar = ({ preload_batch_id: id, total, queued, state }) => {
  const over = state === "finished" ? 1 : 0;
  return html`<progress max=${Math.max(total, 1)} value=${total ? total - queued : over} aria-label="Progress of ${short(id)}"></progress>`;
};

const describeCounts = (batch) => [`${formatNumber(batch.total - batch.queued)} of ${formatNumber(batch.total)}`, ...COUNTS.filter((name) => batch[name]).map((name) => `${formatNumber(batch[name])} ${name}`)].join(", ");

// A card that sends a body and shows the errors of the service at their fields.
function useSubmit(send, path, body) {
  const [error, setError] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      setError(null);
      await send(path, body());
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const errorOf = (name) => (error?.fields ?? []).filter(({ path: at }) => at.replace(/\[.*/, "") === name).map(({ path: at, reason }) => `${at} ${reason}`).join("; ");
  return { error, isBusy, submit, errorOf };
}

function WarmForm({ send }) {
  const [urls, setUrls] = useState("");
  const [isAll, setAll] = useState(false);
  const [priority, setPriority] = useState("");
  const body = () => ({ ...(isAll ? { all: true } : { urls: urls.split("\n").map((line) => line.trim()).filter(Boolean) }), ...(priority === "" ? {} : { priority: Number(priority) }) });
  const { error, isBusy, submit, errorOf } = useSubmit(send, "enqueue", body);
  return html`<form class="card" novalidate onSubmit=${submit}>
    <h2>Warm pages</h2>
    <${TextArea} label="Addresses, one per line" rows="5" value=${urls} onInput=${setUrls} disabled=${isAll} error=${errorOf("urls")} hint="Only addresses on the hosts of this zone" />
    <${Check} label="All known pages" checked=${isAll} onChange=${setAll} />
    <${TextField} label="Priority" type="number" min="0" max="100" value=${priority} onInput=${setPriority} error=${errorOf("priority")} hint="0 to 100. If empty, it depends on the trigger, the age and the traffic of the page." />
    ${error && !errorOf("urls") && !errorOf("priority") && html`<${ErrorBanner} error=${error} />`}
    <div><button type="submit" class="primary" disabled=${isBusy}>Warm</button></div>
  </form>`;
}

function SitemapForm({ send }) {
  const [url, setUrl] = useState("");
  const { error, isBusy, submit, errorOf } = useSubmit(send, "sitemap", () => (url.trim() ? { url: url.trim() } : {}));
  return html`<form class="card" novalidate onSubmit=${submit}>
    <h2>Crawl a sitemap</h2>
    <${TextField} label="Address of the sitemap" type="url" value=${url} onInput=${setUrl} error=${errorOf("url")} hint="If empty, the address in the settings. A sitemap index, robots.txt or a compressed file works too." />
    ${error && !errorOf("url") && html`<${ErrorBanner} error=${error} />`}
    <div><button type="submit" class="primary" disabled=${isBusy}>Crawl</button></div>
  </form>`;
}
