// A finished list: search, copy and download it; see dropped lines with reasons, and changes.
import { banner, empty, field, figures, fill, h, table, tabs } from "./dom.js";

const SHOWN_LINES = 500;
const number = (value) => value.toLocaleString("en");

export function resultView(result, name) {
  const pages = [["List", listView(result.rules, name)]];
  if (result.report?.dropped) pages.push(["Dropped", droppedView(result.report)]);
  if (result.previousVersion) pages.push(["Changes", changesView(result.previousVersion)]);
  const strip = tabs("Parts of the result", pages);
  return h("section", { class: "card", id: "result" }, h("h2", {}, `${name}: ${number(result.ruleCount)} lines`), strip, pages.map(([, page]) => page));
}

function listView(rules, name) {
  const text = () => rules.join("\n");
  const shown = h("pre", { class: "listing", tabindex: "0", role: "region", "aria-label": "The list" });
  const count = h("p", { class: "hint", role: "status" });
  const search = h("input", { type: "search", autocomplete: "off", oninput: show });
  const notice = h("span", { role: "status", class: "hint" });
  function show() {
    const text = search.value.trim().toLowerCase();
    const matches = text ? rules.filter((rule) => rule.toLowerCase().includes(text)) : rules;
    const more = matches.length > SHOWN_LINES ? `, the first ${SHOWN_LINES} shown` : "";
    fill(count, `${number(matches.length)} of ${number(rules.length)} lines${more}`);
    fill(shown, matches.slice(0, SHOWN_LINES).join("\n"));
  }
  async function copy() {
    try {
      await navigator.clipboard.writeText(text());
      fill(notice, "Copied");
    } catch {
      fill(notice, "The browser does not allow copying here. Download the list instead.");
    }
  }
  function download() {
    const address = URL.createObjectURL(new Blob([text()], { type: "text/plain" }));
    const file = `${name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase() || "list"}.txt`;
    h("a", { href: address, download: file }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }
  show();
  return h(
    "div",
    { class: "field" },
    h("div", { class: "row" }, h("div", { class: "grow" }, field("Search the list", search)), h("button", { type: "button", onclick: copy }, "Copy"), h("button", { type: "button", onclick: download }, "Download"), notice),
    count,
    shown,
  );
}

function droppedView(report) {
  const lines = report.dropped;
  const more = report.droppedNotListed ? `, ${number(report.droppedNotListed)} more not listed` : "";
  const rest = lines.length > SHOWN_LINES ? banner(`The first ${SHOWN_LINES} of ${number(lines.length)}${more} are shown.`, "") : "";
  if (!lines.length) return h("div", {}, empty("No line was dropped."));
  return h(
    "div",
    { class: "field" },
    rest,
    table(
      "Dropped lines",
      [
        ["Line", (line) => h("code", {}, line.text), "wrap"],
        ["Why", (line) => line.reason, "wrap"],
        ["Step", (line) => line.transformation],
        ["Where", (line) => `${line.source}, line ${line.line}`, "wrap"],
      ],
      lines.slice(0, SHOWN_LINES),
    ),
  );
}

function changesView({ compiledAt, ruleCount, diff }) {
  const ruleList = (title, rules, total) => (total ? h("details", {}, h("summary", {}, `${title}: ${number(total)}`), h("pre", { class: "listing", tabindex: "0", role: "region", "aria-label": title }, rules.join("\n"))) : "");
  return h(
    "div",
    { class: "field" },
    h("p", { class: "hint" }, `Compared with ${number(ruleCount)} lines from ${new Date(compiledAt).toLocaleString("en")}`),
    figures({ Added: number(diff.added), Removed: number(diff.removed), Unchanged: number(diff.unchanged) }),
    ruleList("Added", diff.addedRules, diff.added),
    ruleList("Removed", diff.removedRules, diff.removed),
  );
}
