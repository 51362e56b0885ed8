// The form that sends a documented request and shows the reply, with the same request as code.
import { formatNumber, html, useRef, useState } from "../ui/draw.js";
import { readToken } from "../ui/api.js";
import { Button, CopyButton, Select, TextArea, TextField } from "../ui/controls.js";
import { Badge, Banner } from "../ui/feedback.js";
import { TabPanel, Tabs } from "../ui/layout.js";
import { LANGUAGES } from "./examples.js";
import { resolve } from "./schema.js";

const TIMEOUT_MS = 120000;
const MAX_SHOWN_CHARS = 200000;
const JSON_TYPE = "application/json";

// Returns why an operation cannot be tried here, or "".
export function explainUntryable(operation) {
  const ways = operation.security ?? [];
  if (ways.length && ways.every((way) => "signature" in way)) return "Requests to this path are signed. Sign one with the form at the top of this page, or use a script.";
  if ("101" in operation.responses) return "This path needs a WebSocket, which this form cannot open. Use a WebSocket client instead.";
  return "";
}

const isForOperators = (operation) => (operation.security ?? []).some((way) => "admin" in way);

// Describes the credentials that an operation needs, or returns "".
export function describeSecurity(operation) {
  const ways = (operation.security ?? []).map((way) => ("admin" in way ? "the operator's token" : "a signature"));
  return ways.length ? `needs ${ways.join(" or ")}` : "";
}

export function TryForm({ method, path, operation, api, reason }) {
  const parameters = operation.parameters ?? [];
  const [values, setValues] = useState(() => Object.fromEntries(parameters.map((parameter) => [parameter.name, firstValue(parameter, api)])));
  const example = operation.requestBody?.content?.[JSON_TYPE]?.example;
  const [body, setBody] = useState(example === undefined ? "" : JSON.stringify(example, null, 2));
  const types = listMediaTypes(operation);
  const [accept, setAccept] = useState(types[0]);
  const [reply, setReply] = useState(null);
  const stopper = useRef(null);
  const request = buildRequest(method, path, operation, values, body.trim(), accept);
  const problem = reply?.problem;
  const send = async (event) => {
    event.preventDefault();
    const wrong = findBodyProblem(body);
    if (wrong) return setReply({ problem: wrong });
    stopper.current = new AbortController();
    await sendRequest(request, stopper.current.signal, setReply);
    stopper.current = null;
  };
  const isBusy = reply?.isBusy;
  return html`<div class="part">
    ${reason
      ? html`<${Banner} kind="">${reason}<//>`
      : html`<form class="try part" aria-label="Try ${method} ${path}" onSubmit=${send}>
          <h4>Try it</h4>
          ${parameters.map((parameter) => html`<${Parameter} key=${parameter.name} parameter=${parameter} api=${api} value=${values[parameter.name]} onInput=${(value) => setValues({ ...values, [parameter.name]: value })} />`)}
          ${operation.requestBody && html`<${TextArea} label="Body" value=${body} onInput=${setBody} hint=${operation.requestBody.required ? "JSON" : "JSON; may be empty"} error=${problem} />`}
          ${types.length > 1 && html`<${Select} label="Reply as" value=${accept} options=${types.map((type) => [type, type])} onInput=${setAccept} />`}
          <div class="row">
            <button type="submit" class="primary" disabled=${isBusy}>Send</button>
            ${isBusy && html`<${Button} icon="stop" onClick=${() => stopper.current?.abort()}>Stop<//>`}
          </div>
          <div class="part" aria-live="polite">${problem ? html`<${Banner}>${problem}<//>` : reply && html`<${ReplyView} reply=${reply} />`}</div>
        </form>`}
    <${Examples} request=${request} name=${operation.operationId} />
  </div>`;
}

function Examples({ request, name }) {
  const [chosen, setChosen] = useState("curl");
  const write = LANGUAGES.find(([key]) => key === chosen)[2];
  const text = write(request);
  return html`<div class="part">
    <h4>As code</h4>
    <${Tabs} label="Languages" prefix="code-${name}" tabs=${LANGUAGES} chosen=${chosen} onChoose=${setChosen} />
    <${TabPanel} prefix="code-${name}" chosen=${chosen}>
      <pre class="listing" tabindex="0" role="region" aria-label="Request as code">${text}</pre>
      <div><${CopyButton} text=${text} what="the code" /></div>
    <//>
  </div>`;
}

