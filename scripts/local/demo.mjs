// Implements `--demo`: local sources for all three services, so that the tour needs no internet.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const STORIES = JSON.parse(readFileSync(join(import.meta.dirname, "demo/stories.json"), "utf8"));
const SITE = "shop.localhost";
const TOKEN = "demo";
const ZONE = "demo";
const RUNS = 6; // runs of the processor: each article has three stages, and a run processes five articles
const DAY_MS = 24 * 60 * 60 * 1000;

const page = (title, body) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><nav><a href="/">Home</a></nav><main><article><h1>${title}</h1>${body}</article></main></body></html>`;
const paragraphs = (texts) => texts.map((text) => `<p>${text}</p>`).join("");

const lists = {
  "/lists/ads.txt": ["! Title: Made advertising list", "! Homepage: nowhere", ...Array.from({ length: 2500 }, (_, n) => `||ads${n}.example${n % 90}.com^`), "||co.uk^", "example.com##.banner"],
  "/lists/trackers.hosts": ["# Made hosts file", ...Array.from({ length: 1800 }, (_, n) => `0.0.0.0 track${n}.example${n % 60}.net`), "0.0.0.0 ads7.example7.com"],
};

const posts = Array.from({ length: 8 }, (_, n) => [`/blog/post-${n + 1}/`, page(`Post ${n + 1}`, paragraphs([`Everything about sluices, part ${n + 1}.`]))]);
const site = { "/": page("The demo shop", paragraphs(["A small site that edge-preload keeps warm."])), "/about/": page("About", paragraphs(["Nobody in particular."])), ...Object.fromEntries(posts) };

const sitemap = (origin) => `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${[...Object.keys(site), "/gone/", "/broken/"].map((path) => `<url><loc>${origin}${path}</loc></url>`).join("")}</urlset>`;

const items = (origin, stories) =>
  stories
    .map(({ slug, title }, n) => `<item><title>${title.replace("&", "&amp;")}</title><link>${origin}/news/${slug}</link><guid>${slug}</guid><pubDate>${new Date(Date.now() - n * DAY_MS * 0.4).toUTCString()}</pubDate></item>`)
    .join("");
const feed = (origin, name, stories) => `<?xml version="1.0"?><rss version="2.0"><channel><title>${name}</title><link>${origin}</link><description>Made stories</description>${items(origin, stories)}</channel></rss>`;

function findContent(path, own, publicOrigin) {
  const story = STORIES.find(({ slug }) => path === `/news/${slug}`);
  if (story) return ["text/html; charset=utf-8", page(story.title, paragraphs(story.paragraphs))];
  if (lists[path]) return ["text/plain; charset=utf-8", lists[path].join("\n")];
  if (site[path]) return ["text/html; charset=utf-8", site[path]];
  if (path === "/sitemap.xml") return ["application/xml", sitemap(publicOrigin)];
  if (path === "/news/feed.xml") return ["application/rss+xml", feed(own, "Demo wire", STORIES)];
  return undefined;
}

// Starts the sources. `vars` and `routes` connect the Workers to them, and `fill` loads some content into the services.
// `given` are the person's own variables, which hold: the demo is filled with their token, and their hosts stay allowed.
export async function startDemo(port, given = {}) {
  const server = createServer((request, reply) => {
    const own = `http://127.0.0.1:${server.address().port}`;
    const path = new URL(request.url, own).pathname;
    const content = path === "/broken/" ? undefined : findContent(path, own, `http://${SITE}:${port}`);
    const status = content ? 200 : path === "/broken/" ? 500 : 404;
    reply.writeHead(status, { "Content-Type": content?.[0] ?? "text/plain", "Cache-Control": "public, max-age=300" });
    reply.end(request.method === "HEAD" ? undefined : (content?.[1] ?? "Not found\n"));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  server.unref();
  const own = `http://127.0.0.1:${server.address().port}`;
  const token = given.ADMIN_TOKEN ?? TOKEN;
  const sources = Object.keys(lists).map((path) => ({ name: path.slice(7), url: own + path, expectedMinRules: 1000 }));
  return {
    vars: {
      DEMO: "1",
      ADMIN_TOKEN: TOKEN,
      SIGNING_KEY: "demo-signing-key-for-this-machine-only",
      RATE_LIMIT_MAX_REQUESTS: "1000",
      HEALTH_SOURCES: JSON.stringify([...sources, { name: "missing.txt", url: `${own}/lists/missing.txt`, expectedMinRules: 1000 }]),
      WARM_CONFIGURATIONS: JSON.stringify(sources.map(({ name, url }) => ({ name, sources: [{ source: url }], transformations: ["RemoveComments", "Compress", "Deduplicate"] }))),
      NEWS_FEEDS: `${own}/news/feed.xml`,
      NEWSDATA_API_KEY: "",
      MAX_ARTICLES_PER_RUN: "5",
      ...given,
      ALLOW_PRIVATE_HOSTS: [given.ALLOW_PRIVATE_HOSTS, own.slice(7), `${SITE}:${port}`, SITE].filter(Boolean).join(","),
    },
    routes: [`${SITE}=edge-preload`],
    fill: (miniflare, names) => fill(miniflare, names, token, own, port),
  };
}

// Loads some content into every service that runs and returns the tour, or what could not be filled and why.
async function fill(miniflare, names, token, own, port) {
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
  const config = { site_url: `http://${SITE}:${port}`, origin_url: own, preload_sitemap_crawl_enabled: true };
  await send("edge-preload", `/api/v1/zones/${ZONE}/config`, { method: "PUT", body: JSON.stringify(config) });
  await post("edge-preload", `/api/v1/zones/${ZONE}/sitemap`);
  await post("adblock-compiler", "/workflow/health-check");
  await runCron("worker-news-updater", "0 * * * *");
  for (let run = 0; run < RUNS; run += 1) await runCron("worker-news-processor", "* * * * *");
  return problems.length ? `\nThe demo is not filled:\n\n${problems.map((problem) => `  ${problem}`).join("\n")}\n` : tour(token, own, port);
}

const tour = (token, own, port) => `
The demo is filled, from sources at ${own}. Try this first:

  1. A list       http://adblock-compiler.localhost:${port}/
                  choose ads.txt under "Add a known list", or paste ${own}/lists/ads.txt, and press Compile.
                  Then press Publish; the operator token is "${token}".
  2. A warm site  http://${SITE}:${port}/ is a shop with a cache in front: look at its X-Cache-Layer header.
                  http://edge-preload.localhost:${port}/ shows how warm it is; the operator token is "${token}".
  3. The news     http://worker-api.localhost:${port}/ tells each story once, with sentiment and a summary.
`;
