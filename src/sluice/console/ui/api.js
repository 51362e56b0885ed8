// Calls the Worker that serves the page. Every call has a timeout, and every error has a readable message.

const TIMEOUT_MS = 20000;
const TOKEN_KEY = "sluice-token";

export class RequestError extends Error {
  constructor(message, status = 0, fields = []) {
    super(message);
    this.status = status;
    this.fields = fields;
  }

  // Everything that is known, in one sentence: the bad fields if the service names them.
  get summary() {
    return this.fields.map(({ path, reason }) => `${path} ${reason}`).join("; ") || this.message;
  }
}

// The token lives as long as the tab: it survives a reload, and no other tab sees it.
export function readToken() {
  try {
    return sessionStorage.getItem(TOKEN_KEY) ?? "";
  } catch {
    return "";
  }
}

export function signIn(token) {
  try {
    if (token) sessionStorage.setItem(TOKEN_KEY, token);
    else sessionStorage.removeItem(TOKEN_KEY);
  } catch {
    // Without storage nobody stays signed in.
  }
  dispatchEvent(new Event("signed"));
}

export async function request(path, { method = "GET", body, signal, timeout_ms = TIMEOUT_MS, accept = "application/json", token = readToken() } = {}) {
  const headers = { Accept: accept };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const limits = [AbortSignal.timeout(timeout_ms), ...(signal ? [signal] : [])];
  let reply;
  try {
    reply = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: AbortSignal.any(limits) });
  } catch (error) {
    if (signal?.aborted) throw new RequestError("Stopped");
    throw new RequestError(error.name === "TimeoutError" ? "The service does not answer; it may be down. Try again later." : "The service cannot be reached. Check your connection and try again.");
  }
  if (reply.status === 401 && token && token === readToken()) signIn("");
  if (!reply.ok) throw await toError(reply);
  return reply;
}

export const getJson = async (path, options) => (await request(path, options)).json();
export const sendJson = async (path, body, options = {}) => (await request(path, { method: "POST", body, ...options })).json();

async function toError(reply) {
  let problem = {};
  try {
    problem = await reply.json();
  } catch {
    // Not JSON: only the status is known.
  }
  const wait = reply.headers.get("Retry-After");
  const message = problem.detail ?? problem.error ?? `The service answered with status ${reply.status}`;
  return new RequestError(wait ? `${message.replace(/[.\s]*$/, "")}. Try again in ${wait} s.` : message, reply.status, problem.errors ?? []);
}

// Sends a POST and calls `on(name, data)` for each Server-Sent Event of the reply, in order.
export async function streamEvents(path, body, on, signal) {
  const reply = await request(path, { method: "POST", body, signal, timeout_ms: 600000, accept: "text/event-stream" });
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await read(reader, signal);
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) handleEvent(part, on);
  }
}

async function read(reader, signal) {
  try {
    return await reader.read();
  } catch {
    throw new RequestError(signal?.aborted ? "Stopped" : "The connection broke before the end. Try again.");
  }
}

function handleEvent(part, on) {
  const lines = part.split("\n");
  const name = lines.find((line) => line.startsWith("event: "))?.slice(7);
  const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
  if (name && data.length) on(name, JSON.parse(data.join("\n")));
}
