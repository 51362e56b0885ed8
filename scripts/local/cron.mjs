// Fires the configs' crons as the clock says, once a minute, in UTC; weekdays count as on Cloudflare, from 1 for Sunday.
import { say } from "./logs.mjs";
import { Mistake } from "./mistake.mjs";

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const PART = /^(\*|\d+(?:-\d+)?)(?:\/(\d+))?$/;

const numbered = (field, names) => names.reduce((text, name, at) => text.replaceAll(name, at + 1), field.toLowerCase());

function matches(expression, field, value) {
  return field.split(",").some((part) => {
    const parsed = PART.exec(part);
    if (!parsed) throw new Mistake(`--cron: ${part} in the cron "${expression}" is not understood here; leave --cron out`);
    const [, range, step] = parsed;
    const [from, to = step ? Infinity : from] = range === "*" ? [0, Infinity] : range.split("-").map(Number);
    return value >= from && value <= to && (value - from) % Number(step ?? 1) === 0;
  });
}

export function isDue(expression, date) {
  const [minute, hour, day, month, weekday] = expression.trim().split(/\s+/);
  const fields = [
    [minute, date.getUTCMinutes()],
    [hour, date.getUTCHours()],
    [day, date.getUTCDate()],
    [numbered(month, MONTHS), date.getUTCMonth() + 1],
    [numbered(weekday, WEEKDAYS), date.getUTCDay() + 1],
  ];
  // All are read, so that a mistake is found at once and not when the others happen to match.
  return fields.map(([field, value]) => matches(expression, field, value)).every(Boolean);
}

function fire(miniflare, name, cron, time) {
  const query = new URLSearchParams({ worker: name, cron, time: String(time) });
  miniflare.dispatchFetch(`http://127.0.0.1/cdn-cgi/handler/scheduled?${query}`).then(
    async (reply) => reply.ok || say(name, `cron ${cron}: ${await reply.text()}`, "error"),
    (error) => say(name, `cron ${cron}: ${error.message}`, "error"),
  );
}

export function everyMinute(miniflare, configs) {
  const crons = configs.flatMap(({ name, triggers }) => (triggers.crons ?? []).map((cron) => [name, cron]));
  for (const [, cron] of crons) isDue(cron, new Date());
  const wait = () => setTimeout(tick, 60_000 - (Date.now() % 60_000));
  const tick = () => {
    const now = new Date();
    for (const [name, cron] of crons) if (isDue(cron, now)) fire(miniflare, name, cron, now.getTime());
    wait();
  };
  wait();
}
