// The state of a zone: warnings, the queue, the speed and the failure rate.
import { getJson, sendJson } from "./api.js";
import { barChart, stepChart } from "./charts.js";
import { badge, banner, empty, figures, fill, h, table } from "./dom.js";
import { countByTime, FAILED, OUTCOMES } from "./preload-log.js";
import { formatClock, formatTime, formatDuration } from "./times.js";
import { watch } from "./watching.js";

const REFRESH_S = 3;
const LOG_REFRESH_S = 10;
const LOG_ROWS = 1000;
const SHOWN_ROWS = 12;
const MAX_FAILURE_RATE = 0.1;
const MAX_DEPTH = 5000;
const number = (value) => value.toLocaleString("en");
const percent = (rate) => `${(rate * 100).toLocaleString("en", { maximumFractionDigits: 1 })} %`;

export function overviewPanel(zone) {
  const now = h("div", { class: "panel" }, empty("Loading …"));
  const charts = h("div", { class: "panel" }, empty("Loading …"));
  const notice = h("div", { role: "status" });
  const panel = h("div", { class: "panel" }, h("div", {}, notice, now), h("div", {}, charts));
  const state = watch(REFRESH_S, panel, now, fetchState, draw);
  const history = watch(LOG_REFRESH_S, panel, charts, fetchHistory, drawHistory);

  async function fetchState() {
    const [status, queue] = await Promise.all([getJson(zone("status")), getJson(zone("queue"))]);
    // Not shown here, and different each time.
    return { status: { ...status, batches: [] }, queue };
  }

  async function fetchHistory() {
    const [{ log }, { alerts }] = await Promise.all([getJson(zone(`log?limit=${LOG_ROWS}`)), getJson(zone("alerts?limit=20"))]);
    return { log, alerts };
  }

  async function control(action) {
    try {
      await sendJson(zone(action));
      fill(notice);
    } catch (error) {
      fill(notice, banner(error.message));
    }
    await state.update();
  }

  function draw({ status, queue }) {
    return [
      h("div", { class: "panel" }, warnings(status)),
      h(
        "section",
        { class: "card" },
        h(
          "header",
          {},
          h("h2", {}, "Now"),
          h("div", { class: "row" }, badge(...describeState(status)), status.paused ? h("button", { type: "button", class: "primary", onclick: () => control("resume") }, "Resume") : h("button", { type: "button", onclick: () => control("pause") }, "Pause")),
        ),
        figures(toFigures(status)),
        h("p", { class: "hint" }, `Limits: ${status.limits.concurrency} concurrent requests, ${number(status.limits.per_second)} per second, ${number(status.limits.per_minute)} per minute.`),
      ),
      h("section", { class: "card" }, h("h2", {}, "Queue by priority"), queueView(queue)),
    ];
  }

  const refresh = () => {
    state.refresh();
    history.refresh();
  };
  const stop = () => {
    state.stop();
    history.stop();
  };
  return { panel, refresh, stop };
}

function warnings({ enabled, paused, breaker, last_5_minutes: recent, queue_depth: depth, alerts }) {
  const failing = recent.failure_rate > MAX_FAILURE_RATE && alerts.includes("failure_rate");
  const until = breaker.open_until ? ` until ${formatClock(breaker.open_until * 1000)}` : "";
  return [
    breaker.state !== "closed" && banner(breaker.state === "open" ? `The circuit breaker is open: the origin failed ${breaker.consecutive_failures} times in a row, so preloading waits${until} and then tries one page.` : "The circuit breaker is half open: one page is being tried. If it succeeds, preloading continues.", "bad"),
    failing && banner(`${percent(recent.failure_rate)} of fetches failed in the last 5 minutes: ${recent.failures} of ${recent.attempts}.`, "warn"),
    (depth > MAX_DEPTH || alerts.includes("queue_depth")) && banner(`${number(depth)} pages are waiting, more than ${number(MAX_DEPTH)}. Raise the limits under Settings, or cancel a batch.`, "warn"),
    !enabled && banner("Preloading is switched off for this zone. To switch it on, set preload_enabled under Settings.", "warn"),
    paused && banner("Paused: pages are added to the queue, but none is fetched. Press Resume to continue.", "warn"),
  ];
}

