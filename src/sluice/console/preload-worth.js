// What the cache is worth: visits by what answered them, what the origin was spared, and how much of the site is warm.
import { getJson } from "./api.js";
import { empty, figures, h, table } from "./dom.js";
import { watch } from "./watching.js";

const REFRESH_S = 30;
const NAMES = { edge: "Edge cache", r2: "R2", shared: "Another visitor's request", origin: "Origin", pass: "Never cached" };
const number = (value) => value.toLocaleString("en");
const megabytes = (size) => `${number(Math.round(size / 104857.6) / 10)} MB`;

export function worthCard(zone, panel) {
  const place = h("div", { class: "panel" }, empty("Loading …"));
  const card = h("section", { class: "card" }, h("h2", {}, "The last 24 hours"), place);
  return { card, list: watch(REFRESH_S, panel, place, () => getJson(zone("traffic")), draw) };
}

function draw({ visits, hit_ratio: ratio, origin_requests_saved: requests, bytes_saved: bytes, layers, coverage, keep_warm: limits }) {
  return [
    figures({
      Visits: number(visits),
      "Hit ratio": ratio === null ? "–" : `${(ratio * 100).toLocaleString("en", { maximumFractionDigits: 1 })} %`,
      "Requests saved": number(requests),
      "Bytes saved": megabytes(bytes),
      Warm: number(coverage.warm),
      Stale: number(coverage.stale),
      Cold: number(coverage.cold),
    }),
    h("p", { class: "hint" }, `The limits can keep about ${number(limits.capacity)} pages warm; ${number(coverage.pages)} are known.${limits.is_enough ? "" : " Raise preload_rpm_limit under Settings."}`),
    visits
      ? table(
          "Visits by what answered them",
          [
            ["Answered by", ([name]) => NAMES[name] ?? name],
            ["Visits", ([, layer]) => number(layer.visits), "number"],
            ["Sent", ([, layer]) => megabytes(layer.bytes), "number"],
            ["First byte", ([, layer]) => (layer.mean_ttfb_ms === null ? "" : `${number(Math.round(layer.mean_ttfb_ms))} ms`), "number"],
          ],
          Object.entries(layers),
        )
      : empty("No visit has been counted yet."),
  ];
}
