// How warm is the site? What is failing, since when, and what happens next.
import { countOf, formatNumber, html, useEffect, useState } from "../ui/draw.js";
import { BarChart, LineChart } from "../ui/charts.js";
import { Button, Segments } from "../ui/controls.js";
import { Badge, Banner, Empty, Figures, Loaded } from "../ui/feedback.js";
import { Card, Table } from "../ui/layout.js";
import { usePolling, useStored } from "../ui/state.js";
import { Ago, formatDuration } from "../ui/times.js";
import { formatBytes } from "./bytes.js";
import { FAILED, OUTCOMES, WINDOWS, countByTime } from "./fetch-log.js";
import { PurgeCard } from "./purge.js";
import { act } from "./zone-api.js";

const REFRESH_S = 5;
const LOG_ROWS = 1000;
const SHOWN_ROWS = 12;
const MAX_FAILURE_RATE = 0.1;
const MAX_DEPTH = 5000;
const percent = (rate) => (rate == null ? "–" : `${(rate * 100).toLocaleString("en", { maximumFractionDigits: 1 })} %`);
const milliseconds = (value) => (value == null ? "–" : `${formatNumber(Math.round(value))} ms`);

export function Overview({ zone }) {
  const status = usePolling(() => zone.get("status"), REFRESH_S, zone.id);
  const history = usePolling(async () => ({ ...(await zone.get(`log?limit=${LOG_ROWS}`)), ...(await zone.get("alerts?limit=20")), ...(await zone.get("failed?limit=20")) }), REFRESH_S * 2, zone.id);
  return html`<${Loaded} state=${status}>
      ${(now) =>
        html`<${Warnings} status=${now} /><${Warmth} zone=${zone} /><${Failing} failed=${history.data?.failed ?? []} />
          <div class="columns"><${Work} zone=${zone} status=${now} refresh=${status.refresh} /><${Queue} zone=${zone} /></div>`}
    <//>
    <${Loaded} state=${history}>${(past) => html`<${History} log=${past.log} /><${PurgeCard} zone=${zone} /><${Alerts} alerts=${past.alerts} />`}<//>`;
}

function Warnings({ status: { enabled, paused, agent, breaker, last_5_minutes: recent, queue_depth: depth, alerts } }) {
  const texts = [
    agent.away_since && ["bad", html`The site's agent is away since <${Ago} time=${agent.away_since * 1000} />: ${agent.reason}.`],
    alerts.includes("redirect_circle") && ["bad", "A page of the site redirects to itself, so nobody can see it: the alerts below name it, and the way out."],
    breaker.state === "open" && ["bad", html`The circuit breaker is open: ${countOf(breaker.consecutive_failures, "request")} to the origin failed in a row. The next try is ${breaker.open_until ? html`<${Ago} time=${breaker.open_until * 1000} />` : "soon"}.`],
    breaker.state === "half-open" && ["warn", "The circuit breaker is half open: one page is being tried. If it succeeds, preloading continues."],
    alerts.includes("warming_loop") && ["bad", "Warming does not reach the origin: its requests come back to this Worker. Set origin_url under Settings to a host name of the origin that has no route to it."],
    recent.failure_rate > MAX_FAILURE_RATE && alerts.includes("failure_rate") && ["warn", `${percent(recent.failure_rate)} of the fetches in the last 5 minutes failed: ${recent.failures} of ${recent.attempts}.`],
    (depth > MAX_DEPTH || alerts.includes("queue_depth")) && ["warn", `${formatNumber(depth)} pages are waiting. Raise the limits under Settings, or cancel a batch.`],
    !enabled && ["warn", "Preloading is switched off for this zone. Switch it on under Settings (preload_enabled)."],
    paused && ["warn", "Paused: pages are added to the queue, but none is fetched. Press Resume to continue."],
  ].filter(Boolean);
  return texts.map(([kind, text]) => html`<${Banner} kind=${kind}>${text}<//>`);
}

