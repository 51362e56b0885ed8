// For the operator: what waits, what is tried later and why, when somebody last worked.
import { getJson } from "./api.js";
import { badge, banner, empty, figures, h, table } from "./dom.js";
import { moment, span } from "./times.js";
import { watched } from "./watching.js";

const REFRESH_S = 10;
const number = (value) => value.toLocaleString("en");

export function pipelinePanel() {
  const place = h("div", { class: "panel" }, empty("Loading …"));
  const panel = h("div", { class: "panel" }, h("div", {}, place));
  const state = watched(REFRESH_S, panel, place, () => getJson("/status"), draw);
  return { panel, refresh: state.refresh };
}

const draw = ({ status, problem, backlog, oldestPendingAgeSeconds: oldest_s, current, processed, tryLater, lastRun }) => [
  problem && banner(problem),
  h(
    "section",
    { class: "card" },
    h("header", {}, h("h2", {}, "Pipeline"), badge(status, status === "ok" ? "good" : "bad")),
    figures({ Backlog: number(backlog), "Oldest waits": oldest_s === null ? "–" : span(oldest_s), Processed: number(processed), "Try later": number(tryLater.length), "In work": current ? current.stage : "–" }),
    h(
      "ul",
      { class: "plain" },
      h("li", {}, "Updater, every hour: ", lastRun.updater ? `last ran ${moment(lastRun.updater)}` : "has not run yet"),
      h("li", {}, "Processor, every minute: ", lastRun.processor ? `last ran ${moment(lastRun.processor)}` : "has not run yet"),
      current && h("li", {}, "In work: ", h("code", {}, current.id), `, stage ${current.stage}`),
    ),
    lastRun.failedSources.length ? banner(`In the last update these sources failed: ${lastRun.failedSources.join(", ")}.`, "warn") : null,
  ),
  h("section", { class: "card" }, h("h2", {}, "Try later"), tryLater.length ? laterTable(tryLater) : empty("Nothing: no article has failed.")),
];

const laterTable = (articles) =>
  table(
    "Articles to try later",
    [
      ["Article", ({ title, id }) => [title, h("br"), h("code", { class: "hint" }, id)], "wrap"],
      ["Reason", ({ reason }) => reason, "wrap"],
      ["Attempts", ({ attempts }) => (typeof attempts === "number" ? attempts : JSON.stringify(attempts)), "wrap"],
      ["Failed", ({ failedAt }) => (failedAt ? moment(failedAt) : "")],
    ],
    articles,
  );
