// Workflows: start one, follow its events, see the metrics.
import { repeat, getJson, sendJson } from "./api.js";
import { badge, banner, empty, fill, h, table } from "./dom.js";

const TYPES = { compile: "compilation", batch: "batch-compilation", "cache-warm": "cache-warming", "health-check": "health-monitoring" };
const TITLES = { compilation: "Compilation", batchCompilation: "Batches", cacheWarming: "Cache warming", healthMonitoring: "Health checks" };
const REFRESH_S = 2;

export function workflowsPanel(readRequest) {
  const notice = h("div", { role: "status" });
  const runs = h("div", { class: "field" });
  const figures = h("section", { class: "card" }, h("h2", {}, "The last 30 days"), empty("Loading …"));
  const following = [];
  let stop;

  async function start(kind, body) {
    try {
      const { workflowId } = await sendJson(`/workflow/${kind}`, body());
      fill(notice);
      following.unshift(run(workflowId, TYPES[kind]));
      fill(runs, following.map(({ card }) => card));
      await updateAll();
    } catch (error) {
      fill(notice, banner(error.message));
    }
  }

  async function updateAll() {
    await Promise.all(following.filter(({ isOver }) => !isOver()).map(({ update }) => update()));
    try {
      const { workflows } = await getJson("/workflow/metrics");
      const rows = Object.entries(workflows).filter(([, metrics]) => metrics);
      fill(figures, h("h2", {}, "The last 30 days"), rows.length ? metricsTable(rows) : empty("No workflow has run yet."));
    } catch (error) {
      fill(figures, h("h2", {}, "The last 30 days"), banner(error.message));
    }
  }

  const button = (title, kind, body) => h("button", { type: "button", onclick: () => start(kind, body) }, title);
  const panel = h(
    "div",
    { class: "panel" },
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Start a workflow"),
      h("p", { class: "hint" }, "After a crash, a workflow continues from its last finished step."),
      h("div", { class: "row" }, button("Compile the form's list", "compile", readRequest), button("Warm the popular lists", "cache-warm", () => ({})), button("Check the sources", "health-check", () => ({}))),
      notice,
    ),
    runs,
    figures,
  );
  const refresh = () => {
    stop?.();
    stop = repeat(REFRESH_S, () => (panel.hidden ? undefined : updateAll()));
  };
  return { panel, refresh };
}

function run(id, type) {
  const bar = h("progress", { max: 100, value: 0, "aria-label": `Progress of ${id}` });
  const state = h("span", {}, badge("started"));
  const log = h("ol", { class: "steps", "aria-label": "Events" });
  const count = h("summary", {}, "Events");
  const card = h("section", { class: "card" }, h("header", {}, h("h3", { class: "mono" }, id), state), bar, h("details", { open: true }, count, log));
  let since;
  let over = false;
  let asking = false;

  async function update() {
    if (asking) return;
    asking = true;
    try {
      const page = await getJson(`/workflow/events/${id}${since ? `?since=${encodeURIComponent(since)}` : ""}`);
      since = page.events.at(-1)?.timestamp ?? since;
      bar.value = page.progress;
      log.append(...page.events.map(line));
      fill(count, `${log.childElementCount} events`);
      if (!page.isComplete) return;
      over = true;
      const { output } = await getJson(`/workflow/status/${type}/${id}`);
      fill(state, output?.success === false ? badge("failed", "bad") : badge("done", "good"));
      if (output?.error) card.append(banner(output.error));
    } catch (error) {
      fill(state, badge(error.message, "bad"));
    } finally {
      asking = false;
    }
  }
  return { card, update, isOver: () => over };
}

const line = ({ type, step, message, data, timestamp }) =>
  h("li", {}, h("span", { class: "name" }, type), h("span", { class: "hint" }, [message ?? step, data?.name ?? data?.source].filter(Boolean).join(": ")), h("span", { class: "hint" }, new Date(timestamp).toLocaleTimeString("en")));

const metricsTable = (rows) =>
  table(
    "Workflow metrics",
    [
      ["Workflow", ([name]) => TITLES[name] ?? name],
      ["Runs", ([, metrics]) => metrics.totalRuns, "number"],
      ["Completed", ([, metrics]) => metrics.completed, "number"],
      ["Failed", ([, metrics]) => metrics.failed, "number"],
      ["Average ms", ([, metrics]) => metrics.avgDurationMs?.toLocaleString("en") ?? "", "number"],
      ["Last", ([, metrics]) => new Date(metrics.lastRunAt).toLocaleString("en")],
    ],
    rows,
  );