function Parameter({ parameter, api, value, onInput }) {
  const schema = resolve(parameter.schema, api);
  const label = `${parameter.name}${parameter.required ? " (required)" : ""}`;
  if (!schema.enum) return html`<${TextField} label=${label} value=${value} required=${parameter.required} spellcheck=${false} onInput=${onInput} />`;
  const choices = parameter.required ? schema.enum : ["", ...schema.enum];
  return html`<${Select} label=${label} value=${value} options=${choices.map((choice) => [choice, choice || "(none)"])} onInput=${onInput} />`;
}

function firstValue(parameter, api) {
  if (parameter.in === "header") return ""; // an idempotency key that everybody sends would be nobody's own
  const schema = resolve(parameter.schema, api);
  return String(parameter.example ?? (parameter.in === "path" ? "" : (schema.default ?? "")));
}

function listMediaTypes(operation) {
  const good = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
  const types = [...new Set(good.flatMap(([, reply]) => Object.keys(reply.content ?? {})))];
  return types.length ? types : [JSON_TYPE];
}

function findBodyProblem(text) {
  if (!text.trim()) return "";
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return `The body is not JSON: ${error.message}`;
  }
}

function buildRequest(method, path, operation, values, body, accept) {
  const query = new URLSearchParams();
  const headers = { Accept: accept };
  let url = path;
  for (const parameter of operation.parameters ?? []) {
    const value = values[parameter.name];
    if (parameter.in === "path") url = url.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (value !== "" && parameter.in === "header") headers[parameter.name] = value;
    else if (value !== "") query.set(parameter.name, value);
  }
  if (body && operation.requestBody) headers["Content-Type"] = JSON_TYPE;
  const token = readToken();
  if (token && isForOperators(operation)) headers.Authorization = `Bearer ${token}`;
  return { method, url: query.size ? `${url}?${query}` : url, headers, body: (operation.requestBody && body) || undefined };
}

async function sendRequest({ url, ...options }, stopped, setReply) {
  const began = performance.now();
  setReply({ isBusy: true });
  try {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(TIMEOUT_MS)]);
    const reply = await fetch(url, { ...options, signal, cache: "no-store", credentials: "omit" });
    await readReply(reply, setReply, () => Math.round(performance.now() - began));
  } catch (error) {
    const text = stopped.aborted ? "Stopped." : error.name === "TimeoutError" ? "The service did not answer in time. Try again later." : "The service cannot be reached. Check your connection and try again.";
    setReply((before) => ({ ...before, isBusy: false, warning: text }));
  }
}

// Shows the body as it arrives, so that a stream can be followed.
async function readReply(reply, setReply, elapsed_ms) {
  const type = reply.headers.get("Content-Type") ?? "";
  const head = { status: reply.status, ok: reply.ok, type, headers: [...reply.headers].map(([name, value]) => `${name}: ${value}`).join("\n") };
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (reader && text.length < MAX_SHOWN_CHARS) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
    setReply({ ...head, text, isBusy: true });
  }
  const isCut = text.length >= MAX_SHOWN_CHARS;
  if (isCut) await reader.cancel();
  const warning = isCut ? `Only the first ${formatNumber(MAX_SHOWN_CHARS)} characters are shown.` : "";
  setReply({ ...head, text: isCut ? text.slice(0, MAX_SHOWN_CHARS) : formatBody(text, type) || "(no body)", warning, ms: elapsed_ms() });
}

function formatBody(text, type) {
  if (!/json/.test(type)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const ReplyView = ({ reply }) =>
  html`${reply.status === undefined
      ? reply.isBusy && html`<p class="hint" role="status">Sent. Waiting for the reply.</p>`
      : html`<p class="row" role="status"><${Badge} kind=${reply.ok ? "good" : "bad"}>${reply.status}<//><span>${reply.type}</span>${reply.ms !== undefined && html`<span class="hint">${reply.ms} ms</span>`}</p>
          <details><summary>Headers</summary><pre class="listing" tabindex="0" aria-label="Headers of the reply">${reply.headers}</pre></details>
          <pre class="listing" tabindex="0" aria-label="Body of the reply">${reply.text}</pre>`}
    ${reply.warning && html`<${Banner} kind="warn">${reply.warning}<//>`}`;
