// Beside the stories: their sentiment over time, what they talk about, and the feeds. All follow the filters.
import { html, useState } from "../ui/draw.js";
import { getJson } from "../ui/api.js";
import { BarChart } from "../ui/charts.js";
import { Select } from "../ui/controls.js";
import { Empty, ErrorBanner, Loading } from "../ui/feedback.js";
import { Icon } from "../ui/icons.js";
import { Card } from "../ui/layout.js";
import { usePolling } from "../ui/state.js";
import { formatDay, formatTime } from "../ui/times.js";
import { toQuery } from "./filters.js";

const STEPS_MS = { hour: 3600000, day: 86400000, week: 604800000 };
const PARTS = { good: "positive", plain: "neutral", bad: "negative", faint: "unknown" };
const MAX_BARS = 48;

const Trend = ({ state, children }) => {
  if (state.data) return children(state.data);
  if (!state.error) return html`<${Loading} />`;
  return state.error.status === 503 || state.error.status === 400 ? html`<${Empty}>No data yet<//>` : html`<${ErrorBanner} error=${state.error} />`;
};

export function Mood({ filters, setFilters }) {
  const [step, setStep] = useState("day");
  const query = toQuery(filters, { bucket: step });
  const state = usePolling(() => getJson(`/api/v1/sentiment?${query}`), 0, query);
  // A click shows the stories of that time.
  const choose = (bars) => (at) => setFilters({ ...filters, from: bars[at].from, to: bars[at].to });
  return html`<${Card} title="Sentiment over time">
    <${Select} label="Interval" value=${step} options=${Object.keys(STEPS_MS).map((name) => [name, `by ${name}`])} onInput=${setStep} />
    <${Trend} state=${state}>
      ${({ buckets, bucket }) => {
        const bars = toBars(buckets, bucket);
        return html`<${BarChart} title="Stories by sentiment" bars=${bars} kinds=${PARTS} onChoose=${choose(bars)} />
          ${bars.length > 0 && html`<p class="hint">Choose a bar to see its stories. Each story counts once, however many sources report it.</p>`}`;
      }}
    <//>
  <//>`;
}

// Adds the empty intervals, which the service leaves out.
function toBars(buckets, bucket) {
  if (!buckets.length) return [];
  const step = STEPS_MS[bucket];
  const rows = new Map(buckets.map((row) => [Date.parse(row.start), row]));
  const last = Date.parse(buckets.at(-1).start);
  const first = Math.max(Date.parse(buckets[0].start), last - (MAX_BARS - 1) * step);
  const format = bucket === "hour" ? formatTime : formatDay;
  const day = (time) => new Date(time).toISOString().slice(0, 10);
  return Array.from({ length: Math.round((last - first) / step) + 1 }, (_, index) => {
    const start = first + index * step;
    const row = rows.get(start) ?? {};
    return { label: format(start), from: day(start), to: day(start + step - 1), parts: Object.entries(PARTS).map(([kind, name]) => ({ kind, value: row[name] ?? 0 })) };
  });
}

const SPANS = [["24", "the last day"], ["168", "the last week"], ["720", "the last 30 days"]];

export function Terms({ filters, setFilters }) {
  const [hours, setHours] = useState("168");
  // Without the search word: stories found by a word mainly contain that word.
  const query = toQuery(filters, { hours, q: "", status: "" });
  const state = usePolling(() => getJson(`/api/v1/trending?${query}`), 0, query);
  const toggle = (term) => setFilters({ ...filters, q: filters.q === term ? "" : term });
  return html`<${Card} title="Trending">
    <${Select} label="Within" value=${hours} options=${SPANS} onInput=${setHours} />
    <${Trend} state=${state}>
      ${({ terms }) =>
        terms.length
          ? html`<ul class="terms">
              ${terms.map(({ term, articles }) => html`<li key=${term}><button type="button" aria-pressed=${String(filters.q === term)} onClick=${() => toggle(term)}>${term} <span class="count">${articles}<span class="visually-hidden"> stories</span></span></button></li>`)}
            </ul>`
          : html`<${Empty}>No term is trending in this period. Choose a longer one.<//>`}
    <//>
  <//>`;
}

const FEEDS = { RSS: "rss", Atom: "atom", "JSON Feed": "json" };

export function Feeds({ filters }) {
  const query = toQuery(filters, { status: "" }); // a feed contains only finished stories
  return html`<${Card} title="Feeds and API">
    <p class="hint">With the filters of this page: summaries and links, not the full text of a source.</p>
    <ul class="terms">
      ${Object.entries(FEEDS).map(([title, name]) => html`<li><a class="button" href="/api/v1/feed.${name}${query && `?${query}`}"><${Icon} name="feed" />${title}</a></li>`)}
      <li><a class="button" href="/api/v1/articles${query && `?${query}`}">JSON</a></li>
      <li><a class="button" href="/docs">API</a></li>
    </ul>
  <//>`;
}
