// Compiles a list and shows the progress of its sources and transformations.
import { badge, banner, check, empty, figures, fill, h } from "./dom.js";
import { streamEvents } from "./api.js";
import { configurationForm } from "./configuration.js";
import { resultView } from "./result.js";

const number = (value) => value.toLocaleString("en");

export function compilePanel() {
  const { form, request } = configurationForm();
  const explain = check("Explain every dropped line");
  const start = h("button", { type: "button", class: "primary", onclick: run }, "Compile");
  const stop = h("button", { type: "button", hidden: true, onclick: () => abort?.abort() }, "Stop");
  const live = h("section", { class: "card", "aria-live": "polite" }, h("h2", {}, "Progress"), empty("Nothing yet. Paste an address or some rules and press Compile."));
  const outcome = h("div", {});
  let abort;

  async function run() {
    let body;
    try {
      body = request();
    } catch (error) {
      return fill(outcome, banner(error.message));
    }
    abort = new AbortController();
    start.disabled = true;
    stop.hidden = false;
    const progress = progressView(live);
    fill(outcome);
    let result;
    try {
      await streamEvents("/compile/stream", { ...body, report: explain.querySelector("input").checked }, (name, data) => {
        if (name === "result") result = data;
        else progress.handleEvent(name, data);
      }, abort.signal);
      if (result) fill(outcome, resultView(result, body.configuration.name));
    } catch (error) {
      const fields = (error.fields ?? []).map(({ path, reason }) => `${path} ${reason}`).join("; ");
      progress.showError(fields || error.message);
    } finally {
      start.disabled = false;
      stop.hidden = true;
    }
  }

  const panel = h(
    "div",
    { class: "panel" },
    h("div", { class: "columns" }, h("section", { class: "card" }, h("h2", {}, "What to compile"), form, h("div", { class: "row" }, start, stop, explain)), live),
    outcome,
  );
  return { panel, request };
}

function progressView(card) {
  const bar = h("progress", { max: 100, value: 0, "aria-label": "Progress" });
  const sources = h("ul", { class: "steps", "aria-label": "Sources" });
  const steps = h("ul", { class: "steps", "aria-label": "Transformations" });
  const end = h("div", {});
  const rows = new Map();
  let transformations = 0;
  fill(card, h("h2", {}, "Progress"), bar, h("h3", {}, "Sources"), sources, h("h3", {}, "Transformations"), steps, end);

  const row = (key, list, title) => {
    if (!rows.has(key)) {
      const state = h("span", {});
      const detail = h("span", { class: "hint" });
      rows.set(key, { state, detail });
      list.append(h("li", {}, h("span", { class: "name" }, title), detail, state));
    }
    return rows.get(key);
  };
  const setState = ({ state, detail }, text, kind, more = "") => {
    fill(state, badge(text, kind));
    fill(detail, more);
  };
  const source = ({ source: { name, source: address }, sourceIndex }) => row(`source ${sourceIndex}`, sources, name ?? address);

  const on = {
    "source:start": (data) => setState(source(data), "reading", ""),
    "source:complete": (data) => setState(source(data), "read", "good", `${number(data.ruleCount)} lines, ${data.durationMs} ms`),
    "source:error": (data) => setState(source(data), "failed", "bad", data.error),
    "transformation:start": ({ name, inputCount }) => {
      transformations += 1;
      setState(row(`step ${transformations}`, steps, name), "running", "", `${number(inputCount)} lines`);
    },
    "transformation:complete": ({ name, inputCount, outputCount, durationMs }) => {
      const change = outputCount - inputCount;
      const summary = change === 0 ? "no change" : `${change > 0 ? "+" : "−"}${number(Math.abs(change))} ${Math.abs(change) === 1 ? "line" : "lines"}`;
      setState(row(`step ${transformations}`, steps, name), summary, change ? "good" : "", `${number(inputCount)} → ${number(outputCount)}, ${durationMs} ms`);
    },
    progress: ({ phase, current, total }) => {
      const [from, to] = { sources: [0, 60], transformations: [60, 95], finalize: [95, 100] }[phase] ?? [0, 0];
      bar.value = from + ((to - from) * current) / Math.max(total, 1);
    },
    "compilation:complete": ({ ruleCount, totalDurationMs, sourceCount, transformationCount }) => {
      bar.value = 100;
      fill(end, figures({ Lines: number(ruleCount), Sources: sourceCount, Steps: transformationCount, Milliseconds: number(totalDurationMs) }));
    },
    error: ({ error }) => showError(error),
  };
  const showError = (text) => fill(end, banner(text));
  return { handleEvent: (name, data) => on[name]?.(data), showError };
}
