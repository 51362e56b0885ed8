// Counts the log of fetches in a fixed window of time that ends now.
import { formatClock, formatTime } from "../ui/times.js";

export const FAILED = new Set(["failed", "retry"]);
export const OUTCOMES = { good: "warmed", plain: "other", bad: "failed" };
const WARMED = new Set(["warmed", "unchanged", "edge_only"]);
// The length of a window and of its intervals, in seconds.
const SPANS_S = { "15m": [900, 30], "1h": [3600, 120], "24h": [86_400, 3600], "7d": [604_800, 21_600] };
export const WINDOWS = [["15m", "15 min"], ["1h", "1 h"], ["24h", "24 h"], ["7d", "7 days"]];
const DAY_S = 86_400;

// rows: newest first; `isCut` says that the log has older rows than these. Intervals before the oldest row are then unknown, and have no bar.
export function countByTime(rows, chosen, isCut, now_ms = Date.now()) {
  const [span_s, step_s] = SPANS_S[chosen];
  const end = Math.floor(now_ms / 1000 / step_s) + 1;
  const begin = end - span_s / step_s;
  const counts = Array.from({ length: end - begin }, () => ({ good: 0, plain: 0, bad: 0 }));
  for (const { created_at: at, status } of rows) {
    const count = counts[Math.floor(Date.parse(at) / 1000 / step_s) - begin];
    if (count) count[FAILED.has(status) ? "bad" : WARMED.has(status) ? "good" : "plain"] += 1;
  }
  const known = isCut ? Math.floor(Date.parse(rows.at(-1).created_at) / 1000 / step_s) : begin;
  const at = (index) => (begin + index) * step_s * 1000;
  const format = span_s > DAY_S ? formatTime : formatClock;
  return {
    step_s,
    from: at(0),
    to: at(counts.length),
    isPartial: known > begin,
    bars: counts.map((count, index) => ({ label: format(at(index)), parts: Object.entries(count).map(([kind, value]) => ({ kind, value: begin + index < known ? 0 : value })) })),
    rates: counts.map(({ good, plain, bad }, index) => ({ at: at(index), value: good + plain + bad ? bad / (good + plain + bad) : null })),
  };
}
