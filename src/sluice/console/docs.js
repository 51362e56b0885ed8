// The API's documentation, built from /openapi.json in the browser.
import { badge, banner, byId, field, fill, h } from "./dom.js";
import { describeType, prose, resolve, schemaList } from "./docs-schema.js";
import { describeSecurity, tryForm, explainUntryable, setToken } from "./docs-try.js";
import { showShell } from "./shell.js";

const METHODS = { GET: "good", POST: "post", PUT: "warn", PATCH: "warn", DELETE: "bad" };
const TIMEOUT_MS = 20000;

async function start() {
  showShell("");
  document.querySelector('#top a[href="/docs"]')?.setAttribute("aria-current", "page");
  await load();
}

async function load() {
  const main = byId("main");
  fill(main, h("p", { class: "hint", role: "status" }, "Loading the description of the API …"));
  try {
    const reply = await fetch("/openapi.json", { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!reply.ok) throw new Error(`the service answered with status ${reply.status}`);
    page(main, await reply.json());
  } catch (error) {
    const reason = error.name === "TimeoutError" || error.name === "TypeError" ? "the service does not answer; it may be down" : error.message;
    fill(main, banner(`The description of the API cannot be loaded: ${reason}. Try again later.`), h("div", { class: "row" }, h("button", { type: "button", onclick: load }, "Try again")));
  }
}

function page(main, api) {
  document.title = `${api.info.title} · API · Sluice`;
  const groups = groupByTag(api);
  const operations = h("div", { class: "operations" }, groups.map(([tag, entries]) => group(tag, entries, api)));
  const missing = h("p", { class: "empty", role: "status", hidden: true }, "No operation contains these words. Try fewer or other words.");
  const find = h("input", { type: "search", autocomplete: "off" });
  find.addEventListener("input", () => (missing.hidden = filter(operations, find.value)));
  fill(
    main,
    h("div", { class: "row" }, h("h1", {}, api.info.title), badge(`version ${api.info.version}`), h("a", { href: "/openapi.json" }, "openapi.json")),
    api.info.description && h("p", { class: "lead" }, api.info.description),
    h("section", { class: "card", "aria-label": "Tools" }, h("div", { class: "columns" }, field("Find", find, "Words of a path or a description"), api.components?.securitySchemes?.admin && tokenField())),
    h("div", { class: "docs-layout" }, contents(groups), h("div", {}, operations, missing)),
  );
  addEventListener("hashchange", openLinked);
  openLinked();
}

function tokenField() {
  const control = h("input", { type: "password", autocomplete: "off", spellcheck: "false" });
  control.addEventListener("input", () => setToken(control.value));
  const row = field("Admin token", control, "Sent with requests that need it. It stays in the memory of this page until you leave it.");
  return h("form", { autocomplete: "off", onsubmit: (event) => event.preventDefault() }, row);
}

// Operations by their first tag, in the order of the document's tags.
function groupByTag(api) {
  const groups = new Map((api.tags ?? []).map(({ name }) => [name, []]));
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] ?? "Other";
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push({ method: method.toUpperCase(), path, operation });
    }
  }
  return [...groups];
}

function contents(groups) {
  const lists = groups.map(([tag, entries]) => [
    h("h2", {}, tag),
    h("ul", {}, entries.map(({ method, path, operation }) => h("li", {}, h("a", { href: `#${operation.operationId}` }, `${method} ${path}`)))),
  ]);
  // Open beside the text on wide screens, closed on narrow ones.
  const list = h("details", {}, h("summary", {}, "On this page"), lists);
  list.open = matchMedia("(min-width: 1100px)").matches;
  return h("nav", { class: "contents card", "aria-label": "On this page" }, list);
}

const group = (tag, entries, api) => h("section", { class: "group", "aria-label": tag }, h("h2", {}, tag), entries.map((each) => entry(each, api)));

// The content is built when the entry is first opened.
function entry({ method, path, operation }, api) {
  const head = h(
    "summary",
    {},
    h("span", { class: `badge method ${METHODS[method] ?? ""}` }, method),
    h("h3", {}, path),
    h("span", { class: "said" }, operation.summary ?? "No description", describeSecurity(operation) && ` · ${describeSecurity(operation)}`),
  );
  const details = h("details", { class: "card operation", id: operation.operationId }, head);
  details.dataset.words = `${method} ${path} ${operation.summary ?? ""} ${operation.description ?? ""}`.toLowerCase();
  details.addEventListener("toggle", () => details.open && details.children.length === 1 && details.append(inside(method, path, operation, api)));
  return details;
}

function inside(method, path, operation, api) {
  const reason = explainUntryable(operation);
  return h(
    "div",
    { class: "inside" },
    operation.description && h("p", { class: "wide" }, prose(operation.description)),
    h("div", { class: "part" }, parameters(operation, api), body(operation, api), replies(operation, api)),
    reason ? h("div", { class: "part" }, h("p", { class: "banner" }, reason)) : tryForm(method, path, operation, api),
  );
}

function parameters(operation, api) {
  if (!operation.parameters?.length) return null;
  const rows = operation.parameters.map((parameter) =>
    h(
      "li",
      {},
      h("code", {}, parameter.name),
      " ",
      h("span", { class: "kind" }, `in the ${parameter.in}, ${describeType(parameter.schema, api)}`),
      parameter.required && [" ", h("span", { class: "must" }, "required")],
      parameter.description && [" ", h("span", { class: "about" }, prose(parameter.description))],
    ),
  );
  return h("div", { class: "part" }, h("h4", {}, "Parameters"), h("ul", { class: "shape" }, rows));
}

function body(operation, api) {
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  if (!schema) return null;
  const about = resolve(schema, api).description;
  const title = operation.requestBody.required ? "Body" : "Body (optional)";
  return h("div", { class: "part" }, h("h4", {}, title), about && h("p", { class: "hint" }, prose(about)), schemaList(schema, api, "required"));
}

function replies(operation, api) {
  const rows = Object.entries(operation.responses).map(([status, response]) => reply(status, resolve(response, api), api));
  return h("div", { class: "part" }, h("h4", {}, "Replies"), rows);
}

function reply(status, response, api) {
  const colour = /^[12]/.test(status) ? "good" : status === "default" ? "" : "warn";
  const line = [badge(status === "default" ? "other" : status, colour), " ", prose(response.description)];
  const headers = Object.entries(response.headers ?? {}).map(([name, { description }]) => h("p", { class: "hint" }, h("code", {}, name), " ", prose(description ?? "")));
  const media = Object.entries(response.content ?? {}).map(([type, { schema }]) => {
    const about = schema?.description ?? resolve(schema, api).description;
    return h("div", { class: "part" }, h("p", {}, h("code", {}, type)), about && h("p", { class: "hint" }, prose(about)), schemaList(schema, api, "always"));
  });
  if (!headers.length && !media.length) return h("p", { class: "reply" }, line);
  return h("details", { class: "reply" }, h("summary", {}, line), h("div", { class: "inside part" }, headers, media));
}

// Shows the operations that contain all words; returns whether there are any.
function filter(operations, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const each of operations.querySelectorAll(".operation")) each.hidden = !words.every((word) => each.dataset.words.includes(word));
  for (const each of operations.querySelectorAll(".group")) each.hidden = !each.querySelector(".operation:not([hidden])");
  return operations.querySelector(".operation:not([hidden])") !== null;
}

function openLinked() {
  const linked = byId(location.hash.slice(1));
  if (!linked?.classList.contains("operation")) return;
  linked.open = true;
  linked.scrollIntoView();
  linked.querySelector("summary").focus({ preventScroll: true });
}

start();
