// A cache in front of a Worker as Cloudflare documents it for Workers Cache: developers.cloudflare.com/workers/cache. It does what
// the documentation promises and no more: a reply is kept only if its own headers say for how long.
const MAX_ENTRIES = 1000;
const MAX_BYTES = 64 * 1024 * 1024; // of all bodies; this is memory of the local runtime
const CONDITIONS = ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range"];

const parseControl = (text) => Object.fromEntries((text ?? "").toLowerCase().split(",").map((part) => part.trim().split("=")));
const seconds = (text) => (/^\d+$/.test(text ?? "") ? Number(text) : undefined);
const splitNames = (text) => (text ?? "").toLowerCase().split(",").map((name) => name.trim()).filter(Boolean);
const withStatus = (response, status) => {
  const copy = new Response(response.body, response);
  copy.headers.set("Cf-Cache-Status", status);
  return copy;
};

// A request that could be answered with another's reply: no credentials, no part of a body, no upgrade.
export const isCacheable = ({ method, headers }) =>
  (method === "GET" || method === "HEAD") && !["authorization", "range", "upgrade"].some((name) => headers.has(name));

// Returns how long a reply may be used, in seconds, or undefined if it must not be kept.
function readLifetime({ status, headers }) {
  const control = parseControl(headers.get("cloudflare-cdn-cache-control") ?? headers.get("cdn-cache-control") ?? headers.get("cache-control"));
  const fresh = "no-cache" in control ? 0 : (seconds(control["s-maxage"]) ?? seconds(control["max-age"]));
  const isRefused = "private" in control || "no-store" in control || headers.has("set-cookie") || splitNames(headers.get("vary")).includes("*");
  if (isRefused || fresh === undefined || status === 206 || status === 304 || status >= 500) return undefined;
  return { fresh, stale: "must-revalidate" in control ? 0 : (seconds(control["stale-while-revalidate"]) ?? 0) };
}

class Entry {
  constructor(key, request, response, body, lifetime, now) {
    const { status, statusText, headers } = response;
    Object.assign(this, { key, status, statusText, body, lifetime, storedAt: now, headers: [...headers], tags: splitNames(headers.get("cache-tag")) });
    this.vary = splitNames(headers.get("vary")).map((name) => [name, request.headers.get(name)]);
  }

  matches = (request) => this.vary.every(([name, value]) => request.headers.get(name) === value);
  ageAt = (now) => Math.max(0, Math.floor((now - this.storedAt) / 1000));
  isFreshAt = (now) => this.ageAt(now) < this.lifetime.fresh;
  isUsableAt = (now) => this.ageAt(now) < this.lifetime.fresh + this.lifetime.stale;

  // A 304 confirms the copy: its headers replace those of the copy.
  refresh(response, now) {
    const fresh = new Headers(this.headers);
    for (const [name, value] of response.headers) fresh.set(name, value);
    Object.assign(this, { headers: [...fresh], storedAt: now, lifetime: readLifetime({ status: 200, headers: fresh }) ?? this.lifetime });
  }

  respond(request, status, now) {
    const headers = new Headers(this.headers);
    headers.set("Age", String(this.ageAt(now)));
    headers.set("Cf-Cache-Status", status);
    if (isCurrent(request, headers)) return new Response(null, { status: 304, headers });
    return new Response(request.method === "HEAD" ? null : this.body, { status: this.status, statusText: this.statusText, headers, encodeBody: "manual" });
  }
}