function describeState({ enabled, paused, breaker, queue_depth: depth }) {
  if (!enabled) return ["switched off", "warn"];
  if (paused) return ["paused", "warn"];
  if (breaker.state !== "closed") return ["origin failing", "bad"];
  return depth ? ["working", "good"] : ["idle", ""];
}

const toFigures = ({ queue_depth, in_flight, dead_letters, last_5_minutes: recent, breaker }) => ({
  Waiting: number(queue_depth),
  "In progress": in_flight,
  Failed: number(dead_letters),
  "Fetches, 5 min": number(recent.attempts),
  "Failure rate": percent(recent.failure_rate),
  "Mean latency": recent.mean_latency_ms === null ? "–" : `${number(Math.round(recent.mean_latency_ms))} ms`,
  Breaker: breaker.state,
});

function queueView({ by_priority: bands, next }) {
  const maximum = Math.max(...bands.map(({ waiting }) => waiting));
  if (!maximum) return empty("The queue is empty.");
  return [
    table(
      "Queue by priority",
      [
        ["Priority", ({ from, to }) => (to === null ? `${from} or more` : from === null ? `below ${to}` : `${from} to ${to - 1}`)],
        ["Pages", ({ waiting }) => number(waiting), "number"],
        ["Share", ({ waiting, from }) => h("progress", { max: maximum, value: waiting, "aria-label": `Pages of priority ${from ?? 0} and more` }), "bar"],
      ],
      bands,
    ),
    next.length > 0 && h("details", {}, h("summary", {}, `The next ${next.length}`), table(
      "The next pages",
      [
        ["Page", ({ url }) => url, "wrap"],
        ["Priority", ({ priority }) => number(priority), "number"],
        ["Trigger", ({ trigger }) => trigger],
        ["Attempts", ({ attempt }) => attempt, "number"],
      ],
      next,
    )),
  ];
}

const drawHistory = ({ log, alerts }) => {
  const { step_s, bars, rates } = countByTime(log);
  return [
    h(
      "div",
      { class: "columns" },
      h("section", { class: "card" }, h("h2", {}, "Throughput"), log.length ? h("p", { class: "hint" }, `Fetches in each ${formatDuration(step_s)}, of the last ${number(log.length)}`) : "", barChart("Fetches", bars, OUTCOMES)),
      h("section", { class: "card" }, h("h2", {}, "Failures"), log.length ? h("p", { class: "hint" }, `Share of fetches that failed, in each ${formatDuration(step_s)}`) : "", stepChart("Failure rate", rates, percent, MAX_FAILURE_RATE)),
    ),
    h("section", { class: "card" }, h("h2", {}, "Latest fetches"), log.length ? logTable(log.slice(0, SHOWN_ROWS)) : empty("No page has been fetched yet.")),
    h("section", { class: "card" }, h("h2", {}, "Alerts"), alerts.length ? alertTable(alerts) : empty("No alert in the last 90 days.")),
  ];
};

const logTable = (rows) =>
  table(
    "Latest fetches",
    [
      ["Page", ({ url }) => url, "wrap"],
      ["Outcome", ({ status }) => badge(status, FAILED.has(status) ? "bad" : status === "warmed" || status === "unchanged" ? "good" : "")],
      ["Status", ({ http_status: status }) => status ?? "", "number"],
      ["ms", ({ latency_ms: latency }) => (latency === null ? "" : number(latency)), "number"],
      ["Trigger", ({ trigger_name: trigger }) => trigger ?? ""],
      ["When", ({ created_at: at }) => formatClock(Date.parse(at))],
      ["Detail", ({ detail }) => detail ?? "", "wrap"],
    ],
    rows,
  );

const alertTable = (alerts) =>
  table(
    "Alerts",
    [
      ["Alert", ({ kind }) => kind.replaceAll("_", " ")],
      ["Level", ({ level }) => badge(level, level === "critical" ? "bad" : "warn")],
      ["State", ({ resolved_at: at }) => (at === null ? badge("open", "bad") : badge("resolved", "good"))],
      ["Raised", ({ raised_at: at }) => formatTime(at * 1000)],
      ["Resolved", ({ resolved_at: at }) => (at === null ? "" : formatTime(at * 1000))],
      ["Message", ({ message }) => message, "wrap"],
    ],
    alerts,
  );
