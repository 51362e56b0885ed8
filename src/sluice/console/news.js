// The news page: stories with filters, sentiment over time, trending terms, and the state of the processing.
import { byId, h, tabs } from "./dom.js";
import { filterForm } from "./news-filters.js";
import { moodView } from "./news-mood.js";
import { processingPanel } from "./news-processing.js";
import { storiesView } from "./news-stories.js";
import { termsView } from "./news-terms.js";
import { showShell } from "./shell.js";

showShell("worker-api");
const filters = filterForm(refresh);
const stories = storiesView(filters);
const mood = moodView(filters);
const terms = termsView(filters);
const processing = processingPanel();
const reading = h("div", { class: "panel" }, filters.card, h("div", { class: "beside" }, h("div", {}, stories.card), h("div", {}, mood.card, terms.card, filters.feeds)));

function refresh() {
  stories.refresh();
  mood.refresh();
  terms.refresh();
}

byId("main").append(
  h("div", {}, h("h1", {}, "Bitcoin news"), h("p", { class: "lead" }, "News from many sources: each story once, with its sentiment and a summary.")),
  tabs("Parts of the news", [
    ["Stories", reading],
    ["Processing", processing.panel, processing.refresh],
  ]),
  reading,
  processing.panel,
);
refresh();
