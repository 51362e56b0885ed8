// Counts the log of fetches by time.
import { formatClock, formatTime } from "../ui/times.js";

export const FAILED = new Set(["failed", "retry"]);
export const OUTCOMES = { good: "warmed", plain: "other", bad: "failed" };
const WARMED = new Set(["warmed", "unchanged", "edge_only"]);
const STEPS_S = [10, 60, 300, 1800, 7200, 86400];
const MOST_BARS = 40;

// rows: newest first. Returns one bar for each interval from the first to the last row, including empty ones.
export function countByTime(rows) {
  const times = rows.map(({ created_at: at }) => Date.parse(at) / 1000);
  if (!times.length) return { step_s: STEPS_S[0], bars: [], rates: [] };
  const [first, last] = [times.at(-1), times[0]];
  const step_s = STEPS_S.find((size) => (last - first) / size < MOST_BARS) ?? STEPS_S.at(-1);
  const begin = Math.floor(first / step_s);
  const counts = Array.from({ length: Math.min(Math.floor(last / step_s) - begin + 1, MOST_BARS) }, () => ({ good: 0, plain: 0, bad: 0 }));
  rows.forEach(({ status }, at) => {
    const count = counts[Math.floor(times[at] / step_s) - begin];
    if (count) count[FAILED.has(status) ? "bad" : WARMED.has(status) ? "good" : "plain"] += 1;
  });
  const at = (index) => (begin + index) * step_s * 1000;
  const format = step_s < 1800 ? formatClock : formatTime;
  return {
    step_s,
    bars: counts.map((count, index) => ({ label: format(at(index)), parts: Object.entries(count).map(([kind, value]) => ({ kind, value })) })),
    rates: counts.map(({ good, plain, bad }, index) => ({ at: at(index), value: good + plain + bad ? bad / (good + plain + bad) : null })),
  };
}
