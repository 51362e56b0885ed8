// For the operator: the backlog, the failed articles with their reasons, and the last runs.
import { getJson } from "./api.js";
import { badge, banner, empty, figures, h, table } from "./dom.js";
import { formatTime, formatDuration } from "./times.js";
import { watch } from "./watching.js";

const REFRESH_S = 10;
const number = (value) => value.toLocaleString("en");

export function processingPanel() {
  const place = h("div", { class: "panel" }, empty("Loading …"));
  const panel = h("div", { class: "panel" }, h("div", {}, place));
  const state = watch(REFRESH_S, panel, place, () => getJson("/status"), draw);
  return { panel, refresh: state.refresh };
}

const draw = ({ status, problem, backlog, oldestPendingAgeSeconds: oldest_s, current, processed, tryLater, lastRun }) => [
  problem && banner(problem),
  h(
    "section",
    { class: "card" },
    h("header", {}, h("h2", {}, "Processing"), badge(status, status === "ok" ? "good" : "bad")),
    figures({ Backlog: number(backlog), "Oldest waiting": oldest_s === null ? "–" : formatDuration(oldest_s), Processed: number(processed), "To retry": number(tryLater.length), "In progress": current ? current.stage : "–" }),
    h(
      "ul",
      { class: "plain" },
      h("li", {}, "Updater, every hour: ", lastRun.updater ? `last ran ${formatTime(lastRun.updater)}` : "has not run yet"),
      h("li", {}, "Processor, every minute: ", lastRun.processor ? `last ran ${formatTime(lastRun.processor)}` : "has not run yet"),
      current && h("li", {}, "In progress: ", h("code", {}, current.id), `, stage ${current.stage}`),
    ),
    lastRun.failedSources.length ? banner(`These sources failed in the last update: ${lastRun.failedSources.join(", ")}. They are tried again at the next update.`, "warn") : null,
  ),
  h("section", { class: "card" }, h("h2", {}, "Articles to retry"), tryLater.length ? retryTable(tryLater) : empty("No article has failed.")),
];

const retryTable = (articles) =>
  table(
    "Articles to retry",
    [
      ["Article", ({ title, id }) => [title, h("br"), h("code", { class: "hint" }, id)], "wrap"],
      ["Reason", ({ reason }) => reason, "wrap"],
      ["Attempts", ({ attempts }) => (typeof attempts === "number" ? attempts : JSON.stringify(attempts)), "wrap"],
      ["Failed", ({ failedAt }) => (failedAt ? formatTime(failedAt) : "")],
    ],
    articles,
  );
