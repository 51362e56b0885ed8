// The stored copies, and where they are.
import { getJson } from "./api.js";
import { badge, banner, empty, figures, h, table } from "./dom.js";
import { purgeCard } from "./preload-purge.js";
import { worthCard } from "./preload-worth.js";
import { formatTime, formatDuration } from "./times.js";
import { watch } from "./watching.js";

const REFRESH_S = 10;
const SHOWN = 200;
const number = (value) => value.toLocaleString("en");
const bytes = (size) => (size < 1024 ? `${number(size)} B` : size < 1048576 ? `${number(Math.round(size / 1024))} KB` : `${number(Math.round(size / 104857.6) / 10)} MB`);

export function pagesPanel(zone) {
  const place = h("div", { class: "panel" }, empty("Loading …"));
  const stored = h(
    "section",
    { class: "card" },
    h("h2", {}, "Stored copies"),
    h(
      "ul",
      { class: "plain" },
      h("li", {}, h("strong", {}, "R2: "), "one copy worldwide. Every data centre reads it if its own edge cache does not have the page."),
      h("li", {}, h("strong", {}, "Edge cache: "), "preloaded only in the data centre where the queue of the zone runs. Elsewhere the first visitor gets the copy from R2, which also fills that edge cache. The content of an edge cache cannot be listed."),
    ),
    place,
  );
  const panel = h("div", { class: "panel" });
  const worth = worthCard(zone, panel);
  panel.append(worth.card, purgeCard(zone), stored);
  // Copies become stale with time, so the table changes every minute even if the data does not.
  const fetchPages = async () => ({ ...(await getJson(zone(`pages?limit=${SHOWN}`))), minute: Math.floor(Date.now() / 60000) });
  const list = watch(REFRESH_S, panel, place, fetchPages, draw);
  const each = (name) => () => [list, worth.list].forEach((part) => part[name]());
  return { panel, refresh: each("refresh"), stop: each("stop") };
}

function draw({ pages }) {
  if (!pages.length) return empty("No copy is stored yet. Enqueue pages under Batches.");
  const now = Date.now() / 1000;
  const fresh = pages.filter(({ fresh_until: until }) => until > now);
  return [
    figures({ Copies: pages.length === SHOWN ? `${SHOWN} or more` : pages.length, Fresh: fresh.length, Stale: pages.length - fresh.length, Size: bytes(pages.reduce((sum, { size_bytes: size }) => sum + size, 0)) }),
    pages.length === SHOWN && banner(`Only the latest ${SHOWN} copies are shown.`, ""),
    table(
      "Stored copies",
      [
        ["Page", ({ url, variant }) => (variant ? `${url} (${variant})` : url), "wrap"],
        ["State", ({ fresh_until: until }) => (until > now ? badge("fresh", "good") : badge("stale", "warn"))],
        ["Fresh for", ({ fresh_until: until }) => (until > now ? formatDuration(until - now) : "")],
        ["Size", ({ size_bytes: size }) => bytes(size), "number"],
        ["Stored", ({ stored_at: at }) => formatTime(at * 1000)],
      ],
      pages,
    ),
  ];
}
