// Calls to the Worker that serves the page: bounded in time, and every failure is a sentence.

const TIMEOUT_MS = 20000;

export class Failed extends Error {
  constructor(message, status = 0, fields = []) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

// Kept here alone: gone when the page is.
let token = "";
export const signIn = (given) => (token = given);
export const isSignedIn = () => token !== "";

export async function request(path, { method = "GET", body, signal, timeout_ms = TIMEOUT_MS, accept = "application/json" } = {}) {
  const headers = { Accept: accept };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const limits = [AbortSignal.timeout(timeout_ms), ...(signal ? [signal] : [])];
  let reply;
  try {
    reply = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: AbortSignal.any(limits) });
  } catch (error) {
    if (signal?.aborted) throw new Failed("Stopped");
    throw new Failed(error.name === "TimeoutError" ? "The service does not answer; it may be down" : "The service cannot be reached");
  }
  if (reply.status === 401 && token) dispatchEvent(new Event("refused"));
  if (!reply.ok) throw await failure(reply);
  return reply;
}

export const getJson = async (path, options) => (await request(path, options)).json();
export const sendJson = async (path, body, options = {}) => (await request(path, { method: "POST", body, ...options })).json();

async function failure(reply) {
  let told = {};
  try {
    told = await reply.json();
  } catch {
    // Not JSON: the status says what there is to say.
  }
  const wait = reply.headers.get("Retry-After");
  const message = told.detail ?? told.error ?? `The service answered with status ${reply.status}`;
  return new Failed(wait ? `${message.replace(/[.\s]*$/, "")}. Try again in ${wait} s.` : message, reply.status, told.errors ?? []);
}

// Server-Sent Events from a POST: calls `on(name, data)` for each, in order.
export async function stream(path, body, on, signal) {
  const reply = await request(path, { method: "POST", body, signal, timeout_ms: 600000, accept: "text/event-stream" });
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) heard(part, on);
  }
}

function heard(part, on) {
  const lines = part.split("\n");
  const name = lines.find((line) => line.startsWith("event: "))?.slice(7);
  const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
  if (name && data.length) on(name, JSON.parse(data.join("\n")));
}

// Repeats `work` every few seconds while the page is looked at; `stop()` ends it.
export function every(seconds, work) {
  let timer = 0;
  let over = false;
  const turn = async () => {
    if (!document.hidden) await work();
    if (!over) timer = setTimeout(turn, seconds * 1000);
  };
  turn();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}
