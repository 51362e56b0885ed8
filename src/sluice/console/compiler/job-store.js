// The jobs and workflows that this browser started. Whoever has a job's id sees its list, so the ids stay in this browser.
import { getJson, sendJson } from "../ui/api.js";
import { recall, remember } from "../ui/state.js";

const KEY = "sluice-jobs";
const MAX_JOBS = 30;
const MAX_RETRY_CHARS = 50_000;

export const WORKFLOWS = {
  compile: ["compilation", "Compilation"],
  "cache-warm": ["cache-warming", "Warming of the popular lists"],
  "health-check": ["health-monitoring", "Check of the sources"],
};

export const readJobs = () => recall(KEY) ?? [];
export const writeJobs = (jobs) => remember(KEY, jobs.slice(0, MAX_JOBS));
const isOver = ({ state }) => ["completed", "failed", "cancelled", "gone"].includes(state);

const describe = (path, body, title) => ({
  path,
  body: JSON.stringify(body).length <= MAX_RETRY_CHARS ? body : null,
  name: body.configuration?.name ?? title,
  sources: (body.configuration?.sources ?? []).map(({ name, source }) => name || source.split("?")[0]),
  state: "queued",
  startedAt: Date.now(),
  progress: 0,
  error: "",
  ruleCount: null,
});

// Throws if the service refuses the token: only the operator's opens the named history.
export const checkToken = (token) => getJson("/queue/history", { token });

export async function submitJob(body, priority) {
  const { requestId } = await sendJson("/compile/async", { ...body, priority });
  writeJobs([{ id: requestId, ...describe("/compile/async", { ...body, priority }) }, ...readJobs()]);
}

export async function startWorkflow(kind, body) {
  const [type, title] = WORKFLOWS[kind];
  const { workflowId } = await sendJson(`/workflow/${kind}`, body);
  writeJobs([{ id: workflowId, type, ...describe(`/workflow/${kind}`, body, title) }, ...readJobs()]);
}

export const retryJob = ({ path, body, type }) => (type ? startWorkflow(path.split("/").pop(), body) : submitJob(body, body.priority));

// Asks the service about every job that is not over yet.
export async function updateJobs() {
  const before = readJobs();
  const after = await Promise.all(before.map((job) => (isOver(job) ? job : (job.type ? updateWorkflow : updateJob)(job))));
  const known = new Set(before.map(({ id }) => id));
  const added = readJobs().filter(({ id }) => !known.has(id)); // submitted meanwhile
  writeJobs([...added, ...after]);
  return readJobs();
}

async function updateJob(job) {
  try {
    const { status, error, ruleCount, jobInfo } = await getJson(`/queue/results/${job.id}`);
    return { ...job, state: status === "cache_miss" ? "gone" : status, error: error ?? "", ruleCount, ms: jobInfo.duration };
  } catch (error) {
    return giveUp(job, error);
  }
}

async function updateWorkflow(job) {
  try {
    const { progress, isComplete, events } = await getJson(`/workflow/events/${job.id}`);
    const latest = events.at(-1);
    const step = latest?.message ?? latest?.step ?? job.step;
    if (!isComplete) return { ...job, state: "running", progress, step };
    const { output } = await getJson(`/workflow/status/${job.type}/${job.id}`);
    return { ...job, state: output?.success === false ? "failed" : "completed", progress: 100, step, error: output?.error ?? "", ruleCount: output?.ruleCount ?? null };
  } catch (error) {
    return giveUp(job, error);
  }
}

// An unknown id will stay unknown; any other failure may pass.
const giveUp = (job, error) => (error.status === 404 ? { ...job, state: "gone", error: "The service does not know this job any more." } : { ...job, note: error.message });
