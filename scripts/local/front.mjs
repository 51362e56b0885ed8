// The Worker behind the local port: routes by host name, runs crons by hand, and hides stack traces.
import settings from "./settings.json.txt";

const { routes, fallback, workers } = JSON.parse(settings);
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

async function runScheduled({ searchParams }, env) {
  const worker = searchParams.get("worker") ?? fallback;
  if (!workers.includes(worker)) return textReply(`No Worker is named ${worker}; choose one of: ${workers.join(", ")}.`, 404);
  const time = Number(searchParams.get("time") ?? Date.now());
  if (!Number.isFinite(time)) return textReply("time must be a number: milliseconds since 1970.", 400);
  const { outcome } = await env[worker].scheduled({ cron: searchParams.get("cron") ?? "", scheduledTime: new Date(time) });
  return textReply(outcome, outcome === "ok" ? 200 : 500);
}

async function bootWorker({ searchParams }, env) {
  return Response.json(await env[`boot:${searchParams.get("worker")}`].boot());
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    try {
      if (url.pathname === "/cdn-cgi/handler/scheduled") return await runScheduled(url, env);
      if (url.pathname === "/cdn-cgi/local/boot") return await bootWorker(url, env);
      return await env[findWorker(url)].fetch(request);
    } catch {
      return textReply("Internal Server Error", 500); // the Worker has logged its traceback
    }
  },
};
