// For the operator: the sources and their health, the backlog, and what is tried again.
import { formatNumber, html } from "../ui/draw.js";
import { getJson } from "../ui/api.js";
import { Badge, Banner, Empty, Figures, Loaded } from "../ui/feedback.js";
import { Card, Table } from "../ui/layout.js";
import { usePolling } from "../ui/state.js";
import { Ago, formatDuration } from "../ui/times.js";

const REFRESH_S = 10;
const useStatus = () => usePolling((options) => getJson("/status", options), REFRESH_S);
const Since = ({ time, otherwise = "never" }) => (time ? html`<${Ago} time=${time} />` : otherwise);

export function Sources() {
  const state = useStatus();
  return html`<${Card} title="Sources">
    <${Loaded} state=${state}>
      ${({ sources = [] }) =>
        sources.length
          ? html`<${Table} caption="Sources" columns=${SOURCE_COLUMNS} rows=${sources} keyOf=${({ name }) => name} />`
          : html`<${Empty} title="No source has been read yet">The updater reads the sources every hour. Set NEWS_FEEDS to the addresses of feeds, or the key of a provider.<//>`}
    <//>
  <//>`;
}

const isWell = ({ failures }) => failures === 0;

const SOURCE_COLUMNS = [
  ["Source", ({ name }) => name, "wrap"],
  ["State", (row) => (isWell(row) ? html`<${Badge} kind="good">ok<//>` : html`<${Badge} kind="bad">failing<//>`)],
  ["Last success", ({ lastSuccess }) => html`<${Since} time=${lastSuccess} />`],
  ["Items", ({ items }) => (items == null ? "" : formatNumber(items)), "number"],
  ["Unchanged", ({ conditionalHits }) => (conditionalHits == null ? "" : formatNumber(conditionalHits)), "number"],
  ["Problem", (row) => (isWell(row) ? "" : html`${row.lastError}, <${Since} time=${row.lastErrorAt} />`), "wrap"],
];

export function Processing() {
  const state = useStatus();
  return html`<${Loaded} state=${state}>${(status) => html`<${Overview} status=${status} /><${Retries} articles=${status.tryLater} />`}<//>`;
}

const Overview = ({ status: { status, problem, problems = [], backlog, oldestPendingAgeSeconds: oldest_s, current, processed, tryLater, lastRun, ai } }) =>
  html`<${Card} title="Processing" actions=${html`<${Badge} kind=${status === "ok" ? "good" : status === "degraded" ? "warn" : "bad"}>${status}<//>`}>
    ${(problems.length ? problems : problem ? [problem] : []).map((each) => html`<${Banner} kind="warn">${each}<//>`)}
    <${Figures}
      figures=${[
        ["Backlog", formatNumber(backlog)],
        ["Oldest waiting", oldest_s === null ? "–" : formatDuration(oldest_s)],
        ["Processed", formatNumber(processed)],
        ["To retry", formatNumber(tryLater.length)],
        ["In progress", current ? current.stage : "–"],
      ]}
    />
    <ul class="plain">
      <li>Updater, every hour: ${lastRun.updater ? html`last ran <${Ago} time=${lastRun.updater} />` : "has not run yet"}</li>
      <li>Processor, every minute: ${lastRun.processor ? html`last ran <${Ago} time=${lastRun.processor} />` : "has not run yet"}</li>
      ${ai && html`<li>Workers AI today: ${formatNumber(ai.today.answers)} answers, ${formatNumber(ai.today.failures)} failures${ai.isOpen ? `; paused: ${ai.reason}. The embedded analyst speaks meanwhile` : ""}</li>`}
      ${current && html`<li>In progress: <code>${current.id}</code>, stage ${current.stage}</li>`}
    </ul>
    ${lastRun.failedSources.length > 0 && html`<${Banner} kind="warn">These sources failed in the last update: ${lastRun.failedSources.join(", ")}. They are tried again at the next update.<//>`}
  <//>`;

const Retries = ({ articles }) =>
  html`<${Card} title="Articles to retry">
    ${articles.length
      ? html`<${Table}
          caption="Articles to retry"
          columns=${[
            ["Article", ({ title, id }) => html`${title}<br /><code class="hint">${id}</code>`, "wrap"],
            ["Reason", ({ reason }) => reason, "wrap"],
            ["Attempts", ({ attempts }) => (typeof attempts === "number" ? attempts : Object.entries(attempts).map(([stage, count]) => `${stage} ${count}`).join(", ")), "wrap"],
            ["Failed", ({ failedAt }) => html`<${Since} time=${failedAt} otherwise="" />`],
          ]}
          rows=${articles}
        />`
      : html`<${Empty}>No article has failed.<//>`}
  <//>`;
