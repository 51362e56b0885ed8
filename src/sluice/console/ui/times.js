// Times and durations.
import { html, useEffect, useState } from "./draw.js";

const toDate = (time) => new Date(time);
export const formatTime = (time) => toDate(time).toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" });
export const formatClock = (time) => toDate(time).toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
export const formatDay = (time) => toDate(time).toLocaleDateString("en", { month: "short", day: "numeric", timeZone: "UTC" });

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

const largestUnit = (seconds) => UNITS.find(([, size]) => seconds >= size) ?? UNITS.at(-1);

export function formatAgo(time, now = Date.now()) {
  const seconds = (now - toDate(time).getTime()) / 1000;
  const distance = Math.abs(seconds);
  if (distance < 5) return "just now";
  const [unit, size] = largestUnit(distance);
  const text = `${Math.floor(distance / size)} ${unit}`;
  return seconds > 0 ? `${text} ago` : `in ${text}`;
}

const REDRAW_MS = 15000;

// A relative time that stays true; the exact one is in its title.
export function Ago({ time }) {
  const [, redraw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => redraw((count) => count + 1), REDRAW_MS);
    return () => clearInterval(timer);
  }, []);
  return html`<time datetime=${toDate(time).toISOString()} title=${formatTime(time)}>${formatAgo(time)}</time>`;
}
