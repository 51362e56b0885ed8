// JSON Schemas as nested lists that a person can read.
import { h } from "./dom.js";

const MAX_DEPTH = 8; // a schema that refers to itself has no end of its own

// Text in which `words` in backticks are code.
export const prose = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));

// What a local reference stands for.
export function resolved(schema, api) {
  let found = schema;
  for (let steps = 0; found?.$ref && steps < MAX_DEPTH; steps += 1) {
    found = found.$ref
      .slice(2)
      .split("/")
      .reduce((value, step) => value?.[step], api);
  }
  return found ?? {};
}

// The schema as a list: its members, those of its items, or of each alternative. `must` is said of those that are required.
export function shape(schema, api, must, depth = 0) {
  const list = h("ul", depth ? {} : { class: "shape" });
  for (const [name, member, required] of members(resolved(schema, api), api)) list.append(row(name, member, required && must, api, depth, must));
  return list;
}

function members(schema, api) {
  if (schema.anyOf) return schema.anyOf.filter((each) => each.type !== "null").map((each, at) => [`${at ? "or" : "either"}`, each, false]);
  if (schema.type === "array") return members(resolved(schema.items ?? {}, api), api);
  const required = new Set(schema.required ?? []);
  const named = Object.entries(schema.properties ?? {}).map(([name, member]) => [name, member, required.has(name)]);
  const others = schema.additionalProperties;
  return others && others !== true ? [...named, ["any name", others, false]] : named;
}

function row(name, member, mark, api, depth, must) {
  const whole = resolved(member, api);
  const about = member.description ?? whole.description;
  const line = [
    h("code", {}, name),
    " ",
    h("span", { class: "kind" }, kind(member, api)),
    mark && [" ", h("span", { class: "must" }, mark)],
    about && [" ", h("span", { class: "about" }, prose(about))],
  ];
  const inner = depth < MAX_DEPTH && inside(whole, api);
  return h("li", {}, inner ? h("details", {}, h("summary", {}, line), shape(inner, api, must, depth + 1)) : line);
}

// What is worth opening: the one alternative besides null, or the schema itself; what `kind` tells in full is not.
function inside(schema, api) {
  const real = schema.anyOf?.filter((each) => each.type !== "null");
  const inner = real?.length === 1 ? resolved(real[0], api) : schema;
  const found = members(inner, api);
  const isPlain = !inner.properties && found.every(([, member]) => !members(resolved(member, api), api).length);
  const items = inner.type === "array" && resolved(inner.items ?? {}, api).properties;
  return found.length && (items || !isPlain) ? inner : null;
}

// One line on what a value is.
export function kind(schema, api) {
  const whole = resolved(schema, api);
  if (whole.anyOf) return whole.anyOf.map((each) => kind(each, api)).join(" or ");
  if ("const" in whole) return JSON.stringify(whole.const);
  if (whole.enum) return `one of ${whole.enum.join(", ")}`;
  if (whole.type === "array") return `array of ${whole.items ? kind(whole.items, api) : "anything"}${limits(whole)}`;
  if (whole.type === "object" && !whole.properties && whole.additionalProperties?.type) return `object of ${kind(whole.additionalProperties, api)}${limits(whole)}`;
  return `${whole.type ?? "anything"}${limits(whole)}`;
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

function bound(value, words, unit) {
  const told = `${words} ${value.toLocaleString("en")}`;
  return unit ? `${told} ${value === 1 ? unit.slice(0, -1) : unit}` : told;
}

function limits(schema) {
  const told = BOUNDS.filter(([name]) => name in schema).map(([name, words, unit]) => bound(schema[name], words, unit));
  if (schema.pattern) told.push(`like ${schema.pattern}`);
  if ("default" in schema && !/^[[{]/.test(JSON.stringify(schema.default))) told.push(`default ${JSON.stringify(schema.default)}`);
  return told.length ? ` (${told.join(", ")})` : "";
}
