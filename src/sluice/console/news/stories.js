// The stories, newest first, a page at a time.
import { formatNumber, html, useEffect, useRef, useState } from "../ui/draw.js";
import { getJson } from "../ui/api.js";
import { Button } from "../ui/controls.js";
import { Badge, Banner, Empty, Loading } from "../ui/feedback.js";
import { toQuery } from "./filters.js";
import { Story } from "./story.js";

const PAGE = 20;

// Loads the first page for a query and more on demand. Replies that come too late are ignored.
export function useStories(filters) {
  const query = toQuery(filters, { limit: PAGE });
  const [state, setState] = useState({ stories: [], total: null, next: "", error: null, isLoading: true });
  const latest = useRef(0);
  const load = async (cursor, before) => {
    const own = (latest.current += 1);
    setState((now) => ({ ...now, error: null, isLoading: true })); // the old stories stay until the new ones are here
    try {
      const page = await getJson(`/api/v1/articles?${toQuery(filters, { limit: PAGE, cursor })}`);
      if (own === latest.current) setState({ stories: [...before.stories, ...page.articles], total: page.total, next: page.next ?? "", error: null, isLoading: false });
    } catch (error) {
      if (own === latest.current) setState({ ...before, error, isLoading: false });
    }
  };
  const start = () => load("", { stories: [], total: null, next: "" });
  useEffect(() => void start(), [query]);
  return { ...state, more: () => load(state.next, state), start };
}

export function Stories({ state }) {
  const { stories, total, next, error, isLoading } = state;
  return html`<section class="card" aria-label="Stories">
    <header><h2>Stories</h2><p class="hint" role="status">${total === null ? "" : `${formatNumber(stories.length)} of ${formatNumber(total)}`}</p></header>
    <ol class="stories">${stories.map((story) => html`<${Story} key=${story.id} story=${story} />`)}</ol>
    ${isLoading && html`<${Loading} />`}
    ${error && html`<${Problem} error=${error} />`}
    ${!error && !isLoading && !stories.length && html`<${Empty} title="No story matches.">Clear a filter, or search for another word.<//>`}
    <div class="row">
      ${error && html`<${Button} icon="refresh" onClick=${next ? state.more : state.start}>Try again<//>`} ${next && !error && !isLoading && html`<${Button} onClick=${state.more}>More stories<//>`}
    </div>
  </section>`;
}

function Problem({ error }) {
  if (error.status === 503) return html`<${Banner} kind="warn">No news yet: the updater looks for articles every hour, and the processor works on one each minute. Come back soon, or look under Processing.<//>`;
  return html`<${Banner}>${error.fields.length ? "A filter is invalid: correct the marked field." : error.message}<//>`;
}
