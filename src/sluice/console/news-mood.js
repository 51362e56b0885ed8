// Sentiment over time, for the filtered stories.
import { getJson } from "./api.js";
import { barChart } from "./charts.js";
import { banner, empty, field, fill, h } from "./dom.js";
import { formatDay, formatTime } from "./times.js";

const STEPS_MS = { hour: 3600000, day: 86400000, week: 604800000 };
const PARTS = { good: "positive", plain: "neutral", bad: "negative", faint: "unknown" };
const MOST_BARS = 48;

export function moodView(filters) {
  const step = h("select", { onchange: refresh }, Object.keys(STEPS_MS).map((name) => h("option", { value: name }, `by ${name}`)));
  step.value = "day";
  const place = h("div", {}, empty("Loading …"));
  const card = h("section", { class: "card" }, h("h2", {}, "Sentiment over time"), field("Interval", step), place);
  let latest = 0;

  async function refresh() {
    const current = (latest += 1);
    try {
      const { buckets, bucket } = await getJson(`/api/v1/sentiment?${filters.query({ bucket: step.value })}`);
      if (current === latest) fill(place, barChart("Stories by sentiment", toBars(buckets, bucket), PARTS));
    } catch (error) {
      if (current === latest) fill(place, error.status === 503 || error.status === 400 ? empty("No data yet") : banner(error.message));
    }
  }
  return { card, refresh };
}

// Adds the empty intervals, which the service leaves out.
function toBars(buckets, bucket) {
  if (!buckets.length) return [];
  const step = STEPS_MS[bucket];
  const rows = new Map(buckets.map((row) => [Date.parse(row.start), row]));
  const last = Date.parse(buckets.at(-1).start);
  const first = Math.max(Date.parse(buckets[0].start), last - (MOST_BARS - 1) * step);
  const format = bucket === "hour" ? formatTime : formatDay;
  return Array.from({ length: (last - first) / step + 1 }, (_, index) => {
    const row = rows.get(first + index * step) ?? {};
    return { label: format(first + index * step), parts: Object.entries(PARTS).map(([kind, name]) => ({ kind, value: row[name] ?? 0 })) };
  });
}
