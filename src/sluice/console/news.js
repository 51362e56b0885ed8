// The news page: stories to read and to find, how the mood goes, what is talked about, how the pipeline stands.
import { byId, h, tabs } from "./dom.js";
import { filterForm } from "./news-filters.js";
import { moodView } from "./news-mood.js";
import { pipelinePanel } from "./news-pipeline.js";
import { storiesView } from "./news-stories.js";
import { termsView } from "./news-terms.js";
import { shell } from "./shell.js";

shell("worker-api");
const filters = filterForm(changed);
const stories = storiesView(filters);
const mood = moodView(filters);
const terms = termsView(filters);
const pipeline = pipelinePanel();
const reading = h("div", { class: "panel" }, filters.card, h("div", { class: "beside" }, h("div", {}, stories.card), h("div", {}, mood.card, terms.card, filters.feeds)));

function changed() {
  stories.refresh();
  mood.refresh();
  terms.refresh();
}

byId("main").append(
  h("div", {}, h("h1", {}, "Bitcoin news"), h("p", { class: "lead" }, "From many sources, each story once, with its sentiment and a summary.")),
  tabs("Parts of the news", [
    ["Stories", reading],
    ["Pipeline", pipeline.panel, pipeline.refresh],
  ]),
  reading,
  pipeline.panel,
);
changed();
