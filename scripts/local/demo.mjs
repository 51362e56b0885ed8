// Implements `--demo`: local sources for all three services, so that the tour needs no internet.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

// Events, the newest first; each is a list of the reports about it, by different outlets in their own words.
const EVENTS = JSON.parse(readFileSync(join(import.meta.dirname, "demo/stories.json"), "utf8"));
const SITE = "shop.localhost";
const TOKEN = "demo-operator-token";
const ZONE = "demo";
const SIGNING_KEY = "demo-signing-key-for-this-machine-only";
const TAG = "blog";
const STAGES = 3; // of an article
const STEPS = 5; // stages that one run of the processor does
const HOUR_MS = 60 * 60 * 1000;
const LIFE_S = 6 * 60 * 60; // of a page: the zone's schedule refreshes it before it expires

const page = (title, body) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><nav><a href="/">Home</a></nav><main><article><h1>${title}</h1>${body}</article></main></body></html>`;
const paragraphs = (texts) => texts.map((text) => `<p>${text}</p>`).join("");

const lists = {
  "/lists/ads.txt": ["! Title: Made advertising list", "! Homepage: nowhere", ...Array.from({ length: 2500 }, (_, n) => `||ads${n}.example${n % 90}.com^`), "||co.uk^", "example.com##.banner"],
  "/lists/trackers.hosts": ["# Made hosts file", ...Array.from({ length: 1800 }, (_, n) => `0.0.0.0 track${n}.example${n % 60}.net`), "0.0.0.0 ads7.example7.com"],
};

// Among so many pages, one that always fails is no reason for an alert.
const posts = Array.from({ length: 18 }, (_, n) => [`/blog/post-${n + 1}/`, page(`Post ${n + 1}`, paragraphs([`Everything about sluices, part ${n + 1}.`]))]);
const site = { "/": page("The demo shop", paragraphs(["A small site that edge-preload keeps warm."])), "/about/": page("About", paragraphs(["Nobody in particular."])), ...Object.fromEntries(posts) };

const sitemap = (origin) => `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${[...Object.keys(site), "/gone/", "/broken/"].map((path) => `<url><loc>${origin}${path}</loc></url>`).join("")}</urlset>`;

const reports = EVENTS.flatMap((event, at) => event.map((report, late) => ({ ...report, hoursAgo: 10 * at + (event.length - 1 - late) })));
const outlets = [...new Set(reports.map(({ outlet }) => outlet))];
const feedPath = (outlet) => `/news/${outlet.toLowerCase().replaceAll(" ", "-")}.xml`;
const startedAt = Date.now();

const writeItem = (origin, { slug, title, hoursAgo }) =>
  `<item><title>${title.replace("&", "&amp;")}</title><link>${origin}/news/${slug}</link><guid>${slug}</guid><pubDate>${new Date(startedAt - hoursAgo * HOUR_MS).toUTCString()}</pubDate></item>`;
function writeFeed(origin, name) {
  const items = reports.filter(({ outlet }) => outlet === name).map((report) => writeItem(origin, report));
  return `<?xml version="1.0"?><rss version="2.0"><channel><title>${name}</title><link>${origin}</link><description>Made stories</description>${items.join("")}</channel></rss>`;
}

function findContent(path, own, publicOrigin) {
  const report = reports.find(({ slug }) => path === `/news/${slug}`);
  if (report) return ["text/html; charset=utf-8", page(report.title, paragraphs(report.paragraphs))];
  if (lists[path]) return ["text/plain; charset=utf-8", lists[path].join("\n")];
  if (site[path]) return ["text/html; charset=utf-8", site[path]];
  if (path === "/sitemap.xml") return ["application/xml", sitemap(publicOrigin)];
  const outlet = outlets.find((name) => path === feedPath(name));
  return outlet && ["application/rss+xml", writeFeed(own, outlet)];
}

function answer(request, reply, own, publicOrigin) {
  const path = new URL(request.url, own).pathname;
  const [type, body] = findContent(path, own, publicOrigin) ?? [];
  const headers = body ? { "Content-Type": type, "Cache-Control": `public, max-age=${LIFE_S}`, "Cache-Tag": path.startsWith("/blog/") ? TAG : "page" } : { "Content-Type": "text/plain" };
  reply.writeHead(body ? 200 : path === "/broken/" ? 500 : 404, headers);
  reply.end(request.method === "HEAD" ? undefined : (body ?? "Not found\n"));
}

// At the port after the Workers' own, if it is free: what the state keeps names the sources by their address, also after the next start.
async function listen(server, port) {
  const attempt = (wanted) =>
    new Promise((ready, failed) => {
      server.once("error", failed).listen(wanted, "127.0.0.1", () => ready(server.off("error", failed)));
    });
  await attempt(port + 1).catch(() => attempt(0));
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}

// Starts the sources. `vars` and `routes` connect the Workers to them, and `fill` loads some content into the services.
// `given` are the person's own variables, which hold: the demo is filled with their token, and their hosts stay allowed.
export async function startDemo(port, given = {}) {
  const own = await listen(createServer((request, reply) => answer(request, reply, own, `http://${SITE}:${port}`)), port);
  const token = given.ADMIN_TOKEN ?? TOKEN;
  const key = given.SIGNING_KEY ?? SIGNING_KEY;
  const sources = Object.keys(lists).map((path) => ({ name: path.slice(7), url: own + path, expectedMinRules: 1000 }));
  return {
    vars: {
      ADMIN_TOKEN: TOKEN,
      SIGNING_KEY,
      RATE_LIMIT_MAX_REQUESTS: "1000",
      HEALTH_SOURCES: JSON.stringify([...sources, { name: "missing.txt", url: `${own}/lists/missing.txt`, expectedMinRules: 1000 }]),
      WARM_CONFIGURATIONS: JSON.stringify(sources.map(({ name, url }) => ({ name, sources: [{ source: url }], transformations: ["RemoveComments", "Compress", "Deduplicate"] }))),
      NEWS_FEEDS: outlets.map((name) => own + feedPath(name)).join(","),
      NEWSDATA_API_KEY: "",
      APITUBE_API_KEY: "",
      MAX_ARTICLES_PER_RUN: String(STEPS),
      ...given,
      ALLOW_PRIVATE_HOSTS: [given.ALLOW_PRIVATE_HOSTS, own.slice(7), `${SITE}:${port}`, SITE].filter(Boolean).join(","),
    },
    routes: [`${SITE}=edge-preload`],
    fill: (miniflare, names) => fill(miniflare, names, { token, key, own, port }),
  };
}

