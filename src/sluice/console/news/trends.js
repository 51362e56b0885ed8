// Beside the stories: their sentiment over time, what they talk about, and the feeds. All follow the filters.
import { countOf, formatNumber, html, useState } from "../ui/draw.js";
import { getJson } from "../ui/api.js";
import { BarChart } from "../ui/charts.js";
import { Segments, Select } from "../ui/controls.js";
import { Empty, ErrorBanner, Loading } from "../ui/feedback.js";
import { Icon } from "../ui/icons.js";
import { Card } from "../ui/layout.js";
import { usePolling } from "../ui/state.js";
import { formatDay, formatTime } from "../ui/times.js";
import { isDay, toQuery } from "./filters.js";

const STEPS_MS = { hour: 3600000, day: 86400000, week: 604800000 };
const DAY_MS = STEPS_MS.day;
// The interval of the bars, and how many of them a window has that ends now.
const SPANS = { "24h": ["hour", 24], "30d": ["day", 30], "1y": ["week", 52] };
const WINDOWS = [["24h", "24 h"], ["30d", "30 days"], ["1y", "1 year"]];
const PARTS = { good: "positive", plain: "neutral", bad: "negative", faint: "unknown" };
const MAX_BARS = 62;

const Trend = ({ state, children }) => {
  if (state.data) return children(state.data);
  if (!state.error) return html`<${Loading} />`;
  return state.error.status === 503 || state.error.status === 400 ? html`<${Empty}>No data yet<//>` : html`<${ErrorBanner} error=${state.error} />`;
};

export function Mood({ filters, setFilters }) {
  const [chosen, setChosen] = useState("30d");
  const [step] = SPANS[chosen];
  const query = toQuery(filters, { bucket: step });
  const state = usePolling((options) => getJson(`/api/v1/sentiment?${query}`, options), 0, query);
  // A click shows the stories of that time.
  const choose = (bars) => (at) => setFilters({ ...filters, from: bars[at].from, to: bars[at].to });
  return html`<${Card} title="Sentiment over time" actions=${html`<${Segments} label="Time window" value=${chosen} options=${WINDOWS} onChange=${setChosen} />`}>
    <${Trend} state=${state}>
      ${({ buckets, bucket }) => {
        const bars = toBars(buckets, bucket, findWindow(filters, chosen));
        const all = countStories(buckets.map((row) => Object.values(PARTS).map((name) => row[name] ?? 0)));
        const shown = countStories(bars.map(({ parts }) => parts.map(({ value }) => value)));
        return html`<${BarChart} title="Stories by sentiment" bars=${bars} kinds=${PARTS} onChoose=${choose(bars)} />
          ${bars.length > 0 && html`<p class="hint">${shown === all ? countOf(all, "story", "stories") : `${formatNumber(shown)} of ${countOf(all, "story", "stories")} are in this window`}. Choose a bar to see its stories.</p>`}`;
      }}
    <//>
  <//>`;
}

const countStories = (rows) => rows.flat().reduce((sum, value) => sum + value, 0);

// The days that the filters name, else the chosen window, which ends now.
function findWindow({ from, to }, chosen, now = Date.now()) {
  const [step, bars] = SPANS[chosen];
  const end = to ? Date.parse(to) + (isDay(to) ? DAY_MS : 1000) : now;
  return [from ? Date.parse(from) : end - (bars - 1) * STEPS_MS[step], end - 1];
}

// One bar for each interval of the window, including the empty ones, which the service leaves out.
function toBars(buckets, bucket, [begin, end]) {
  if (!buckets.length) return [];
  const step = STEPS_MS[bucket];
  const rows = new Map(buckets.map((row) => [Date.parse(row.start), row]));
  const floor = (time) => time - ((((time - Date.parse(buckets[0].start)) % step) + step) % step);
  const last = floor(end);
  const first = Math.max(floor(begin), last - (MAX_BARS - 1) * step);
  const format = bucket === "hour" ? formatTime : formatDay;
  const write = (time) => new Date(time).toISOString().slice(0, bucket === "hour" ? 19 : 10) + (bucket === "hour" ? "Z" : "");
  return Array.from({ length: Math.round((last - first) / step) + 1 }, (_, index) => {
    const start = first + index * step;
    const row = rows.get(start) ?? {};
    return { label: format(start), from: write(start), to: write(start + step - 1), parts: Object.entries(PARTS).map(([kind, name]) => ({ kind, value: row[name] ?? 0 })) };
  });
}

const PERIODS = [["24", "the last day"], ["168", "the last week"], ["720", "the last 30 days"]];

export function Terms({ filters, setFilters }) {
  const [hours, setHours] = useState("168");
  // Without the search word: stories found by a word mainly contain that word.
  const query = toQuery(filters, { hours, q: "", status: "" });
  const state = usePolling((options) => getJson(`/api/v1/trending?${query}`, options), 0, query);
  const toggle = (term) => setFilters({ ...filters, q: filters.q === term ? "" : term });
  return html`<${Card} title="Trending">
    <${Select} label="Within" value=${hours} options=${PERIODS} onInput=${setHours} />
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
