// What is warm, and where: the copies that are on record, and the truth about data centres.
import { getJson } from "./api.js";
import { badge, banner, empty, figures, h, table } from "./dom.js";
import { moment, span } from "./times.js";
import { watched } from "./watching.js";

const REFRESH_S = 10;
const SHOWN = 200;
const number = (value) => value.toLocaleString("en");
const bytes = (size) => (size < 1024 ? `${number(size)} B` : size < 1048576 ? `${number(Math.round(size / 1024))} KB` : `${number(Math.round(size / 104857.6) / 10)} MB`);

export function pagesPanel(zone) {
  const place = h("div", { class: "panel" }, empty("Loading …"));
  const panel = h(
    "section",
    { class: "card" },
    h("h2", {}, "What is warm, and where"),
    h(
      "ul",
      { class: "plain" },
      h("li", {}, h("strong", {}, "R2: "), "one copy for the whole world. Every data centre reads it when its own edge cache does not have the page."),
      h("li", {}, h("strong", {}, "Edge cache: "), "filled in one data centre only, the one where the zone's queue runs. Anywhere else the first visitor gets the copy from R2, which fills that edge too; nobody can ask a data centre what it holds."),
    ),
    place,
  );
  // Freshness ends by itself, so what is shown changes by the minute though nothing else does.
  const ask = async () => ({ ...(await getJson(zone(`pages?limit=${SHOWN}`))), minute: Math.floor(Date.now() / 60000) });
  const list = watched(REFRESH_S, panel, place, ask, draw);
  return { panel, refresh: list.refresh, stop: list.stop };
}

function draw({ pages }) {
  if (!pages.length) return empty("No copy is stored yet. Ask for pages under Batches.");
  const now = Date.now() / 1000;
  const fresh = pages.filter(({ fresh_until: until }) => until > now);
  return [
    figures({ Copies: pages.length === SHOWN ? `${SHOWN} or more` : pages.length, Fresh: fresh.length, "Past their time": pages.length - fresh.length, Size: bytes(pages.reduce((sum, { size_bytes: size }) => sum + size, 0)) }),
    pages.length === SHOWN && banner(`The ${SHOWN} that were stored last are shown.`, ""),
    table(
      "Stored copies",
      [
        ["Page", ({ url, variant }) => (variant ? `${url} (${variant})` : url), "wrap"],
        ["State", ({ fresh_until: until }) => (until > now ? badge("fresh", "good") : badge("stale", "warn"))],
        ["Fresh for", ({ fresh_until: until }) => (until > now ? span(until - now) : "")],
        ["Size", ({ size_bytes: size }) => bytes(size), "number"],
        ["Stored", ({ stored_at: at }) => moment(at * 1000)],
      ],
      pages,
    ),
  ];
}
