// The health of the sources, now and in the past.
import { getJson } from "./api.js";
import { tickChart } from "./charts.js";
import { badge, banner, empty, figures, fill, h, table } from "./dom.js";

export function sourcesPanel() {
  const panel = h("section", { class: "card" }, h("h2", {}, "Sources"), empty("Loading …"));

  async function refresh() {
    try {
      const { data } = await getJson("/health/latest");
      fill(panel, h("h2", {}, "Sources"), data ? report(data) : empty("No check yet. Start one under Workflows, or wait for the hourly check."));
    } catch (error) {
      fill(panel, h("h2", {}, "Sources"), banner(error.message));
    }
  }
  return { panel, refresh };
}

const report = ({ timestamp, results, summary, history }) => [
  h("p", { class: "hint" }, `Checked ${new Date(timestamp).toLocaleString("en")}`),
  figures({ Sources: summary.total, Healthy: summary.healthy, Unhealthy: summary.unhealthy, "Average ms": summary.avgResponseTimeMs }),
  table(
    "Sources",
    [
      ["Source", ({ name, url }) => [h("strong", {}, name), h("br"), h("span", { class: "hint" }, url)], "wrap"],
      ["State", ({ healthy }) => (healthy ? badge("healthy", "good") : badge("unhealthy", "bad"))],
      ["History", ({ name }) => tickChart(name, history?.sourceResults?.[name] ?? [])],
      ["Rules", ({ ruleCount }) => ruleCount.toLocaleString("en"), "number"],
      ["ms", ({ responseTimeMs }) => responseTimeMs.toLocaleString("en"), "number"],
      ["Error", ({ error }) => error ?? "", "wrap"],
    ],
    results,
  ),
];
