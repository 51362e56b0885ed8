// The stories, newest first, one page at a time, with the other sources of each story.
import { getJson } from "./api.js";
import { badge, banner, empty, fill, h } from "./dom.js";
import { formatTime } from "./times.js";

const PAGE = 20;
const KINDS = { positive: "good", negative: "bad", neutral: "" };
const ANALYSTS = { embedded: "the embedded analyst" };

export function storiesView(filters) {
  const count = h("p", { class: "hint", role: "status" });
  const list = h("ol", { class: "stories" });
  const end = h("div", { class: "panel" });
  const card = h("section", { class: "card", "aria-label": "Stories" }, h("header", {}, h("h2", {}, "Stories"), count), list, end);
  let latest = 0;

  async function load(cursor) {
    const current = (latest += 1);
    try {
      const page = await getJson(`/api/v1/articles?${filters.query({ limit: PAGE, cursor })}`);
      if (current !== latest) return;
      filters.addSuggestions(page.articles);
      if (!cursor) fill(list);
      const added = page.articles.map(storyView);
      list.append(...added);
      fill(count, `${list.childElementCount.toLocaleString("en")} of ${page.total.toLocaleString("en")}`);
      fill(end, page.next ? h("button", { type: "button", onclick: () => load(page.next) }, "More stories") : list.childElementCount ? "" : empty("No story matches. Clear a filter, or search for another word."));
      if (cursor) added[0]?.querySelector("a, h3")?.focus();
    } catch (error) {
      if (current !== latest) return;
      fill(count);
      if (!cursor) fill(list);
      fill(end, problem(error), h("div", { class: "row" }, h("button", { type: "button", onclick: () => load(cursor) }, "Try again")));
    }
  }

  function problem(error) {
    if (error.status === 503) return banner(`No news yet. ${sentence(error.message)}`, "warn");
    return filters.showErrors(error) ? banner("A filter is invalid: correct the marked field.") : banner(error.message);
  }

  return { card, refresh: () => load("") };
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/([^.])$/, "$1.");

function storyView(story) {
  const summary = story.aiSummary ?? story.description;
  return h(
    "li",
    { class: "story" },
    h("h3", {}, externalLink(story.link, story.title)),
    h(
      "div",
      { class: "about" },
      story.sentiment ? badge(story.sentiment, KINDS[story.sentiment]) : badge("no sentiment yet"),
      story.status === "pending" && badge("in progress", "warn"),
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
    h("summary", {}, `${others.length} more ${others.length === 1 ? "source reports" : "sources report"} this`),
    h("ul", { class: "plain" }, others.map((other) => h("li", {}, externalLink(other.link, other.title), ` ${other.source_name ?? ""}${other.pubDate ? `, ${published(other.pubDate)}` : ""}`))),
  );

// Returns a link for a web address; any other address is shown as text.
const externalLink = (link, title) => (/^https?:\/\//i.test(link ?? "") ? h("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, title) : title);

const published = (text) => {
  const time = Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text.replace(" ", "T")}Z`);
  return Number.isNaN(time) ? text : formatTime(time);
};
