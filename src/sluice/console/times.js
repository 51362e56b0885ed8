// Formats times and durations.

export const formatTime = (milliseconds) => new Date(milliseconds).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
export const formatClock = (milliseconds) => new Date(milliseconds).toLocaleTimeString("en");
export const formatDay = (milliseconds) => new Date(milliseconds).toLocaleDateString("en", { month: "short", day: "numeric", timeZone: "UTC" });

const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

// Returns the two largest units, such as 1 h 5 min.
export function formatDuration(seconds) {
  const whole = Math.round(seconds);
  const at = UNITS.findIndex(([, size]) => whole >= size);
  if (at < 0) return "0 s";
  let rest = whole;
  const parts = UNITS.slice(at, at + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return count ? `${count} ${unit}` : "";
  });
  return parts.filter(Boolean).join(" ");
}
