// Jobs in the background: hand one in, watch the queue, look at what came of each.
import { getJson, request as call, sendJson, every } from "./api.js";
import { steps } from "./charts.js";
import { badge, banner, check, empty, figures, fill, h, table } from "./dom.js";
import { resultView } from "./result.js";

const KINDS = { completed: "good", failed: "bad", cancelled: "", queued: "warn", running: "warn" };
const REFRESH_S = 3;

export function jobsPanel(wanted) {
  const high = check("High priority");
  const said = h("div", { role: "status" });
  const overview = h("section", { class: "card" }, h("h2", {}, "Queue"), empty("Loading …"));
  const history = h("section", { class: "card" }, h("h2", {}, "Jobs"), empty("Loading …"));
  const shown = h("div", {});
  let stop;

  async function submit() {
    try {
      const priority = high.querySelector("input").checked ? "high" : "standard";
      const { requestId } = await sendJson("/compile/async", { ...wanted(), priority });
      fill(said, banner(`Job ${requestId} is queued.`, "good"));
      await look();
    } catch (error) {
      fill(said, banner(error.message));
    }
  }

  async function look() {
    try {
      const told = await getJson("/queue/stats");
      fill(
        overview,
        h("h2", {}, "Queue"),
        figures({ Waiting: told.pending, Running: told.processing, Done: told.completed, Failed: told.failed, Cancelled: told.cancelled, "Average ms": told.averageProcessingTime, "In the last minute": told.processingRate }),
        steps("Jobs waiting or running", told.depthHistory.map(({ timestamp, depth }) => ({ at: timestamp, value: depth }))),
      );
      fill(history, h("h2", {}, "Jobs"), told.history.length ? jobTable(told.history) : empty("No job yet. Fill in the form under Compile, then hand it in here."));
    } catch (error) {
      fill(overview, h("h2", {}, "Queue"), banner(error.message));
    }
  }

  const jobTable = (jobs) =>
    table(
      "Jobs",
      [
        ["List", (job) => job.configName, "wrap"],
        ["State", (job) => badge(job.status, KINDS[job.status])],
        ["Lines", (job) => job.ruleCount?.toLocaleString("en") ?? "", "number"],
        ["ms", (job) => job.duration?.toLocaleString("en") ?? "", "number"],
        ["When", (job) => new Date(job.timestamp).toLocaleTimeString("en")],
        ["Error", (job) => job.error ?? "", "wrap"],
        ["", (job) => action(job)],
      ],
      jobs,
    );

  function action({ requestId, status, type, configName }) {
    if (status === "queued" || status === "running") return h("button", { type: "button", class: "danger", "aria-label": `Cancel ${configName}`, onclick: () => act(`/queue/cancel/${requestId}`) }, "Cancel");
    if (status === "completed" && type === "compile") return h("button", { type: "button", "aria-label": `Show ${configName}`, onclick: () => show(requestId, configName) }, "Show");
    return "";
  }

  async function act(path) {
    try {
      await call(path, { method: "DELETE" });
    } catch (error) {
      fill(said, banner(error.message));
    }
    await look();
  }

  async function show(requestId, name) {
    try {
      const found = await getJson(`/queue/results/${requestId}`);
      fill(shown, found.rules ? resultView(found, name) : banner(found.error ?? "There is no list"));
    } catch (error) {
      fill(shown, banner(error.message));
    }
  }

  const panel = h(
    "div",
    { class: "panel" },
    h("section", { class: "card" }, h("h2", {}, "Compile in the background"), h("p", { class: "hint" }, "Hands in what the form under Compile says. It is done even if you close this page."), h("div", { class: "row" }, h("button", { type: "button", class: "primary", onclick: submit }, "Hand in"), high), said),
    overview,
    history,
    shown,
  );
  const refresh = () => {
    stop?.();
    stop = every(REFRESH_S, () => (panel.hidden ? undefined : look()));
  };
  return { panel, refresh };
}
