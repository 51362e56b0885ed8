// Runs the configs' crons at their times in UTC. Weekdays count as on Cloudflare: Sunday is 1.
import { printLine } from "./logs.mjs";
import { UserError } from "./user_error.mjs";

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const PART = /^(\*|\d+(?:-\d+)?)(?:\/(\d+))?$/;

const replaceNames = (field, names) => names.reduce((text, name, at) => text.replaceAll(name, at + 1), field.toLowerCase());

function matches(expression, field, value) {
  return field.split(",").some((part) => {
    const parsed = PART.exec(part);
    if (!parsed) throw new UserError(`--cron: ${part} in the cron "${expression}" is not supported by --cron; start without --cron and run it by hand`);
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
    [replaceNames(month, MONTHS), date.getUTCMonth() + 1],
    [replaceNames(weekday, WEEKDAYS), date.getUTCDay() + 1],
  ];
  // All fields are read, so that a wrong one is found at once.
  return fields.map(([field, value]) => matches(expression, field, value)).every(Boolean);
}

function runCron(miniflare, name, cron, time) {
  const query = new URLSearchParams({ worker: name, cron, time: String(time) });
  miniflare.dispatchFetch(`http://127.0.0.1/cdn-cgi/handler/scheduled?${query}`).then(
    async (reply) => reply.ok || printLine(name, `cron ${cron}: ${await reply.text()}`, "error"),
    (error) => printLine(name, `cron ${cron}: ${error.message}`, "error"),
  );
}

export function scheduleCrons(miniflare, configs) {
  const crons = configs.flatMap(({ name, triggers }) => (triggers.crons ?? []).map((cron) => [name, cron]));
  for (const [, cron] of crons) isDue(cron, new Date());
  const waitForMinute = () => setTimeout(runDueCrons, 60_000 - (Date.now() % 60_000));
  const runDueCrons = () => {
    const now = new Date();
    for (const [name, cron] of crons) if (isDue(cron, now)) runCron(miniflare, name, cron, now.getTime());
    waitForMinute();
  };
  waitForMinute();
}
