// Background jobs: submit one, watch the queue, see the results.
import { getJson, request as call, sendJson, repeat } from "./api.js";
import { stepChart } from "./charts.js";
import { badge, banner, check, empty, figures, fill, h, table } from "./dom.js";
import { resultView } from "./result.js";

const KINDS = { completed: "good", failed: "bad", cancelled: "", queued: "warn", running: "warn" };
const REFRESH_S = 3;
const KEPT = "sluice-jobs";
const MOST = 20;

// Only whoever holds the id of a job sees its name and its list, so this page remembers the jobs that it has submitted.
const readKept = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
const keep = (jobs) => sessionStorage.setItem(KEPT, JSON.stringify(jobs.slice(0, MOST)));
const isOver = ({ status }) => status in KINDS && status !== "queued" && status !== "running";

export function jobsPanel(readRequest) {
  const high = check("High priority");
  const notice = h("div", { role: "status" });
  const overview = h("section", { class: "card" }, h("h2", {}, "Queue"), empty("Loading …"));
  const history = h("section", { class: "card" }, h("h2", {}, "Jobs"), empty("Loading …"));
  const result = h("div", {});
  let stop;

  async function submit() {
    try {
      const priority = high.querySelector("input").checked ? "high" : "standard";
      const sent = readRequest();
      const { requestId } = await sendJson("/compile/async", { ...sent, priority });
      keep([{ requestId, configName: sent.configuration.name, status: "queued", timestamp: Date.now() }, ...readKept()]);
      fill(notice, banner(`Job ${requestId} is queued.`, "good"));
      await update();
    } catch (error) {
      fill(notice, banner(error.message));
    }
  }

  async function update() {
    try {
      const stats = await getJson("/queue/stats");
      fill(
        overview,
        h("h2", {}, "Queue"),
        figures({ Waiting: stats.pending, Running: stats.processing, Done: stats.completed, Failed: stats.failed, Cancelled: stats.cancelled, "Average ms": stats.averageProcessingTime, "In the last minute": stats.processingRate }),
        stepChart("Jobs waiting or running", stats.depthHistory.map(({ timestamp, depth }) => ({ at: timestamp, value: depth }))),
      );
      const jobs = await Promise.all(readKept().map((job) => (isOver(job) ? job : look(job))));
      keep(jobs);
      fill(history, h("h2", {}, "Your jobs"), jobs.length ? jobTable(jobs) : empty("No job yet. Fill in the form under Compile, then press Submit here."));
    } catch (error) {
      fill(overview, h("h2", {}, "Queue"), banner(error.message));
    }
  }

  async function look(job) {
    try {
      const { status, error, ruleCount, jobInfo } = await getJson(`/queue/results/${job.requestId}`);
      return { ...job, status: status === "cache_miss" ? "completed" : status, error, ruleCount, duration: jobInfo.duration, timestamp: jobInfo.timestamp };
    } catch (error) {
      return { ...job, status: "failed", error: error.message };
    }
  }

  const jobTable = (jobs) =>
    table(
      "Jobs",
      [
        ["List", (job) => job.configName, "wrap"],
        ["State", (job) => badge(job.status, KINDS[job.status])],
        ["Rules", (job) => job.ruleCount?.toLocaleString("en") ?? "", "number"],
        ["ms", (job) => job.duration?.toLocaleString("en") ?? "", "number"],
        ["When", (job) => new Date(job.timestamp).toLocaleTimeString("en")],
        ["Error", (job) => job.error ?? "", "wrap"],
        ["", (job) => action(job)],
      ],
      jobs,
    );

  function action({ requestId, status, configName }) {
    if (status === "queued" || status === "running") return h("button", { type: "button", class: "danger", "aria-label": `Cancel ${configName}`, onclick: () => cancel(`/queue/cancel/${requestId}`) }, "Cancel");
    if (status === "completed") return h("button", { type: "button", "aria-label": `Show ${configName}`, onclick: () => show(requestId, configName) }, "Show");
    return "";
  }

  async function cancel(path) {
    try {
      await call(path, { method: "DELETE" });
    } catch (error) {
      fill(notice, banner(error.message));
    }
    await update();
  }

  async function show(requestId, name) {
    try {
      const job = await getJson(`/queue/results/${requestId}`);
      fill(result, job.rules ? resultView(job, name) : banner(job.error ?? "This job has no list."));
    } catch (error) {
      fill(result, banner(error.message));
    }
  }

  const panel = h(
    "div",
    { class: "panel" },
    h("section", { class: "card" }, h("h2", {}, "Compile in the background"), h("p", { class: "hint" }, "Submits the form under Compile. The job continues if you close this page."), h("div", { class: "row" }, h("button", { type: "button", class: "primary", onclick: submit }, "Submit"), high), notice),
    overview,
    history,
    result,
  );
  const refresh = () => {
    stop?.();
    stop = repeat(REFRESH_S, () => (panel.hidden ? undefined : update()));
  };
  return { panel, refresh };
}
