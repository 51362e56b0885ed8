// The Worker behind the local port: routes by host name, keeps public replies, runs crons by hand, and hides stack traces.
import { DurableObject } from "cloudflare:workers";
import { ResponseCache, isCacheable } from "./response_cache.mjs";
import settings from "./settings.json.txt";

const { routes, fallback, workers, cached } = JSON.parse(settings);
const PLAIN = { "Content-Type": "text/plain; charset=utf-8" };

const textReply = (body, status) => new Response(`${body}\n`, { status, headers: PLAIN });

// A route is `host` or `host/path`, where * matches anything, as in a wrangler config.
const patterns = routes.map(([pattern, worker]) => {
  const whole = pattern.includes("/") ? pattern : `${pattern}/*`;
  return [new RegExp(`^${whole.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&")).join(".*")}$`, "i"), worker];
});

function findWorker({ hostname, pathname }) {
  const address = hostname.replace(/\.$/, "") + pathname;
  return patterns.find(([pattern]) => pattern.test(address))?.[1] ?? fallback;
}

async function runScheduled(url, env) {
  const { searchParams } = url;
  const worker = searchParams.get("worker") ?? findWorker(url);
  if (!workers.includes(worker)) return textReply(`No Worker is named ${worker}; choose one of: ${workers.join(", ")}.`, 404);
  const time = Number(searchParams.get("time") ?? Date.now());
  if (!Number.isFinite(time)) return textReply("time must be a number: milliseconds since 1970.", 400);
  const { outcome } = await env[worker].scheduled({ cron: searchParams.get("cron") ?? "", scheduledTime: new Date(time) });
  return textReply(outcome, outcome === "ok" ? 200 : 500);
}

async function bootWorker({ searchParams }, env) {
  return Response.json(await env[`boot:${searchParams.get("worker")}`].boot());
}

// What each Worker has done since it started, by what Cloudflare bills.
async function countOperations(env) {
  const counts = await Promise.all(workers.map(async (name) => [name, await env[`boot:${name}`].countOperations()]));
  return Response.json(Object.fromEntries(counts));
}

// The cache of one Worker. An object, because only there may one request wait for what another one fetches.
export class LocalCache extends DurableObject {
  cache = new ResponseCache();

  async fetch(request) {
    const worker = this.env[this.ctx.id.name];
    // Without this, a compressed body would be decompressed here.
    const origin = (asked) => worker.fetch(asked, { encodeResponseBody: "manual" });
    return this.cache.fetch(request, origin, (promise) => this.ctx.waitUntil(promise));
  }

  purge(options) {
    return this.cache.purge(options);
  }
}

async function runWorker(name, request, env) {
  if (!cached.includes(name)) return env[name].fetch(request);
  const response = await (isCacheable(request) ? env.LOCAL_CACHE.getByName(name).fetch(request) : env[name].fetch(request));
  return acceptsNoEncoding(request) ? decompress(response) : response;
}

// A Worker is asked for compressed replies, whatever the client said. Cloudflare's edge decompresses them for a client that
// sends no Accept-Encoding, such as plain curl; Miniflare leaves that out.
const acceptsNoEncoding = ({ cf }) => cf?.clientAcceptEncoding === "";

function decompress(response) {
  if (!response.headers.has("Content-Encoding") || !response.body) return response;
  const headers = new Headers(response.headers);
  for (const name of ["Content-Encoding", "Content-Length"]) headers.delete(name);
  if (headers.has("ETag")) headers.set("ETag", `W/${headers.get("ETag").replace(/^W\//, "")}`);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    try {
      if (url.pathname === "/cdn-cgi/handler/scheduled") return await runScheduled(url, env);
      if (url.pathname === "/cdn-cgi/local/boot") return await bootWorker(url, env);
      if (url.pathname === "/cdn-cgi/local/operations") return await countOperations(env);
      return await runWorker(findWorker(url), request, env);
    } catch {
      return textReply("Internal Server Error", 500); // the Worker has logged its traceback
    }
  },
};
