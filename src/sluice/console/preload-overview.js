// How a zone stands: what is wrong, what waits, how fast and how well pages are fetched.
import { getJson, sendJson } from "./api.js";
import { stacked, steps } from "./charts.js";
import { badge, banner, empty, figures, fill, h, table } from "./dom.js";
import { bucketed, FAILED, OUTCOMES } from "./preload-log.js";
import { clock, moment, span } from "./times.js";
import { watched } from "./watching.js";

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
  const said = h("div", { role: "status" });
  const panel = h("div", { class: "panel" }, h("div", {}, said, now), h("div", {}, charts));
  const state = watched(REFRESH_S, panel, now, ask, draw);
  const history = watched(LOG_REFRESH_S, panel, charts, askHistory, drawHistory);

  async function ask() {
    const [status, queue] = await Promise.all([getJson(zone("status")), getJson(zone("queue"))]);
    // Not looked at here, and different each time.
    return { status: { ...status, batches: [] }, queue };
  }

  async function askHistory() {
    const [{ log }, { alerts }] = await Promise.all([getJson(zone(`log?limit=${LOG_ROWS}`)), getJson(zone("alerts?limit=20"))]);
    return { log, alerts };
  }

  async function steer(how) {
    try {
      await sendJson(zone(how));
      fill(said);
    } catch (error) {
      fill(said, banner(error.message));
    }
    await state.look();
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
          h("div", { class: "row" }, badge(...standing(status)), status.paused ? h("button", { type: "button", class: "primary", onclick: () => steer("resume") }, "Resume") : h("button", { type: "button", onclick: () => steer("pause") }, "Pause")),
        ),
        figures(numbers(status)),
        h("p", { class: "hint" }, `At most ${status.limits.concurrency} at once, ${number(status.limits.per_second)} in a second, ${number(status.limits.per_minute)} in a minute.`),
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
  const until = breaker.open_until ? ` until ${clock(breaker.open_until * 1000)}` : "";
  return [
    breaker.state !== "closed" && banner(breaker.state === "open" ? `The circuit breaker is open: the origin failed ${breaker.consecutive_failures} times in a row, so preload waits${until} and then tries one page.` : "The circuit breaker is half open: one page is tried; if it comes, all go on.", "bad"),
    failing && banner(`${percent(recent.failure_rate)} of fetches failed in the last 5 minutes: ${recent.failures} of ${recent.attempts}.`, "warn"),
    (depth > MAX_DEPTH || alerts.includes("queue_depth")) && banner(`${number(depth)} pages are waiting, more than ${number(MAX_DEPTH)}.`, "warn"),
    !enabled && banner("Preload is switched off for this zone: preload_enabled is false. See Settings.", "warn"),
    paused && banner("Paused: pages are taken into the queue, but none is fetched.", "warn"),
  ];
}

function standing({ enabled, paused, breaker, queue_depth: depth }) {
  if (!enabled) return ["switched off", "warn"];
  if (paused) return ["paused", "warn"];
  if (breaker.state !== "closed") return ["origin fails", "bad"];
  return depth ? ["working", "good"] : ["idle", ""];
}

const numbers = ({ queue_depth, in_flight, dead_letters, last_5_minutes: recent, breaker }) => ({
  Waiting: number(queue_depth),
  "In flight": in_flight,
  Failed: number(dead_letters),
  "Fetches, 5 min": number(recent.attempts),
  "Failure rate": percent(recent.failure_rate),
  "Mean latency": recent.mean_latency_ms === null ? "–" : `${number(Math.round(recent.mean_latency_ms))} ms`,
  Breaker: breaker.state,
});

function queueView({ by_priority: bands, next }) {
  const most = Math.max(...bands.map(({ waiting }) => waiting));
  if (!most) return empty("The queue is empty.");
  return [
    table(
      "Queue by priority",
      [
        ["Priority", ({ from, to }) => (to === null ? `${from} and more` : from === null ? `below ${to}` : `${from} to ${to - 1}`)],
        ["Pages", ({ waiting }) => number(waiting), "number"],
        ["Share", ({ waiting, from }) => h("progress", { max: most, value: waiting, "aria-label": `Pages of priority ${from ?? 0} and more` }), "bar"],
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
  const { step_s, bars, rates } = bucketed(log);
  return [
    h(
      "div",
      { class: "columns" },
      h("section", { class: "card" }, h("h2", {}, "Throughput"), log.length ? h("p", { class: "hint" }, `Fetches in each ${span(step_s)}, of the last ${number(log.length)}`) : "", stacked("Fetches", bars, OUTCOMES)),
      h("section", { class: "card" }, h("h2", {}, "Failures"), log.length ? h("p", { class: "hint" }, `Share of fetches that failed, in each ${span(step_s)}`) : "", steps("Failure rate", rates, percent, MAX_FAILURE_RATE)),
    ),
    h("section", { class: "card" }, h("h2", {}, "Latest fetches"), log.length ? logTable(log.slice(0, SHOWN_ROWS)) : empty("No page was fetched yet.")),
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
      ["When", ({ created_at: at }) => clock(Date.parse(at))],
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
      ["State", ({ resolved_at: at }) => (at === null ? badge("open", "bad") : badge("over", "good"))],
      ["Raised", ({ raised_at: at }) => moment(at * 1000)],
      ["Over", ({ resolved_at: at }) => (at === null ? "" : moment(at * 1000))],
      ["Message", ({ message }) => message, "wrap"],
    ],
    alerts,
  );
