// The stories: newest first, a page at a time, with those who tell the same.
import { getJson } from "./api.js";
import { badge, banner, empty, fill, h } from "./dom.js";
import { moment } from "./times.js";

const PAGE = 20;
const KINDS = { positive: "good", negative: "bad", neutral: "" };
const ANALYSTS = { embedded: "the embedded analyst" };

export function storiesView(filters) {
  const count = h("p", { class: "hint", role: "status" });
  const list = h("ol", { class: "stories" });
  const end = h("div", { class: "panel" });
  const card = h("section", { class: "card", "aria-label": "Stories" }, h("header", {}, h("h2", {}, "Stories"), count), list, end);
  let turn = 0;

  async function load(cursor) {
    const mine = (turn += 1);
    try {
      const told = await getJson(`/api/v1/articles?${filters.query({ limit: PAGE, cursor })}`);
      if (mine !== turn) return;
      filters.learn(told.articles);
      if (!cursor) fill(list);
      const added = told.articles.map(storyView);
      list.append(...added);
      fill(count, `${list.childElementCount.toLocaleString("en")} of ${told.total.toLocaleString("en")}`);
      fill(end, told.next ? h("button", { type: "button", onclick: () => load(told.next) }, "More stories") : list.childElementCount ? "" : empty("No story fits. Clear a filter, or search for another word."));
      if (cursor) added[0]?.querySelector("a, h3")?.focus();
    } catch (error) {
      if (mine !== turn) return;
      fill(count);
      if (!cursor) fill(list);
      fill(end, problem(error), h("div", { class: "row" }, h("button", { type: "button", onclick: () => load(cursor) }, "Try again")));
    }
  }

  function problem(error) {
    if (error.status === 503) return banner(`No news yet. ${sentence(error.message)}`, "warn");
    return filters.refused(error) ? banner("A filter does not fit: see the marked field.") : banner(error.message);
  }

  return { card, refresh: () => load("") };
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/([^.])$/, "$1.");

function storyView(story) {
  const summary = story.aiSummary ?? story.description;
  return h(
    "li",
    { class: "story" },
    h("h3", {}, outward(story.link, story.title)),
    h(
      "div",
      { class: "about" },
      story.sentiment ? badge(story.sentiment, KINDS[story.sentiment]) : badge("no sentiment yet"),
      story.status === "pending" && badge("in work", "warn"),
      h("span", {}, story.source_name ?? "unknown source"),
      story.pubDate && h("time", { datetime: story.pubDate }, published(story.pubDate)),
      story.language && h("span", {}, story.language),
      story.aiSummary && story.summaryBy && h("span", {}, `summary by ${ANALYSTS[story.summaryBy] ?? story.summaryBy}`),
    ),
    summary && h("p", {}, summary),
    story.alternates?.length ? alternates(story.alternates) : null,
  );
}

const alternates = (others) =>
  h(
    "details",
    {},
    h("summary", {}, `${others.length} more ${others.length === 1 ? "source tells" : "sources tell"} this`),
    h("ul", { class: "plain" }, others.map((other) => h("li", {}, outward(other.link, other.title), ` ${other.source_name ?? ""}${other.pubDate ? `, ${published(other.pubDate)}` : ""}`))),
  );

// A link of the web only: whatever else a source may call one is shown as text.
const outward = (link, title) => (/^https?:\/\//i.test(link ?? "") ? h("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, title) : title);

const published = (text) => {
  const time = Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text.replace(" ", "T")}Z`);
  return Number.isNaN(time) ? text : moment(time);
};
