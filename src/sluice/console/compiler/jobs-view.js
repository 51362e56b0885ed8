// Background work: submit a job or a workflow, follow it, look at its list.
import { countOf, formatNumber, html, useEffect, useState } from "../ui/draw.js";
import { RequestError, getJson, request } from "../ui/api.js";
import { LineChart } from "../ui/charts.js";
import { Button, Check, Segments } from "../ui/controls.js";
import { Badge, Banner, Empty, ErrorBanner, Figures, Loaded, Progress } from "../ui/feedback.js";
import { download, fileName } from "../ui/files.js";
import { Card, Table } from "../ui/layout.js";
import { SignIn, SignedIn } from "../ui/sign-in.js";
import { usePolling, useStored, useToken } from "../ui/state.js";
import { Ago } from "../ui/times.js";
import { toRequest } from "./form-state.js";
import { checkToken, readJobs, retryJob, startWorkflow, submitJob, updateJobs, writeJobs } from "./job-store.js";
import { RulesView } from "./result-view.js";

const KINDS = { completed: "good", failed: "bad", gone: "warn" };
const REFRESH_S = 3;

export function JobsView({ form }) {
  const jobs = usePolling(updateJobs, REFRESH_S);
  const [error, setError] = useState(null);
  const [list, setList] = useState(null);
  useEffect(() => {
    if (list) document.getElementById("job-list").focus();
  }, [list]);
  const attempt = async (work) => {
    try {
      setError(null);
      await work();
      jobs.refresh();
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<${SubmitCard} form=${form} attempt=${attempt} />
    <${ErrorBanner} error=${error} />
    <${Card} title="Started in this browser">
      <${Loaded} state=${jobs}>
        ${(rows) =>
          rows.length
            ? html`<ul class="rows">${rows.map((job) => html`<${JobRow} key=${job.id} job=${job} attempt=${attempt} onView=${setList} />`)}</ul>`
            : html`<${Empty} title="No job yet">Fill in the form under Compile, then submit it here. The job goes on if you close this page.<//>`}
      <//>
    <//>
    ${list && html`<${Card} title=${list.name} id="job-list" tabindex="-1"><${RulesView} rules=${list.rules} name=${list.name} /><//>`}
    <${AllJobs} />
    <${QueueCard} />
    <${WorkflowFigures} />`;
}

function SubmitCard({ form, attempt }) {
  const [isHigh, setHigh] = useState(false);
  const token = useToken();
  const body = toRequest(form);
  const isEmpty = body.configuration.sources.length === 0;
  return html`<${Card} title="Start something in the background">
    <p class="hint">${isEmpty ? "The form under Compile is empty." : `From the form under Compile: ${body.configuration.name}, ${countOf(body.configuration.sources.length, "source")}.`}</p>
    <div class="row">
      <${Button} kind="primary" disabled=${isEmpty} onClick=${() => attempt(() => submitJob(body, isHigh ? "high" : "standard"))}>Submit as a job<//>
      <${Check} label="High priority" checked=${isHigh} onChange=${setHigh} />
      <${Button} disabled=${isEmpty} onClick=${() => attempt(() => startWorkflow("compile", body))}>Run as a workflow<//>
      <${Button} onClick=${() => attempt(() => startWorkflow("cache-warm", {}))}>Warm the popular lists<//>
      <${Button} onClick=${() => attempt(() => startWorkflow("health-check", {}))}>Check the sources<//>
    </div>
    <p class="hint">A job waits in the queue. A workflow runs in steps and continues from its last finished step after a crash.${!token && " A check of the sources is shown under Sources only if the operator starts it: sign in below."}</p>
  <//>`;
}

function JobRow({ job, attempt, onView }) {
  const isOpen = job.state === "queued" || job.state === "running";
  const forget = () => attempt(async () => void writeJobs(readJobs().filter(({ id }) => id !== job.id)));
  const view = () => attempt(async () => onView({ name: job.name, rules: (await loadText(job)).replace(/\n$/, "").split("\n") }));
  const save = () => attempt(async () => download(fileName(job.name), await loadText(job)));
  const hasList = job.state === "completed" && job.sources.length > 0;
  return html`<li class="job">
    <div class="job-head">
      <strong>${job.name}</strong> <${Badge} kind=${KINDS[job.state]}>${job.state === "completed" ? "done" : job.state}<//>
      <span class="hint">${job.type ? "workflow" : "job"}, <${Ago} time=${job.startedAt} />${job.ruleCount ? `, ${countOf(job.ruleCount, "rule")}` : ""}</span>
    </div>
    ${job.sources.length > 0 && html`<p class="hint">${job.sources.slice(0, 3).join(", ")}${job.sources.length > 3 ? ` and ${job.sources.length - 3} more` : ""}</p>`}
    ${isOpen && job.type && html`<${Progress} value=${job.progress} label="Progress of ${job.name}" />${job.step && html`<p class="hint">${job.step}</p>`}`}
    ${job.error && html`<p class="wrong">${job.error}</p>`}
    <div class="row">
      ${hasList && html`<${Button} onClick=${view} aria-label="View ${job.name}">View<//><${Button} icon="download" onClick=${save} aria-label="Download ${job.name}">Download<//>`}
      ${isOpen && !job.type && html`<${Button} kind="danger" onClick=${() => attempt(() => request(`/queue/cancel/${job.id}`, { method: "DELETE" }))} aria-label="Cancel ${job.name}">Cancel<//>`}
      ${!isOpen && job.body && html`<${Button} icon="refresh" onClick=${() => attempt(() => retryJob(job))} aria-label="Run again: ${job.name}">Run again<//>`}
      ${!isOpen && html`<${Button} onClick=${forget} aria-label="Forget ${job.name}">Forget<//>`}
    </div>
  </li>`;
}

// For the operator: everybody's jobs.
function AllJobs() {
  const token = useToken();
  const state = usePolling(async () => (token ? (await getJson("/queue/history")).history : []), REFRESH_S * 2, token);
  if (!token) return html`<details class="more"><summary>Everybody's jobs <span class="hint">for the operator</span></summary><${SignIn} why="With the operator's token this page shows everybody's jobs." check=${checkToken} /></details>`;
  return html`<${Card} title="All jobs" actions=${html`<${SignedIn} />`}>
    <${Loaded} state=${state}>
      ${(jobs) => (jobs.length ? html`<${Table} caption="All jobs" columns=${ALL_COLUMNS} rows=${jobs} />` : html`<${Empty}>No job yet.<//>`)}
    <//>
  <//>`;
}

const ALL_COLUMNS = [
  ["List", ({ configName, type }) => configName ?? type, "wrap"],
  ["State", ({ status }) => html`<${Badge} kind=${KINDS[status]}>${status === "completed" ? "done" : status}<//>`],
  ["Rules", ({ ruleCount }) => (ruleCount == null ? "" : formatNumber(ruleCount)), "number"],
  ["Took", ({ duration }) => (duration == null ? "" : `${formatNumber(duration)} ms`), "number"],
  ["Attempts", ({ attempts }) => attempts, "number"],
  ["When", ({ timestamp }) => html`<${Ago} time=${timestamp} />`],
  ["Id", ({ requestId }) => html`<code>${requestId}</code>`, "wrap"],
];

// The list of a job. One that is not stored any more is answered with the reason in place of the list.
async function loadText({ id }) {
  const reply = await request(`/queue/results/${id}`, { accept: "text/plain" });
  if (reply.headers.get("Content-Type")?.startsWith("text/plain")) return reply.text();
  const { error } = await reply.json();
  throw new RequestError(error ?? "There is no list of this job yet.");
}

const WINDOWS_MS = { "15m": 900_000, "1h": 3_600_000, "24h": 86_400_000 };
const WINDOWS = [["15m", "15 min"], ["1h", "1 h"], ["24h", "24 h"]];

// The depth in a window that ends now. Between two changes it stays as it was; before the first known change it is unknown.
function cutDepths(history, span_ms, now_ms = Date.now()) {
  const from = now_ms - span_ms;
  const changes = history.map(({ timestamp, depth }) => ({ at: Date.parse(timestamp) || timestamp, value: depth }));
  const before = changes.filter(({ at }) => at <= from).at(-1);
  const points = [...(before ? [{ ...before, at: from }] : []), ...changes.filter(({ at }) => at > from)];
  return { from, to: now_ms, points: points.length ? [...points, { at: now_ms, value: points.at(-1).value }] : [] };
}

function QueueCard() {
  const [chosen, setChosen] = useStored("sluice-jobs-window", "1h");
  const stats = usePolling((options) => getJson("/queue/stats", options), REFRESH_S * 2);
  return html`<${Card} title="Queue" actions=${html`<${Segments} label="Time window" value=${chosen} options=${WINDOWS} onChange=${setChosen} />`}>
    <${Loaded} state=${stats}>
      ${(now) =>
        html`<${Figures}
            figures=${[
              ["Waiting", formatNumber(now.pending)],
              ["Running", formatNumber(now.processing)],
              ["Done", formatNumber(now.completed)],
              ["Failed", formatNumber(now.failed)],
              ["Cancelled", formatNumber(now.cancelled)],
              ["Average", `${formatNumber(Math.round(now.averageProcessingTime))} ms`],
            ]}
          />
          <${LineChart} title="Jobs waiting or running" ...${cutDepths(now.depthHistory, WINDOWS_MS[chosen])} unit="jobs" isStep=${true} />`}
    <//>
  <//>`;
}

const TITLES = { compilation: "Compilation", batchCompilation: "Batches", cacheWarming: "Cache warming", healthMonitoring: "Health checks", listBuilding: "List builds" };
const COLUMNS = [
  ["Workflow", ([name]) => TITLES[name] ?? name],
  ["Runs", ([, metrics]) => formatNumber(metrics.totalRuns), "number"],
  ["Completed", ([, metrics]) => formatNumber(metrics.completed), "number"],
  ["Failed", ([, metrics]) => formatNumber(metrics.failed), "number"],
  ["Average", ([, metrics]) => (metrics.avgDurationMs == null ? "" : `${formatNumber(Math.round(metrics.avgDurationMs))} ms`), "number"],
  ["Last", ([, metrics]) => html`<${Ago} time=${metrics.lastRunAt} />`],
];

function WorkflowFigures() {
  const metrics = usePolling((options) => getJson("/workflow/metrics", options), REFRESH_S * 3);
  return html`<${Card} title="Workflows in the last 30 days">
    <${Loaded} state=${metrics}>
      ${({ workflows }) => {
        const rows = Object.entries(workflows).filter(([, each]) => each);
        return rows.length ? html`<${Table} caption="Workflows" columns=${COLUMNS} rows=${rows} />` : html`<${Empty} title="No workflow has run yet">Every hour one checks the sources; every six hours one warms the popular lists.<//>`;
      }}
    <//>
  <//>`;
}
