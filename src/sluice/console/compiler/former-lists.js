// The lists that this browser compiled last, so that the next compilation of the same configuration shows what changed.
import { loadValue, storeValue } from "./browser-store.js";

const NAME = "former-lists";
const MAX_LISTS = 5;
const MAX_CHARS = 5_000_000;

const selectRules = (lines) => lines.filter((line) => line && !line.startsWith("!"));

export function compareRules(before, after) {
  const [former, present] = [new Set(before), new Set(after)];
  const addedRules = [...present].filter((rule) => !former.has(rule));
  const removedRules = [...former].filter((rule) => !present.has(rule));
  return { added: addedRules.length, removed: removedRules.length, unchanged: present.size - addedRules.length, addedRules, removedRules };
}

// Returns what changed since this browser compiled the configuration last, undefined if it never did, and remembers the new list.
export async function recordList(configuration, lines, now_ms = Date.now()) {
  const key = JSON.stringify(configuration);
  const rules = selectRules(lines);
  const known = await loadValue(NAME, []);
  const former = known.find((each) => each.key === key);
  const others = known.filter((each) => each !== former).slice(0, MAX_LISTS - 1);
  const text = rules.join("\n");
  if (text.length <= MAX_CHARS) await storeValue(NAME, [{ key, text, compiledAt: now_ms }, ...others]);
  if (!former) return undefined;
  const before = former.text.split("\n");
  return { compiledAt: former.compiledAt, ruleCount: before.length, diff: compareRules(before, rules) };
}
