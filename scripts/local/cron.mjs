// Fires the configs' crons as the clock says, once a minute, in UTC.
import { say } from "./logs.mjs";

function matches(field, value, sunday = false) {
  return field.split(",").some((part) => {
    const [range, step = "1"] = part.split("/");
    const [from, to = range.includes("-") || part.includes("/") ? Infinity : from] = range === "*" ? [0, Infinity] : range.split("-").map(Number);
    const values = sunday && value === 0 ? [0, 7] : [value];
    return values.some((each) => each >= from && each <= to && (each - from) % Number(step) === 0);
  });
}

export function isDue(expression, date) {
  const [minute, hour, day, month, weekday] = expression.split(/\s+/);
  return (
    matches(minute, date.getUTCMinutes()) &&
    matches(hour, date.getUTCHours()) &&
    matches(day, date.getUTCDate()) &&
    matches(month, date.getUTCMonth() + 1) &&
    matches(weekday, date.getUTCDay(), true)
  );
}

export function everyMinute(miniflare, configs) {
  const tick = () => {
    const now = new Date();
    for (const { name, triggers } of configs) {
      for (const cron of triggers.crons ?? []) {
        if (!isDue(cron, now)) continue;
        const query = new URLSearchParams({ worker: name, cron, time: String(now.getTime()) });
        miniflare.dispatchFetch(`http://127.0.0.1/cdn-cgi/handler/scheduled?${query}`).then(
          async (reply) => reply.ok || say(name, `cron ${cron}: ${await reply.text()}`, "error"),
          (error) => say(name, `cron ${cron}: ${error.message}`, "error"),
        );
      }
    }
    setTimeout(tick, 60_000 - (Date.now() % 60_000));
  };
  setTimeout(tick, 60_000 - (Date.now() % 60_000));
}
