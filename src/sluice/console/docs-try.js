// The form that sends a documented request and shows the reply.
import { badge, banner, field, fill, h } from "./dom.js";
import { resolve } from "./docs-schema.js";

const TIMEOUT_MS = 120000;
const MAX_SHOWN_CHARS = 200000;
const JSON_TYPE = "application/json";

// The token exists only in the memory of the page.
let token = "";
export const setToken = (value) => (token = value.trim());

// Returns why an operation cannot be tried here, or "".
export function explainUntryable(operation) {
  const ways = operation.security ?? [];
  if (ways.length && ways.every((way) => "signature" in way)) return "Requests to this path are signed with a secret key. Keep the key out of the browser and use a script instead.";
  if (Object.keys(operation.responses).includes("101")) return "This path needs a WebSocket, which this form cannot open. Use a WebSocket client instead.";
  return "";
}

export const isForAdmins = (operation) => (operation.security ?? []).some((way) => "admin" in way);

// Describes the credentials that an operation needs, or returns "".
export function describeSecurity(operation) {
  const ways = (operation.security ?? []).map((way) => ("admin" in way ? "the admin token" : "a signature"));
  return ways.length ? `needs ${ways.join(" or ")}` : "";
}

export function tryForm(method, path, operation, api) {
  const inputs = (operation.parameters ?? []).map((parameter) => [parameter, input(parameter, api)]);
  const example = operation.requestBody?.content?.[JSON_TYPE]?.example;
  const body = operation.requestBody && h("textarea", { class: "code", spellcheck: "false", value: example === undefined ? "" : JSON.stringify(example, null, 2) });
  const accept = h("select", {}, listMediaTypes(operation).map((type) => h("option", { value: type }, type)));
  const outcome = h("div", { class: "part", "aria-live": "polite" });
  const send = h("button", { type: "submit", class: "primary" }, "Send");
  const stop = h("button", { type: "button", hidden: true }, "Stop");
  const copy = h("button", { type: "button" }, "Copy as curl");
  const read = () => buildRequest(method, path, operation, inputs, body?.value.trim(), accept.value);
  const form = h(
    "form",
    { class: "try part", "aria-label": `Try ${method} ${path}` },
    h("h4", {}, "Try it"),
    inputs.map(([parameter, control]) => field(`${parameter.name}${parameter.required ? " (required)" : ""}`, control)),
    body && field("Body", body, operation.requestBody.required ? "JSON" : "JSON; may be empty"),
    accept.options.length > 1 && field("Reply as", accept),
    h("div", { class: "row" }, send, stop, copy),
    outcome,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problem = findBodyProblem(body);
    if (problem) return fill(outcome, banner(problem));
    const abort = new AbortController();
    stop.onclick = () => abort.abort();
    [send.disabled, stop.hidden] = [true, false];
    await sendRequest(read(), abort.signal, outcome);
    [send.disabled, stop.hidden] = [false, true];
  });
  copy.addEventListener("click", async () => {
    const isCopied = await navigator.clipboard.writeText(toCurl(read())).then(
      () => true,
      () => false,
    );
    fill(copy, isCopied ? "Copied" : "The browser does not allow copying here");
  });
  return form;
}

function input(parameter, api) {
  const schema = resolve(parameter.schema, api);
  const value = String(parameter.example ?? (parameter.in === "path" ? "" : (schema.default ?? "")));
  if (!schema.enum) return h("input", { value, required: parameter.required, autocomplete: "off", spellcheck: "false" });
  const choices = parameter.required ? schema.enum : ["", ...schema.enum];
  return h("select", {}, choices.map((choice) => h("option", { value: choice, selected: choice === value }, choice || "(none)")));
}

function listMediaTypes(operation) {
  const good = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
  const types = [...new Set(good.flatMap(([, reply]) => Object.keys(reply.content ?? {})))];
  return types.length ? types : [JSON_TYPE];
}

function findBodyProblem(body) {
  body?.removeAttribute("aria-invalid");
  if (!body?.value.trim()) return "";
  try {
    JSON.parse(body.value);
    return "";
  } catch (error) {
    body.setAttribute("aria-invalid", "true");
    return `The body is not JSON: ${error.message}`;
  }
}

function buildRequest(method, path, operation, inputs, body, accept) {
  const query = new URLSearchParams();
  let url = path;
  for (const [parameter, control] of inputs) {
    if (parameter.in === "path") url = url.replace(`{${parameter.name}}`, encodeURIComponent(control.value));
    else if (control.value !== "") query.set(parameter.name, control.value);
  }
  const headers = { Accept: accept };
  if (body) headers["Content-Type"] = JSON_TYPE;
  if (token && isForAdmins(operation)) headers.Authorization = `Bearer ${token}`;
  return { method, url: query.size ? `${url}?${query}` : url, headers, body: body || undefined };
}

async function sendRequest({ url, ...options }, stopped, outcome) {
  const began = performance.now();
  fill(outcome, h("p", { class: "hint", role: "status" }, "Sent. Waiting for the reply."));
  try {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(TIMEOUT_MS)]);
    const reply = await fetch(url, { ...options, signal, cache: "no-store", credentials: "omit" });
    await showReply(reply, outcome, () => Math.round(performance.now() - began));
  } catch (error) {
    outcome.append(banner(stopped.aborted ? "Stopped." : error.name === "TimeoutError" ? "The service did not answer in time. Try again later." : "The service cannot be reached. Check your connection and try again.", "warn"));
  }
}

async function showReply(reply, outcome, elapsed_ms) {
  const type = reply.headers.get("Content-Type") ?? "";
  const time = h("span", { class: "hint" });
  const listing = h("pre", { class: "listing", tabindex: "0", "aria-label": "Body of the reply" });
  const fields = h("pre", { class: "listing", tabindex: "0", "aria-label": "Headers of the reply" }, [...reply.headers].map(([name, value]) => `${name}: ${value}\n`));
  const head = h("p", { class: "row", role: "status" }, badge(String(reply.status), reply.ok ? "good" : "bad"), h("span", {}, type), time);
  fill(outcome, head, h("details", {}, h("summary", {}, "Headers"), fields), listing);
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  // Shows the body as it arrives, so that a stream can be followed.
  while (reader && text.length < MAX_SHOWN_CHARS) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
    listing.textContent = text;
  }
  const isCut = text.length >= MAX_SHOWN_CHARS;
  if (isCut) await reader.cancel();
  listing.textContent = isCut ? text.slice(0, MAX_SHOWN_CHARS) : formatBody(text, type) || "(no body)";
  fill(time, `${elapsed_ms()} ms`);
  if (isCut) outcome.append(banner(`Only the first ${MAX_SHOWN_CHARS.toLocaleString("en")} characters are shown.`, "warn"));
}

function formatBody(text, type) {
  if (!/json/.test(type)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// Returns the request as a curl command. The token is a variable in it, because shells store commands in their history.
function toCurl({ method, url, headers, body }) {
  const quote = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const options = Object.entries(headers).map(([name, value]) => (name === "Authorization" ? '-H "Authorization: Bearer $ADMIN_TOKEN"' : `-H ${quote(`${name}: ${value}`)}`));
  return ["curl", "-X", method, ...options, ...(body ? ["-d", quote(body)] : []), quote(location.origin + url)].join(" ");
}
