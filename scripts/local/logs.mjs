// Prints the Workers' logs, each line with the name of its Worker.
const COLOURS = { error: 31, warn: 33 };
const isTerminal = process.stdout.isTTY;

const paint = (text, colour) => (isTerminal && colour ? `\u001b[${colour}m${text}\u001b[0m` : text);

export function printLine(worker, text, level = "log") {
  for (const line of text.split("\n")) console.log(`${paint(`[${worker}]`, 36)} ${paint(line, COLOURS[level])}`);
}

// host.mjs marks each line with the name of its Worker. A line without a mark comes from workerd itself.
export function printLog({ level, message }) {
  const match = /^[\u001d\u001e](.*?)\u001f ?([^]*)$/.exec(message);
  if (match) printLine(match[1], match[2], level);
  else if (level === "error" && !message.startsWith("Uncaught")) printLine("workerd", message, level); // host.mjs has logged this error
}