// What visitors get, and what the origin is spared.
function Warmth({ zone }) {
  const state = usePolling(async () => ({ ...(await zone.get("traffic")), next: await findNextRefresh(zone) }), REFRESH_S * 2, zone.id);
  return html`<${Card} title="How warm is the site?">
    <${Loaded} state=${state}>
      ${({ coverage, hit_ratio: ratio, layers, origin_requests_saved: saved, bytes_saved: bytes, keep_warm: limits, next }) =>
        html`<${Figures}
            figures=${[
              ["Warm pages", `${formatNumber(coverage.warm)} of ${formatNumber(coverage.pages)}`, coverage.pages ? `${formatNumber(coverage.stale)} stale, ${formatNumber(coverage.cold)} cold` : "no page is known yet"],
              ["Hit ratio", percent(ratio), ratio === null ? "no visitor in 24 h" : "of visits in 24 h"],
              ["First byte, warm", milliseconds(layers.edge?.mean_ttfb_ms ?? layers.r2?.mean_ttfb_ms)],
              ["First byte, cold", milliseconds(layers.origin?.mean_ttfb_ms)],
              ["Origin spared", formatNumber(saved), `${saved === 1 ? "request" : "requests"}, ${formatBytes(bytes)}`],
              ["Next refresh", next ? html`<${Ago} time=${next * 1000} />` : "–"],
            ]}
          />
          ${coverage.pages > 0 ? html`<div class="meter" role="img" aria-label="Warm ${coverage.warm}, stale ${coverage.stale}, cold ${coverage.cold}"><${Share} kind="good" value=${coverage.warm} /><${Share} kind="warn" value=${coverage.stale} /><${Share} kind="cold" value=${coverage.cold} /></div>` : html`<${FirstPages} />`}
          <p class="hint">
            The limits of this zone can keep about ${countOf(limits.capacity, "page")} warm.${!limits.is_enough && html` That is not enough for all: <a href="#settings">raise them</a>.`}
          </p>`}
    <//>
  <//>`;
}

const FirstPages = () => html`<${Banner} kind="">No page is known yet. <a href="#batches">Warm some pages or crawl the sitemap</a>, then <a href="#guide">put the Worker in front of the site</a>.<//>`;

// The schedule refreshes a page before it expires.
async function findNextRefresh(zone) {
  const { pages } = await zone.get("pages?limit=1000");
  const times = pages.map(({ fresh_until: until }) => until).filter((until) => until > Date.now() / 1000);
  return times.length ? Math.min(...times) : null;
}

const Share = ({ kind, value }) => value > 0 && html`<span class=${kind} style=${{ flexGrow: value }}></span>`;

function Work({ zone, status, refresh }) {
  const [notice, setNotice] = useState(null);
  const control = async (action, text) => {
    await act(setNotice, async () => (await zone.send(action), text));
    refresh();
  };
  const { last_5_minutes: recent, limits, origin_check: check } = status;
  // A zone whose configuration is new is tried once, without being asked; one that is paused is left alone.
  const isUntried = check === null && !status.paused;
  useEffect(() => {
    if (isUntried) control("origin/check");
  }, [isUntried]);
  const toggle = status.paused
    ? html`<${Button} icon="play" kind="primary" onClick=${() => control("resume", "Preloading continues.")}>Resume<//>`
    : html`<${Button} icon="stop" onClick=${() => control("pause", "Paused.")}>Pause<//>`;
  return html`<${Card} title="Work" actions=${html`<${State} status=${status} />${toggle}`}>
    ${notice?.kind === "bad" && html`<${Banner}>${notice.text}<//>`}
    <${Figures}
      figures=${[
        ["Waiting", formatNumber(status.queue_depth)],
        ["In progress", status.in_flight],
        ["Failed", formatNumber(status.dead_letters)],
        ["Fetches, 5 min", formatNumber(recent.attempts)],
        ["Failure rate", percent(recent.failure_rate)],
        ["Mean answer", milliseconds(recent.mean_latency_ms)],
      ]}
    />
    <p class="hint">Limits: ${limits.concurrency} requests at once, ${formatNumber(limits.per_second)} per second, ${formatNumber(limits.per_minute)} per minute.</p>
    <p class="hint">
      ${describeCheck(check)} <button type="button" class="link" disabled=${check?.state === "pending"} onClick=${() => control("origin/check")}>Try warming</button>
    </p>
  <//>`;
}

function describeCheck(check) {
  if (!check) return "Warming has not been tried.";
  if (check.state === "pending") return "Warming is being tried …";
  const when = html`<${Ago} time=${check.at * 1000} />`;
  if (check.state === "reached") return html`Warming reaches the origin: it answered ${check.status}, ${when}.`;
  return html`Warming does not reach the origin, ${when}: ${check.detail}.`;
}

function State({ status: { enabled, paused, breaker, queue_depth: depth } }) {
  if (!enabled) return html`<${Badge} kind="warn">switched off<//>`;
  if (paused) return html`<${Badge} kind="warn">paused<//>`;
  if (breaker.state !== "closed") return html`<${Badge} kind="bad">origin failing<//>`;
  return depth ? html`<${Badge} kind="good">working<//>` : html`<${Badge}>idle<//>`;
}

const describeBand = ({ from, to }) => (to === null ? `${from} or more` : from === null ? `below ${to}` : `${from} to ${to - 1}`);

