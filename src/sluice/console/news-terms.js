// Trending terms; a click searches for the term.
import { getJson } from "./api.js";
import { banner, empty, field, fill, h } from "./dom.js";

const SPANS = { 24: "the last day", 168: "the last week", 720: "the last 30 days" };

export function termsView(filters) {
  const hours = h("select", { onchange: refresh }, Object.entries(SPANS).map(([value, title]) => h("option", { value }, title)));
  hours.value = "168";
  const place = h("div", {}, empty("Loading …"));
  const card = h("section", { class: "card" }, h("h2", {}, "Trending"), field("Within", hours), place);
  let latest = 0;

  async function refresh() {
    const current = (latest += 1);
    try {
      // Without the search word: stories found by a word mainly contain that word.
      const { terms } = await getJson(`/api/v1/trending?${filters.query({ hours: hours.value, q: "", status: "" })}`);
      if (current !== latest) return;
      fill(place, terms.length ? h("ul", { class: "terms" }, terms.map(term)) : empty("No term is trending in this period. Choose a longer one."));
    } catch (error) {
      if (current === latest) fill(place, error.status === 503 || error.status === 400 ? empty("No data yet") : banner(error.message));
    }
  }

  const term = ({ term: text, articles }) =>
    h("li", {}, h("button", { type: "button", "aria-pressed": String(filters.term() === text), onclick: () => filters.toggleTerm(text) }, text, " ", h("span", { class: "count" }, articles, h("span", { class: "visually-hidden" }, " stories"))));

  return { card, refresh };
}
