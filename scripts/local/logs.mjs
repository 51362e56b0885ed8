// Prints the Workers' logs: one readable line for each event on a terminal, one JSON object a line anywhere else.
// On a terminal a few lines, such as the addresses of the Workers, stay below the log.
const { stdout } = process;
const COLOURS = { error: 31, warn: 33, warning: 33 };
const WORKER_COLOURS = [36, 35, 34, 32, 33, 96];
const HIDDEN = new Set(["time", "level", "worker", "event", "message"]);
const NAME_WIDTH = 22;
const MAX_VALUE_CHARS = 80;

let isReadable = Boolean(stdout.isTTY);
let footer = [];
const workers = [];

export const useJson = () => (isReadable = false);

const paint = (text, ...codes) => (isReadable ? `\u001b[${codes.join(";")}m${text}\u001b[0m` : text);
const colourOf = (worker) => {
  if (!workers.includes(worker)) workers.push(worker);
  return WORKER_COLOURS[workers.indexOf(worker) % WORKER_COLOURS.length];
};

// Writes above the footer, which stays the last thing on the screen.
function write(text) {
  if (!footer.length) return stdout.write(`${text}\n`);
  stdout.write(`\u001b[${footer.length}A\u001b[0J${text}\n${drawFooter()}`);
}

const drawFooter = () => footer.map((line) => `${paint(line.slice(0, (stdout.columns || 80) - 1), 2)}\n`).join("");

// Shows these lines below everything that follows; only on a terminal.
export function setFooter(lines) {
  if (!isReadable) return;
  footer = ["", ...lines];
  stdout.write(drawFooter());
}

// Prints a line that people and scripts wait for, without colours.
export const printPlain = (text) => write(text);

export function printLine(worker, text, level = "log") {
  for (const line of text.split("\n")) write(isReadable ? formatLine(new Date(), worker, paint(escapeControls(line), COLOURS[level] ?? 39)) : escapeControls(toJson(worker, line, level)));
}

const toJson = (worker, line, level) => parseEvent(line) ? line : JSON.stringify({ time: new Date().toISOString(), level: level === "log" ? "info" : level, worker, message: line });

function parseEvent(line) {
  if (!line.startsWith("{")) return undefined;
  try {
    const event = JSON.parse(line);
    return event.event ? event : undefined;
  } catch {
    return undefined;
  }
}

const formatLine = (time, worker, text) => `${paint(time.toTimeString().slice(0, 8), 2)} ${paint(escapeControls(worker).padEnd(NAME_WIDTH), colourOf(worker))} ${text}`;

// What a caller or an origin has named must not move the cursor, begin a line of its own or turn the direction of the text.
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const escapeControls = (text) => String(text).replace(CONTROLS, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);

const shortenIds = (text) => escapeControls(text).replace(/[0-9a-f]{24,}/g, (id) => `${id.slice(0, 8)}…`);

// A value for a line that people read: of a list its length, of an id its beginning.
const shorten = (value) => {
  if (Array.isArray(value) && value.length > 1) return String(value.length);
  const text = shortenIds(typeof value === "string" ? value : JSON.stringify(value));
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
};

const isEmpty = (value) => value === "" || value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0);

// One line: time, Worker, event, what it says, and its values.
export function formatEvent(event) {
  const message = event.message ? shortenIds(event.message) : "";
  // What the message says already is not said again.
  const values = Object.entries(event).filter(([name, value]) => !HIDDEN.has(name) && !isEmpty(value) && !(typeof value === "string" && event.message?.includes(value)));
  const details = values.map(([name, value]) => `${paint(`${escapeControls(name)}=`, 2)}${shorten(value)}`);
  const title = paint(escapeControls(event.event), 1, COLOURS[event.level] ?? 39);
  return formatLine(new Date(event.time ?? Date.now()), event.worker ?? "", [title, message, ...details].filter(Boolean).join(" "));
}

// host.mjs marks each line with the name of its Worker. A line without a mark comes from workerd itself.
export function printLog({ level, message }) {
  const match = /^[\u001d\u001e](.*?)\u001f ?([^]*)$/.exec(message);
  if (match) printEvent(match[1], match[2], level);
  else if (level === "error" && !message.startsWith("Uncaught")) printLine("workerd", message, level); // host.mjs has logged this error
}

function printEvent(worker, text, level) {
  const event = isReadable && parseEvent(text);
  if (event) write(formatEvent({ worker, ...event }));
  else printLine(worker, text, level);
}
