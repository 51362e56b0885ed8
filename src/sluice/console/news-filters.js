// The filters, which are part of the page's address so that a view can be shared.
import { check, showFieldError, field, fill, h } from "./dom.js";

const SENTIMENTS = ["positive", "negative", "neutral", "unknown"];
const TYPING_MS = 350;
const FEEDS = { RSS: "rss", Atom: "atom", "JSON Feed": "json" };

export function filterForm(onChange) {
  const q = h("input", { type: "search", maxlength: 200, autocomplete: "off", oninput: applyLater });
  const suggestions = { source: h("datalist", { id: "sources" }), language: h("datalist", { id: "languages" }) };
  const source = h("input", { maxlength: 100, list: "sources", autocomplete: "off", oninput: applyLater });
  const language = h("input", { maxlength: 100, list: "languages", autocomplete: "off", oninput: applyLater });
  const from = h("input", { type: "date", onchange: apply });
  const to = h("input", { type: "date", onchange: apply });
  const status = h("select", { onchange: apply }, h("option", { value: "" }, "All"), h("option", { value: "complete" }, "Complete"), h("option", { value: "pending" }, "In progress"));
  const boxes = SENTIMENTS.map((name) => check(name, { value: name, onchange: apply }));
  const fields = { q, source, language, from, to, status };
  const feeds = h("section", { class: "card" });
  const seen = { source: new Set(), language: new Set() };
  let timer = 0;

  const chosen = () => boxes.map((box) => box.querySelector("input")).filter((box) => box.checked).map((box) => box.value);

  // Returns the filters as a query of the API; `more` adds to them.
  function query(more = {}) {
    const pairs = Object.entries(fields).map(([name, control]) => [name, control.value.trim()]);
    const values = { ...Object.fromEntries(pairs), sentiment: chosen().join(","), ...more };
    return new URLSearchParams(Object.entries(values).filter(([, value]) => value)).toString();
  }

  function applyLater() {
    clearTimeout(timer);
    timer = setTimeout(apply, TYPING_MS);
  }

  function apply() {
    clearTimeout(timer);
    for (const control of Object.values(fields)) showFieldError(control);
    history.replaceState(null, "", `${location.pathname}${query() && `?${query()}`}${location.hash}`);
    showFeeds();
    onChange();
  }

  function showFeeds() {
    // A feed contains only finished stories.
    const filters = query({ status: "" });
    const links = Object.entries(FEEDS).map(([title, name]) => h("li", {}, h("a", { class: "button", href: `/api/v1/feed.${name}${filters && `?${filters}`}` }, title)));
    fill(feeds, h("h2", {}, "Feeds"), h("p", { class: "hint" }, "The feeds use the filters of this page. They contain summaries and links, not the full text of a source."), h("ul", { class: "terms" }, links));
  }

  function clear() {
    for (const control of Object.values(fields)) control.value = "";
    for (const box of boxes) box.querySelector("input").checked = false;
    apply();
  }

  function read() {
    const params = new URLSearchParams(location.search);
    for (const [name, control] of Object.entries(fields)) control.value = params.get(name) ?? "";
    const sentiments = (params.get("sentiment") ?? "").split(",");
    for (const box of boxes.map((row) => row.querySelector("input"))) box.checked = sentiments.includes(box.value);
  }

  // Adds the sources and languages of the stories to the suggestions.
  function addSuggestions(stories) {
    for (const story of stories) {
      for (const each of [story, ...(story.alternates ?? [])]) if (each.source_name) seen.source.add(each.source_name);
      if (story.language) seen.language.add(story.language);
    }
    for (const name of Object.keys(suggestions)) fill(suggestions[name], [...seen[name]].sort().map((value) => h("option", { value })));
  }

  const controlOf = (path) => fields[path.replace(/\[.*/, "")];

  // Shows the errors of the service at their fields; returns whether there were any.
  function showErrors({ fields: errors = [] }) {
    const shown = errors.filter(({ path }) => controlOf(path));
    for (const { path, reason } of shown) showFieldError(controlOf(path), reason);
    return shown.length > 0;
  }

  function toggleTerm(term) {
    q.value = q.value === term ? "" : term;
    apply();
  }

  const card = h(
    "form",
    { class: "card", role: "search", "aria-label": "Find stories", onsubmit: (event) => (event.preventDefault(), apply()) },
    field("Search", q, "All words, in any order. Use “quotes” for a phrase and -word to exclude a word."),
    h(
      "div",
      { class: "grid-fields filters" },
      h("fieldset", { class: "field" }, h("legend", {}, "Sentiment"), h("div", { class: "row" }, boxes)),
      field("Source", source),
      field("Language", language),
      field("From", from),
      field("To", to),
      field("Status", status),
      h("button", { type: "button", class: "low", onclick: clear }, "Clear filters"),
    ),
    Object.values(suggestions),
  );
  read();
  showFeeds();
  return { card, feeds, query, addSuggestions, showErrors, toggleTerm, term: () => q.value };
}
