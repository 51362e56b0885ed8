// Compares the verdicts of two lists: node judge.mjs BEFORE AFTER NAMES prints each name whose verdict differs.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const folder = `${process.cwd()}/node_modules/@adguard/tsurlfilter/`;
const target = JSON.parse(readFileSync(`${folder}package.json`, "utf8")).exports["."];
const entry = typeof target === "string" ? target : target.import ?? target.default;
const path = typeof entry === "string" ? entry : entry.default;
const { DnsEngine, RuleStorage, StringRuleList } = await import(pathToFileURL(`${folder}${path}`));

const [before, after, names] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
const buildEngine = (text) => new DnsEngine(new RuleStorage([new StringRuleList(1, text, true)]));
const decide = (engine, name) => {
  const { basicRule, hostRules } = engine.match(name);
  if (basicRule) return basicRule.isAllowlist() ? "allowed" : "blocked";
  return hostRules.length > 0 ? "blocked" : "none";
};
const engines = [before, after].map(buildEngine);
for (const name of names.split("\n")) {
  const [old, now] = engines.map((engine) => decide(engine, name));
  if (old !== now) console.log(`${name}: ${old} before, ${now} after`);
}
