// Prints what the Workers log, each line behind its Worker's name.
const COLOURS = { error: 31, warn: 33 };
const terminal = process.stdout.isTTY;

const paint = (text, colour) => (terminal && colour ? `\u001b[${colour}m${text}\u001b[0m` : text);

export function say(worker, text, level = "log") {
  for (const line of text.split("\n")) console.log(`${paint(`[${worker}]`, 36)} ${paint(line, COLOURS[level])}`);
}

// host.mjs marks each line with its Worker's name; a line without a mark is workerd's own.
export function printLog({ level, message }) {
  const marked = /^\u001e(.*?)\u001f ?([^]*)$/.exec(message);
  if (marked) say(marked[1], marked[2], level);
  else if (level === "error" && !message.startsWith("Uncaught")) say("workerd", message, level); // the host told that one
}
