// The health of the operator's sources, now and in the past.
import { formatNumber, html } from "../ui/draw.js";
import { getJson } from "../ui/api.js";
import { Ticks } from "../ui/charts.js";
import { Badge, Empty, Figures, Loaded } from "../ui/feedback.js";
import { Card, Table } from "../ui/layout.js";
import { usePolling } from "../ui/state.js";
import { Ago } from "../ui/times.js";

export function SourcesView() {
  const health = usePolling((options) => getJson("/health/latest", options), 30);
  return html`<${Card} title="Sources">
    <${Loaded} state=${health}>
      ${({ data }) => (data ? html`<${Report} report=${data} />` : html`<${Empty} title="No check yet">The sources are checked every hour. You can start a check under Jobs.<//>`)}
    <//>
  <//>`;
}

const Report = ({ report: { timestamp, results, summary, history } }) => html`
  <p class="hint">Checked <${Ago} time=${timestamp} /></p>
  <${Figures} figures=${[["Sources", summary.total], ["Healthy", summary.healthy], ["Unhealthy", summary.unhealthy], ["Average answer", `${formatNumber(Math.round(summary.avgResponseTimeMs))} ms`]]} />
  <${Table}
    caption="Sources"
    columns=${[
      ["Source", ({ name, url }) => html`<strong>${name}</strong><br /><span class="hint">${url}</span>`, "wrap"],
      ["State", ({ healthy }) => html`<${Badge} kind=${healthy ? "good" : "bad"}>${healthy ? "healthy" : "unhealthy"}<//>`],
      ["Last checks", ({ name }) => html`<${Ticks} label=${name} results=${history?.sourceResults?.[name] ?? []} />`],
      ["Rules", ({ ruleCount }) => formatNumber(ruleCount), "number"],
      ["Answer", ({ responseTimeMs }) => `${formatNumber(responseTimeMs)} ms`, "number"],
      ["Problem", ({ error }) => error ?? "", "wrap"],
    ]}
    rows=${results}
    keyOf=${({ name }) => name}
  />`;
