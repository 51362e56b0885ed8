// The stored copies: find one, warm it, purge it, or ask why it is cached as it is.
import { countOf, formatNumber, html, useState } from "../ui/draw.js";
import { Button, SearchField } from "../ui/controls.js";
import { Badge, Banner, Empty, Figures, Loaded } from "../ui/feedback.js";
import { Card, Table, useConfirm } from "../ui/layout.js";
import { usePolling } from "../ui/state.js";
import { Ago, formatDuration } from "../ui/times.js";
import { formatBytes } from "./bytes.js";
import { purge } from "./purge.js";
import { act } from "./zone-api.js";

const REFRESH_S = 10;
const LOADED = 1000;
const SHOWN = 100;
const isFresh = ({ fresh_until: until }) => until > Date.now() / 1000;

export function Pages({ zone, go }) {
  const state = usePolling(() => zone.get(`pages?limit=${LOADED}`), REFRESH_S, zone.id);
  const [query, setQuery] = useState("");
  const [notice, setNotice] = useState(null);
  const [dialog, ask] = useConfirm();
  const run = async (work) => {
    await act(setNotice, work);
    state.refresh();
  };
  const warm = (url) => run(async () => (await zone.send("enqueue", { urls: [url] }), `${url} is in the queue.`));
  const remove = (url) => ask({ title: "Purge this page?", text: url, action: "Purge", run: () => run(() => purge(zone, { urls: [url] })) });
  const actions = ({ url }) =>
    html`<div class="row">
      <${Button} onClick=${() => warm(url)} aria-label="Warm ${url}">Warm<//><${Button} kind="danger" onClick=${() => remove(url)} aria-label="Purge ${url}">Purge<//>
      <a class="button" href=${url} target="_blank" rel="noopener noreferrer" aria-label="Open ${url}">Open</a><${Button} onClick=${() => go(`rules?${url}`)} aria-label="Why? ${url}">Why?<//>
    </div>`;
  const columns = [
    ["Page", ({ url, variant }) => (variant ? `${url} (${variant})` : url), "wrap"],
    ["State", (row) => (isFresh(row) ? html`<${Badge} kind="good">fresh<//>` : html`<${Badge} kind="warn">stale<//>`)],
    ["Fresh for", (row) => (isFresh(row) ? formatDuration(row.fresh_until - Date.now() / 1000) : "")],
    ["Size", ({ size_bytes: size }) => formatBytes(size), "number"],
    ["Stored", ({ stored_at: at }) => html`<${Ago} time=${at * 1000} />`],
    ["", actions],
  ];
  return html`<${Card} title="Stored copies">
    ${notice && html`<${Banner} kind=${notice.kind}>${notice.text}<//>`}${dialog}
    <${Loaded} state=${state}>
      ${({ pages }) => {
        if (!pages.length) return html`<${Empty} title="No copy is stored yet">Warm pages under Batches. Copies appear here as they come.<//>`;
        const wanted = query.trim().toLowerCase();
        const matches = wanted ? pages.filter(({ url }) => url.toLowerCase().includes(wanted)) : pages;
        const fresh = pages.filter(isFresh).length;
        return html`<${Figures} figures=${[["Copies", pages.length === LOADED ? `${formatNumber(LOADED)} or more` : pages.length], ["Fresh", fresh], ["Stale", pages.length - fresh], ["Size", formatBytes(pages.reduce((sum, { size_bytes: size }) => sum + size, 0))]]} />
          <${SearchField} label="Search the pages" placeholder="Search the pages" value=${query} onInput=${setQuery} />
          <p class="hint" role="status">${countOf(matches.length, "page")}${matches.length > SHOWN ? `, the latest ${SHOWN} shown` : ""}</p>
          <${Table} caption="Stored copies" columns=${columns} rows=${matches.slice(0, SHOWN)} keyOf=${({ url, variant }) => `${url} ${variant}`} />`;
      }}
    <//>
    <details class="more">
      <summary>Where the copies are</summary>
      <p class="hint">R2 has one copy for the whole world. Each data centre has an edge cache of its own, filled from R2 by the first visitor there; what is in it cannot be listed.</p>
    </details>
  <//>`;
}
