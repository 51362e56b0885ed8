// The news page: stories with filters, their sentiment over time, the sources, and the state of the processing.
import { html, render, useMemo } from "../ui/draw.js";
import { TabPanel, Tabs } from "../ui/layout.js";
import { showShell } from "../ui/shell.js";
import { useHash, useSettled } from "../ui/state.js";
import { FilterBar } from "./filter-bar.js";
import { useFilters } from "./filters.js";
import { Processing, Sources } from "./operations.js";
import { Stories, useStories } from "./stories.js";
import { Feeds, Mood, Terms } from "./trends.js";

const TABS = [["stories", "Stories"], ["sources", "Sources"], ["processing", "Processing"]];
const TYPING_MS = 350;

function NewsPage() {
  const [hash, go] = useHash();
  const chosen = TABS.some(([key]) => key === hash) ? hash : "stories";
  return html`<${Tabs} label="Parts of the news" tabs=${TABS} chosen=${chosen} onChoose=${(key) => go(key === "stories" ? "" : key)} />
    <${TabPanel} chosen=${chosen}>
      ${chosen === "stories" && html`<${Reading} />`} ${chosen === "sources" && html`<${Sources} />`} ${chosen === "processing" && html`<${Processing} />`}
    <//>`;
}

function Reading() {
  const [typed, setFilters] = useFilters();
  const filters = useSettled(typed, TYPING_MS);
  const state = useStories(filters);
  const known = useMemo(() => collectKnown(state.stories), [state.stories]);
  const errors = Object.fromEntries((state.error?.fields ?? []).map(({ path, reason }) => [path.replace(/\[.*/, ""), reason]));
  return html`<${FilterBar} filters=${typed} setFilters=${setFilters} errors=${errors} known=${known} />
    <div class="beside">
      <div><${Stories} state=${state} /></div>
      <div><${Mood} filters=${filters} setFilters=${setFilters} /><${Terms} filters=${filters} setFilters=${setFilters} /><${Feeds} filters=${filters} /></div>
    </div>`;
}

// The sources and languages of the stories at hand, as suggestions.
function collectKnown(stories) {
  const names = stories.flatMap((story) => [story, ...(story.alternates ?? [])]).map((each) => each.source_name);
  const unique = (values) => [...new Set(values.filter(Boolean))].sort();
  return { sources: unique(names), languages: unique(stories.map(({ language }) => language)) };
}

showShell("worker-api");
render(html`<${NewsPage} />`, document.getElementById("app"));