// Whether the visitor has this copy already.
function isCurrent(request, headers) {
  const known = request.headers.get("if-none-match");
  const plain = (tag) => tag.trim().replace(/^W\//, "");
  if (known !== null) return headers.has("etag") && (known.trim() === "*" || known.split(",").map(plain).includes(plain(headers.get("etag"))));
  const since = Date.parse(request.headers.get("if-modified-since"));
  return headers.has("last-modified") && Date.parse(headers.get("last-modified")) <= since;
}

export class ResponseCache {
  #entries = new Map(); // by path and query; each is a list, one for every variant
  #pending = new Map(); // the request that fills a key now
  #bytes = 0;

  constructor(now = Date.now) {
    this.now = now;
  }

  // `origin` runs the Worker, `defer` keeps a promise alive after the reply, and the request is one that `isCacheable` takes.
  async fetch(request, origin, defer) {
    const { pathname, search } = new URL(request.url);
    const key = pathname + search; // the host is not part of it
    const entry = this.#find(key, request);
    if (entry?.isFreshAt(this.now())) return entry.respond(request, "HIT", this.now());
    if (entry?.isUsableAt(this.now())) {
      if (!this.#pending.has(key)) defer(this.#fill(key, request, origin, entry).catch(() => {}));
      return entry.respond(request, "UPDATING", this.now());
    }
    return this.#collapse(key, request, origin, entry);
  }

  purge({ tags = [], pathPrefixes = [], purgeEverything = false }) {
    const gone = new Set(tags.map((tag) => tag.toLowerCase()));
    const isPurged = ({ key, tags: kept }) => purgeEverything || kept.some((tag) => gone.has(tag)) || pathPrefixes.some((prefix) => key.startsWith(prefix));
    for (const entry of [...this.#entries.values()].flat()) if (isPurged(entry)) this.#remove(entry);
    for (const filling of this.#pending.values()) filling.isPurged = true; // what was made before the purge is not kept
    return { success: true, errors: [] };
  }

  #find = (key, request) => this.#entries.get(key)?.find((entry) => entry.matches(request));

  // The first request runs the Worker. Those that come meanwhile wait, and run it only if they cannot have the same reply.
  async #collapse(key, request, origin, stale) {
    const pending = this.#pending.get(key);
    if (!pending) return this.#fill(key, request, origin, stale);
    await pending.promise.catch(() => {});
    const entry = this.#find(key, request);
    if (entry?.isFreshAt(this.now())) return entry.respond(request, "HIT", this.now());
    return withStatus(await origin(request), "MISS");
  }

  #fill(key, request, origin, stale) {
    const filling = { isPurged: false };
    filling.promise = this.#ask(key, request, origin, stale, filling).finally(() => this.#pending.delete(key));
    this.#pending.set(key, filling);
    return filling.promise;
  }

  async #ask(key, request, origin, stale, filling) {
    const headers = new Headers(request.headers);
    for (const name of CONDITIONS) headers.delete(name); // the cache needs the whole reply
    const etag = new Headers(stale?.headers).get("etag");
    if (etag) headers.set("If-None-Match", etag);
    const response = await origin(new Request(request.url, { method: "GET", headers, redirect: "manual" }));
    if (stale && response.status === 304) {
      stale.refresh(response, this.now());
      return stale.respond(request, "REVALIDATED", this.now());
    }
    const lifetime = readLifetime(response);
    if (stale) this.#remove(stale);
    if (!lifetime) return withStatus(request.method === "HEAD" ? new Response(null, response) : response, "BYPASS");
    const entry = new Entry(key, request, response, await response.arrayBuffer(), lifetime, this.now());
    if (!filling.isPurged) this.#keep(entry);
    return entry.respond(request, stale ? "EXPIRED" : "MISS", this.now());
  }

  #keep(entry) {
    if (entry.body.byteLength > MAX_BYTES) return;
    this.#entries.set(entry.key, [...(this.#entries.get(entry.key) ?? []), entry]);
    this.#bytes += entry.body.byteLength;
    const oldest = [...this.#entries.values()].flat();
    while (oldest.length > MAX_ENTRIES || this.#bytes > MAX_BYTES) this.#remove(oldest.shift());
  }

  #remove(entry) {
    const rest = (this.#entries.get(entry.key) ?? []).filter((other) => other !== entry);
    if (rest.length === (this.#entries.get(entry.key) ?? []).length) return;
    this.#bytes -= entry.body.byteLength;
    if (rest.length) this.#entries.set(entry.key, rest);
    else this.#entries.delete(entry.key);
  }
}
