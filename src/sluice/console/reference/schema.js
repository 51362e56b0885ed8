// Shows JSON schemas as nested lists.
import { html } from "../ui/draw.js";

const MAX_DEPTH = 8; // a schema may refer to itself

// A text with words in backticks as code.
export const Prose = ({ text }) => text.split("`").map((part, at) => (at % 2 ? html`<code>${part}</code>` : part));

// Returns the schema that a local reference names.
export function resolve(schema, api) {
  let target = schema;
  for (let steps = 0; target?.$ref && steps < MAX_DEPTH; steps += 1) {
    target = target.$ref
      .slice(2)
      .split("/")
      .reduce((value, step) => value?.[step], api);
  }
  return target ?? {};
}

// A schema as a list of its members, of its items' members, or of its alternatives. `must` marks required members.
export const SchemaList = ({ schema, api, must, depth = 0 }) =>
  html`<ul class=${depth ? undefined : "shape"}>
    ${listMembers(resolve(schema, api), api).map(([name, member, required]) => html`<${Member} ...${{ name, member, mark: required && must, api, depth, must }} />`)}
  </ul>`;

function listMembers(schema, api) {
  if (schema.anyOf) return schema.anyOf.filter((each) => each.type !== "null").map((each, at) => [`${at ? "or" : "either"}`, each, false]);
  if (schema.type === "array") return listMembers(resolve(schema.items ?? {}, api), api);
  const required = new Set(schema.required ?? []);
  const named = Object.entries(schema.properties ?? {}).map(([name, member]) => [name, member, required.has(name)]);
  const others = schema.additionalProperties;
  return others && others !== true ? [...named, ["any name", others, false]] : named;
}

function Member({ name, member, mark, api, depth, must }) {
  const whole = resolve(member, api);
  const about = member.description ?? whole.description;
  const line = html`<code>${name}</code> <span class="kind">${describeType(member, api)}</span>${mark && html` <span class="must">${mark}</span>`}${about && html` <span class="about"><${Prose} text=${about} /></span>`}`;
  const inner = depth < MAX_DEPTH && findInner(whole, api);
  return html`<li>${inner ? html`<details><summary>${line}</summary><${SchemaList} schema=${inner} api=${api} must=${must} depth=${depth + 1} /></details>` : line}</li>`;
}

// Returns the schema to show when the row is opened: the one alternative besides null, or the schema itself. Returns null if
// `describeType` already says everything.
function findInner(schema, api) {
  const real = schema.anyOf?.filter((each) => each.type !== "null");
  const inner = real?.length === 1 ? resolve(real[0], api) : schema;
  const list = listMembers(inner, api);
  const isPlain = !inner.properties && list.every(([, member]) => !listMembers(resolve(member, api), api).length);
  const items = inner.type === "array" && resolve(inner.items ?? {}, api).properties;
  return list.length && (items || !isPlain) ? inner : null;
}

// Describes the type of a value in one line.
export function describeType(schema, api) {
  const whole = resolve(schema, api);
  if (whole.anyOf) return whole.anyOf.map((each) => describeType(each, api)).join(" or ");
  if ("const" in whole) return JSON.stringify(whole.const);
  if (whole.enum) return `one of ${whole.enum.join(", ")}`;
  if (whole.type === "array") return `array of ${whole.items ? describeType(whole.items, api) : "anything"}${describeLimits(whole)}`;
  if (whole.type === "object" && !whole.properties && whole.additionalProperties?.type) return `object of ${describeType(whole.additionalProperties, api)}${describeLimits(whole)}`;
  return `${whole.type ?? "anything"}${describeLimits(whole)}`;
}

const BOUNDS = [
  ["minimum", "from"],
  ["maximum", "to"],
  ["minLength", "at least", "characters"],
  ["maxLength", "at most", "characters"],
  ["minItems", "at least", "items"],
  ["maxItems", "at most", "items"],
  ["maxProperties", "at most", "members"],
];

function describeBound(value, words, unit) {
  const text = `${words} ${value.toLocaleString("en")}`;
  return unit ? `${text} ${value === 1 ? unit.slice(0, -1) : unit}` : text;
}

function describeLimits(schema) {
  const parts = BOUNDS.filter(([name]) => name in schema).map(([name, words, unit]) => describeBound(schema[name], words, unit));
  if (schema.pattern) parts.push(`pattern ${schema.pattern}`);
  if ("default" in schema && !/^[[{]/.test(JSON.stringify(schema.default))) parts.push(`default ${JSON.stringify(schema.default)}`);
  return parts.length ? ` (${parts.join(", ")})` : "";
}
