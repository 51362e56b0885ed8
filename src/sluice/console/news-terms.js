// What is talked about; a click looks for it.
import { getJson } from "./api.js";
import { banner, empty, field, fill, h } from "./dom.js";

const SPANS = { 24: "the last day", 168: "the last week", 720: "the last 30 days" };

export function termsView(filters) {
  const hours = h("select", { onchange: refresh }, Object.entries(SPANS).map(([value, title]) => h("option", { value }, title)));
  hours.value = "168";
  const place = h("div", {}, empty("Loading …"));
  const card = h("section", { class: "card" }, h("h2", {}, "Talked about"), field("Within", hours), place);
  let turn = 0;

  async function refresh() {
    const mine = (turn += 1);
    try {
      // Of all stories: those that were found by a word would only tell that word again.
      const { terms } = await getJson(`/api/v1/trending?${filters.query({ hours: hours.value, q: "", status: "" })}`);
      if (mine !== turn) return;
      fill(place, terms.length ? h("ul", { class: "terms" }, terms.map(term)) : empty("No word stands out in this time."));
    } catch (error) {
      if (mine === turn) fill(place, error.status === 503 || error.status === 400 ? empty("Nothing to show yet") : banner(error.message));
    }
  }

  const term = ({ term: text, articles }) =>
    h("li", {}, h("button", { type: "button", "aria-pressed": String(filters.term() === text), onclick: () => filters.find(text) }, text, " ", h("span", { class: "count" }, articles, h("span", { class: "visually-hidden" }, " stories"))));

  return { card, refresh };
}