function Queue({ zone }) {
  const state = usePolling(() => zone.get("queue"), REFRESH_S, zone.id);
  return html`<${Card} title="Queue by priority">
    <${Loaded} state=${state}>
      ${({ by_priority: bands, next }) => {
        const highest = Math.max(...bands.map(({ waiting }) => waiting));
        if (!highest) return html`<${Empty}>The queue is empty.<//>`;
        return html`<${Table}
            caption="Queue by priority"
            columns=${[
              ["Priority", describeBand],
              ["Pages", ({ waiting }) => formatNumber(waiting), "number"],
              ["Share", (band) => html`<progress max=${highest} value=${band.waiting} aria-label="Pages of priority ${describeBand(band)}"></progress>`, "bar"],
            ]}
            rows=${bands}
          />
          ${next.length > 0 && html`<details class="more"><summary>The next ${next.length}</summary><${Table} caption="The next pages" columns=${NEXT_COLUMNS} rows=${next} /></details>`}`;
      }}
    <//>
  <//>`;
}

const NEXT_COLUMNS = [
  ["Page", ({ url }) => url, "wrap"],
  ["Priority", ({ priority }) => formatNumber(priority), "number"],
  ["Trigger", ({ trigger }) => trigger],
  ["Attempts", ({ attempt }) => attempt, "number"],
];

const Failing = ({ failed }) =>
  failed.length > 0 &&
  html`<${Card} title="Failing pages">
    <${Table}
      caption="Failing pages"
      columns=${[["Page", ({ url }) => url, "wrap"], ["Reason", ({ reason }) => reason, "wrap"], ["Fails since", ({ fails_since: since, failed_at: at }) => html`<${Ago} time=${(since ?? at) * 1000} />`]]}
      rows=${failed.slice(0, SHOWN_ROWS)}
    />
    <p class="hint"><a href="#failed">Replay or delete them</a></p>
  <//>`;

function History({ log }) {
  const [chosen, setChosen] = useStored("sluice-window", "1h");
  if (!log.length) return html`<${Card} title="Fetches"><${Empty} title="No page has been fetched yet">Warm some under Batches, or send a purge.<//><//>`;
  const { step_s, bars, rates, from, to, isPartial } = countByTime(log, chosen, log.length === LOG_ROWS);
  return html`<div class="row between">
      <h2>Fetches</h2>
      <${Segments} label="Time window" value=${chosen} options=${WINDOWS} onChange=${setChosen} />
    </div>
    ${isPartial && html`<p class="hint">The charts show the latest ${formatNumber(LOG_ROWS)} fetches. What came before, in the empty part, is not loaded.</p>`}
    <div class="columns">
      <${Card} title="Throughput"><${BarChart} title="Fetches in each ${formatDuration(step_s)}" bars=${bars} kinds=${OUTCOMES} /><//>
      <${Card} title="Failures"><${LineChart} title="Failed fetches in each ${formatDuration(step_s)}" unit="%" from=${from} to=${to} points=${rates.map(({ at, value }) => ({ at, value: value === null ? null : Math.round(value * 1000) / 10 }))} limit=${MAX_FAILURE_RATE * 100} /><//>
    </div>
    <${Card} title="Latest fetches"><${Table} caption="Latest fetches" columns=${LOG_COLUMNS} rows=${log.slice(0, SHOWN_ROWS)} /><//>`;
}

const LOG_COLUMNS = [
  ["Page", ({ url }) => url, "wrap"],
  ["Outcome", ({ status }) => html`<${Badge} kind=${FAILED.has(status) ? "bad" : status === "warmed" || status === "unchanged" ? "good" : ""}>${status.replaceAll("_", " ")}<//>`],
  ["Status", ({ http_status: status }) => status ?? "", "number"],
  ["Answer", ({ latency_ms: latency }) => (latency === null ? "" : milliseconds(latency)), "number"],
  ["Trigger", ({ trigger_name: trigger }) => trigger ?? ""],
  ["When", ({ created_at: at }) => html`<${Ago} time=${at} />`],
  ["Detail", ({ detail }) => detail ?? "", "wrap"],
];

const Alerts = ({ alerts }) =>
  html`<${Card} title="Alerts">
    ${alerts.length
      ? html`<${Table}
          caption="Alerts"
          columns=${[
            ["Alert", ({ kind }) => kind.replaceAll("_", " ")],
            ["Level", ({ level }) => html`<${Badge} kind=${level === "critical" ? "bad" : "warn"}>${level}<//>`],
            ["State", ({ resolved_at: at }) => (at === null ? html`<${Badge} kind="bad">open<//>` : html`<${Badge} kind="good">resolved<//>`)],
            ["Raised", ({ raised_at: at }) => html`<${Ago} time=${at * 1000} />`],
            ["Resolved", ({ resolved_at: at }) => (at === null ? "" : html`<${Ago} time=${at * 1000} />`)],
            ["Message", ({ message }) => message, "wrap"],
          ]}
          rows=${alerts}
        />`
      : html`<${Empty}>No alert in the last 90 days.<//>`}
  <//>`;
