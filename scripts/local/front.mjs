// The Worker behind the one local port: finds the Worker that a host name means, fires crons by hand, hides stack traces.
import settings from "./settings.json.txt";

const { routes, fallback, workers } = JSON.parse(settings);
const PLAIN = { "Content-Type": "text/plain; charset=utf-8" };

const text = (body, status) => new Response(`${body}\n`, { status, headers: PLAIN });

// A route is `host` or `host/path`, where * stands for anything, as in a wrangler config.
const patterns = routes.map(([pattern, worker]) => {
  const whole = pattern.includes("/") ? pattern : `${pattern}/*`;
  return [new RegExp(`^${whole.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&")).join(".*")}$`, "i"), worker];
});

function workerFor({ hostname, pathname }) {
  const address = hostname.replace(/\.$/, "") + pathname;
  return patterns.find(([pattern]) => pattern.test(address))?.[1] ?? fallback;
}

async function scheduled({ searchParams }, env) {
  const worker = searchParams.get("worker") ?? fallback;
  if (!workers.includes(worker)) return text(`No Worker is named ${worker}; there are: ${workers.join(", ")}.`, 404);
  const time = Number(searchParams.get("time") ?? Date.now());
  if (!Number.isFinite(time)) return text("time is milliseconds since 1970.", 400);
  const { outcome } = await env[worker].scheduled({ cron: searchParams.get("cron") ?? "", scheduledTime: new Date(time) });
  return text(outcome, outcome === "ok" ? 200 : 500);
}

async function boot({ searchParams }, env) {
  return Response.json(await env[`boot:${searchParams.get("worker")}`].boot());
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    try {
      if (url.pathname === "/cdn-cgi/handler/scheduled") return await scheduled(url, env);
      if (url.pathname === "/cdn-cgi/local/boot") return await boot(url, env);
      return await env[workerFor(url)].fetch(request);
    } catch {
      return text("Internal Server Error", 500); // the Worker has logged its traceback
    }
  },
};
