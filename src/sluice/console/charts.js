// Small SVG charts; each describes its values in a label for screen readers.
import { h, svg } from "./dom.js";

const WIDTH = 600;
const HEIGHT = 140;

// points: [{ at: milliseconds, value }], in order; a value holds until the next point. `limit` is drawn as a dashed line.
export function stepChart(label, points, describe = (value) => String(value), limit = 0) {
  if (!points.length) return h("p", { class: "empty" }, "No data yet");
  const first = points[0].at;
  const span = Math.max(points.at(-1).at - first, 1);
  const maximum = Math.max(...points.map(({ value }) => value));
  const top = Math.max(maximum, limit ? limit * 2 : 1);
  const x = (at) => (points.length === 1 ? WIDTH : ((at - first) / span) * WIDTH);
  const y = (value) => HEIGHT - (value / top) * (HEIGHT - 8) - 2;
  const path = points.map(({ at, value }, index) => (index ? `H${x(at)}V${y(value)}` : `M0 ${y(value)}`)).join("") + `H${WIDTH}`;
  const picture = svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `${label}: now ${describe(points.at(-1).value)}, at most ${describe(maximum)}` },
    svg("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT - 2, y2: HEIGHT - 2 }),
    svg("path", { class: "area", d: `${path}V${HEIGHT}H0Z` }),
    svg("path", { class: "stroke", d: path }),
    limit ? svg("line", { class: "limit", x1: 0, x2: WIDTH, y1: y(limit), y2: y(limit) }) : null,
  );
  return frame(picture, limit ? `${label}; dashed: ${describe(limit)}` : label, `now ${describe(points.at(-1).value)}, at most ${describe(maximum)}`);
}

// bars: [{ label, parts: [{ value, kind }] }], stacked from the bottom; kinds: the meaning of each kind.
export function barChart(label, bars, kinds) {
  if (!bars.length) return h("p", { class: "empty" }, "No data yet");
  const totals = bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  const maximum = Math.max(...totals, 1);
  const width = Math.min(WIDTH / bars.length, WIDTH / 8);
  const sum = (name) => bars.reduce((all, { parts }) => all + parts.filter(({ kind }) => kind === name).reduce((some, { value }) => some + value, 0), 0);
  const description = Object.entries(kinds).map(([kind, meaning]) => `${sum(kind)} ${meaning}`).join(", ");
  const columns = bars.map(({ label: name, parts }, at) => {
    let bottom = HEIGHT;
    const pieces = parts.map(({ value, kind }) => {
      const height = (value / maximum) * (HEIGHT - 4);
      bottom -= height;
      return svg("rect", { class: kind, x: at * width + width * 0.1, width: width * 0.8, y: bottom, height });
    });
    return svg("g", {}, svg("title", {}, `${name}: ${parts.map(({ value, kind }) => `${value} ${kinds[kind]}`).join(", ")}`), pieces);
  });
  const picture = svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `${label}, ${bars[0].label} to ${bars.at(-1).label}: ${description}` },
    svg("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT }),
    columns,
  );
  const key = h("ul", { class: "key" }, Object.entries(kinds).filter(([kind]) => sum(kind)).map(([kind, meaning]) => h("li", {}, h("span", { class: `swatch ${kind}` }), `${meaning}: ${sum(kind).toLocaleString("en")}`)));
  return h("div", {}, frame(picture, bars.length > 1 ? `${bars[0].label} to ${bars.at(-1).label}` : bars[0].label, `at most ${maximum.toLocaleString("en")}`), key);
}

// One tick for each result, the latest last: true, false, or null for unknown.
export function tickChart(label, results) {
  const latest = results.slice(-40);
  const marks = latest.map((result, at) =>
    svg("rect", { class: result === null ? "plain" : result ? "good" : "bad", x: at * 6, width: 4, y: result === null ? 6 : 0, height: result === null ? 4 : 16 }),
  );
  const failed = latest.filter((result) => result === false).length;
  const width = Math.max(latest.length * 6, 6);
  return svg("svg", { width, height: 16, viewBox: `0 0 ${width} 16`, class: "ticks chart-inline", role: "img", "aria-label": `${label}: ${failed} of ${latest.length} checks failed` }, marks);
}

const frame = (picture, ...labels) =>
  h("figure", { class: "framed" }, picture, h("figcaption", { class: "chart-labels" }, labels.filter(Boolean).map((text) => h("span", {}, text))));