// Loads some content into every service that runs and returns the tour, or what could not be filled and why.
async function fill(miniflare, names, { token, key, own, port }) {
  const problems = [];
  const send = async (worker, path, options = {}) => {
    if (!names.includes(worker)) return;
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const reply = await miniflare.dispatchFetch(`http://${worker}.localhost${path}`, { ...options, headers });
    const text = await reply.text();
    if (!reply.ok) problems.push(`${worker}: ${options.method ?? "GET"} ${path} answered ${reply.status}: ${text.slice(0, 200)}`);
  };
  const post = (worker, path) => send(worker, path, { method: "POST", body: "{}" });
  const runCron = (worker, expression) => send(worker, `/cdn-cgi/handler/scheduled?worker=${worker}&cron=${encodeURIComponent(expression)}`);
  // Without retries the page that fails is shown as failed at once, and costs one request an hour.
  const config = { site_url: `http://${SITE}:${port}`, origin_url: own, preload_retry_max: 0 };
  await send("edge-preload", `/api/v1/zones/${ZONE}/config`, { method: "PUT", body: JSON.stringify(config) });
  await post("edge-preload", `/api/v1/zones/${ZONE}/sitemap`);
  await post("adblock-compiler", "/workflow/health-check");
  await runCron("worker-news-updater", "0 * * * *");
  const runs = Math.ceil((reports.length * STAGES) / STEPS) + 1;
  for (let run = 0; run < runs; run += 1) await runCron("worker-news-processor", "* * * * *");
  return problems.length ? `\nThe demo is not filled:\n\n${problems.map((problem) => `  ${problem}`).join("\n")}\n` : tour({ token, key, own, port });
}

const quote = (text) => (/^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

const tour = ({ token, key, own, port }) => `
The demo is filled, from sources at ${own}, and its crons run. Try this first:

  1. A list       http://adblock-compiler.localhost:${port}/
                  choose ads.txt under "Add a known list", or paste ${own}/lists/ads.txt, and press Compile.
                  Then press Publish; the operator token is "${token}".
  2. A warm site  http://${SITE}:${port}/ is a shop with a cache in front: look at its X-Cache-Layer header.
                  http://edge-preload.localhost:${port}/ shows how warm it is; the operator token is "${token}".
                  In another terminal, in this folder, warm a page and purge a tag with the demo's signing key:

    export SLUICE_SIGNING_KEY=${quote(key)}
    ./scripts/sluice preload --endpoint http://edge-preload.localhost:${port} --zone ${ZONE} --url http://${SITE}:${port}/blog/post-1/ --wait
    ./scripts/sluice purge --endpoint http://edge-preload.localhost:${port} --zone ${ZONE} --tag ${TAG} --wait

  3. The news     http://worker-api.localhost:${port}/ tells each story once, with sentiment and a summary:
                  ${EVENTS.filter((event) => event.length > 1).length} of the ${EVENTS.length} are told by several sources.
`;
