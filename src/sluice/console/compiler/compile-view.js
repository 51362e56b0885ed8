// Compiles the form's list, with the result beside the form.
import { html, useEffect, useRef, useState } from "../ui/draw.js";
import { sendJson, streamEvents } from "../ui/api.js";
import { Button } from "../ui/controls.js";
import { Banner, Empty, Progress } from "../ui/feedback.js";
import { Card } from "../ui/layout.js";
import { useSettled } from "../ui/state.js";
import { TOO_LARGE, begin, fail, handleEvent, stop } from "./compilation.js";
import { CompileForm } from "./compile-form.js";
import { recordList } from "./former-lists.js";
import { toRequest } from "./form-state.js";
import { ResultView } from "./result-view.js";
import { StepList } from "./step-list.js";

const CHECK_AFTER_MS = 500;

export function CompileView({ form, setForm, onPublish }) {
  const [run, setRun] = useState(null);
  const controller = useRef(null);
  const problems = useProblems(form);
  const isRunning = run?.state === "running";

  const compile = async () => {
    if (controller.current) return;
    const body = toRequest(form);
    if (!body.configuration.sources.length) return setRun(fail(begin(body), "There is nothing to compile yet: add an address or a rule."));
    const own = (controller.current = new AbortController());
    let state = await follow(body, true, own, setRun);
    // A report of every dropped line takes much memory; a large list is compiled without one.
    if (state.status === TOO_LARGE && !own.signal.aborted) state = await follow(body, false, own, setRun);
    // What is shown is remembered: a reload at once loses nothing.
    setRun(state.state === "done" ? await addChanges(state, body.configuration) : state);
    controller.current = null;
  };
  useEffect(() => {
    const onKey = (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && compile();
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
  useEffect(() => () => controller.current?.abort(), []);

  return html`<div class="columns">
    <${Card} title="What to compile">
      <${CompileForm} form=${form} setForm=${setForm} progress=${run?.sources} problems=${problems} />
      <div class="row sticky">
        ${isRunning
          ? html`<${Button} icon="stop" onClick=${() => controller.current?.abort()}>Stop<//>`
          : html`<${Button} icon="play" kind="primary" onClick=${compile} aria-keyshortcuts="Control+Enter">Compile<//>`}
        <span class="hint">or Ctrl+Enter</span>
      </div>
    <//>
    <${Outcome} run=${run} onPublish=${onPublish} />
  </div>`;
}

// The service compares only lists that it stores, and a list with a report of its dropped lines is not stored.
async function addChanges(run, configuration) {
  const previousVersion = await recordList(configuration, run.result.rules);
  return previousVersion ? { ...run, result: { ...run.result, previousVersion } } : run;
}

// Shows how it goes; the end is for the caller to show.
async function follow(body, report, own, setRun) {
  let state = begin(body);
  setRun(state);
  const show = (name, data) => {
    state = handleEvent(state, name, data);
    if (state.state === "running") setRun(state);
  };
  try {
    await streamEvents("/compile/stream", { ...body, report }, show, own.signal);
    return state.state === "running" ? fail(state, "The connection broke before the end. Try again.") : state;
  } catch (error) {
    return own.signal.aborted ? stop(state) : fail(state, error.summary ?? error.message);
  }
}

// What the service says about the configuration while it is typed; only mistakes are shown.
function useProblems(form) {
  const { configuration } = toRequest(form);
  const text = useSettled(JSON.stringify(configuration), CHECK_AFTER_MS);
  const [problems, setProblems] = useState("");
  useEffect(() => {
    let isCurrent = true;
    const checked = JSON.parse(text);
    if (!checked.sources.length) return setProblems("");
    sendJson("/configuration/validate", checked)
      .then(({ errors }) => isCurrent && setProblems(errors.map(({ path, reason }) => `${path} ${reason}`).join("; ")))
      .catch(() => isCurrent && setProblems(""));
    return () => (isCurrent = false);
  }, [text]);
  return problems;
}

const FirstSteps = () =>
  html`<${Empty} title="No list yet">From here to a list that your devices use:<//>
    <ol class="path">
      <li><strong>Say who it is for, and add sources.</strong> Addresses of lists, your own rules, or files.</li>
      <li><strong>Compile.</strong> The rules appear here, with what was dropped and why.</li>
      <li><strong>Download it, or publish it.</strong> A published list has an address that AdGuard Home, Pi-hole, dnsmasq or uBlock Origin subscribes to, and is rebuilt by itself.</li>
    </ol>`;

function Outcome({ run, onPublish }) {
  const heading = useRef(null);
  useEffect(() => {
    if (run && run.state !== "running") heading.current?.focus({ preventScroll: innerWidth > 960 });
  }, [run?.state]);
  if (!run) return html`<${Card} title="Result"><${FirstSteps} /><//>`;
  if (run.state === "done") return html`<${ResultView} run=${run} headingRef=${heading} onPublish=${onPublish} />`;
  const title = { running: "Compiling …", stopped: "Stopped", failed: "Not compiled" }[run.state];
  return html`<section class="card" aria-live="polite">
    <header><h2 ref=${heading} tabindex="-1">${title}</h2></header>
    ${run.state === "running" && html`<${Progress} value=${run.percent} label="Progress" />`}
    ${run.state === "failed" && html`<${Banner}>${run.error}<//>`}
    ${run.state === "stopped" && html`<p>You stopped it. Nothing was changed; compile again whenever you like.</p>`}
    <${StepList} run=${run} />
  </section>`;
}
