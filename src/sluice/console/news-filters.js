// What is looked for: kept in the page's address, so that a view can be passed on.
import { check, complain, field, fill, h } from "./dom.js";

const SENTIMENTS = ["positive", "negative", "neutral"];
const TYPING_MS = 350;
const FEEDS = { RSS: "rss", Atom: "atom", "JSON Feed": "json" };

export function filterForm(onChange) {
  const q = h("input", { type: "search", maxlength: 200, autocomplete: "off", oninput: later });
  const known = { source: h("datalist", { id: "sources" }), language: h("datalist", { id: "languages" }) };
  const source = h("input", { maxlength: 100, list: "sources", autocomplete: "off", oninput: later });
  const language = h("input", { maxlength: 100, list: "languages", autocomplete: "off", oninput: later });
  const from = h("input", { type: "date", onchange: changed });
  const to = h("input", { type: "date", onchange: changed });
  const status = h("select", { onchange: changed }, h("option", { value: "" }, "All"), h("option", { value: "complete" }, "Complete"), h("option", { value: "pending" }, "Still in work"));
  const boxes = SENTIMENTS.map((name) => check(name, { value: name, onchange: changed }));
  const fields = { q, source, language, from, to, status };
  const feeds = h("section", { class: "card" });
  const seen = { source: new Set(), language: new Set() };
  let timer = 0;

  const chosen = () => boxes.map((box) => box.querySelector("input")).filter((box) => box.checked).map((box) => box.value);

  // The filters as the API reads them; `more` adds to them.
  function query(more = {}) {
    const pairs = Object.entries(fields).map(([name, control]) => [name, control.value.trim()]);
    const wanted = { ...Object.fromEntries(pairs), sentiment: chosen().join(","), ...more };
    return new URLSearchParams(Object.entries(wanted).filter(([, value]) => value)).toString();
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(changed, TYPING_MS);
  }

  function changed() {
    clearTimeout(timer);
    for (const control of Object.values(fields)) complain(control);
    history.replaceState(null, "", `${location.pathname}${query() && `?${query()}`}${location.hash}`);
    offerFeeds();
    onChange();
  }

  function offerFeeds() {
    // A feed tells finished stories only.
    const wanted = query({ status: "" });
    const links = Object.entries(FEEDS).map(([title, name]) => h("li", {}, h("a", { class: "button", href: `/api/v1/feed.${name}${wanted && `?${wanted}`}` }, title)));
    fill(feeds, h("h2", {}, "Feeds"), h("p", { class: "hint" }, "With the filters of this page; summaries and links, never the text of a source."), h("ul", { class: "terms" }, links));
  }

  function clear() {
    for (const control of Object.values(fields)) control.value = "";
    for (const box of boxes) box.querySelector("input").checked = false;
    changed();
  }

  function read() {
    const given = new URLSearchParams(location.search);
    for (const [name, control] of Object.entries(fields)) control.value = given.get(name) ?? "";
    const wanted = (given.get("sentiment") ?? "").split(",");
    for (const box of boxes.map((row) => row.querySelector("input"))) box.checked = wanted.includes(box.value);
  }

  // Sources and languages that were seen can be chosen from.
  function learn(stories) {
    for (const story of stories) {
      for (const each of [story, ...(story.alternates ?? [])]) if (each.source_name) seen.source.add(each.source_name);
      if (story.language) seen.language.add(story.language);
    }
    for (const name of Object.keys(known)) fill(known[name], [...seen[name]].sort().map((value) => h("option", { value })));
  }

  const controlOf = (path) => fields[path.replace(/\[.*/, "")];

  // Says at its field what the service has against a filter; true when there was one.
  function refused({ fields: wrong = [] }) {
    const found = wrong.filter(({ path }) => controlOf(path));
    for (const { path, reason } of found) complain(controlOf(path), reason);
    return found.length > 0;
  }

  function find(term) {
    q.value = q.value === term ? "" : term;
    changed();
  }

  const card = h(
    "form",
    { class: "card", role: "search", "aria-label": "Find stories", onsubmit: (event) => (event.preventDefault(), changed()) },
    field("Search", q, "All words in any order; “in quotes” as they stand; -without"),
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
    Object.values(known),
  );
  read();
  offerFeeds();
  return { card, feeds, query, learn, refused, find, term: () => q.value };
}
