// Charts in SVG with axes, gridlines and values: hover, touch, or focus one and use the arrow keys.
import { html, useEffect, useRef, useState } from "./draw.js";
import { formatClock, formatDay, formatTime } from "./times.js";

const HEIGHT = 180;
const LEFT = 44;
const BOTTOM = 22;
const TOP = 8;
const RIGHT = 8;
const LINES = 4;
const DAY_MS = 86_400_000;

const innerHeight = HEIGHT - TOP - BOTTOM;

// The width in pixels that the chart has, so that its texts keep their size.
function useWidth() {
  const figure = useRef(null);
  const [width, setWidth] = useState(480);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(240, Math.round(entry.contentRect.width))));
    observer.observe(figure.current);
    return () => observer.disconnect();
  }, []);
  return [figure, width];
}

// Rounds up to a number that people read easily, so that gridlines have round values.
export function niceTop(value) {
  if (value <= LINES) return value <= 1 ? 1 : value <= 2 ? 2 : LINES;
  const size = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 8, 10].map((step) => step * size).find((top) => top >= value);
}

const shorten = (value) => (value >= 1e6 ? `${+(value / 1e6).toFixed(1)}M` : value >= 1e4 ? `${+(value / 1e3).toFixed(1)}k` : `${+value.toFixed(2)}`);
const formatAt = (at, span) => (span > 2 * DAY_MS ? formatDay(at) : formatClock(at));

// points: [{ at: milliseconds, value: number or null }], in order; null is a gap. `from` and `to` fix the window.
export function LineChart({ title, points, unit = "", from, to, isStep = false, limit }) {
  const [figure, width] = useWidth();
  const known = points.filter(({ value }) => value !== null);
  if (!known.length) return html`<p class="empty" ref=${figure}>${title}: no data yet</p>`;
  const innerWidth = width - LEFT - RIGHT;
  const start = from ?? points[0].at;
  const end = Math.max(to ?? points.at(-1).at, start + 1);
  const top = niceTop(Math.max(...known.map(({ value }) => value), limit ?? 0));
  const x = (at) => LEFT + ((at - start) / (end - start)) * innerWidth;
  const y = (value) => TOP + innerHeight * (1 - value / top);
  const pieces = splitAtGaps(points);
  const line = (piece) => piece.map(({ at, value }, index) => (index === 0 ? `M${x(at)} ${y(value)}` : isStep ? `H${x(at)}V${y(value)}` : `L${x(at)} ${y(value)}`)).join("");
  const describe = ({ at, value }) => `${formatTime(at)}: ${value === null ? "no data" : `${value.toLocaleString("en")} ${unit}`}`;
  const marks = points.map((point) => ({ text: describe(point), x: x(point.at), y: point.value === null ? undefined : y(point.value) }));
  const highest = Math.max(...known.map(({ value }) => value));
  const summary = `${title}: last ${known.at(-1).value.toLocaleString("en")} ${unit}, highest ${highest.toLocaleString("en")}`;
  return html`<${Frame} ...${{ title, summary, marks, top, unit, figure, width }} times=${[start, (start + end) / 2, end].map((at) => [x(at), formatAt(at, end - start)])}>
    ${pieces.map((piece) => (piece.length === 1 ? html`<circle class="dot" cx=${x(piece[0].at)} cy=${y(piece[0].value)} r="3" />` : html`<path class="stroke" d=${line(piece)} />`))}
    ${limit !== undefined && html`<line class="limit" x1=${LEFT} x2=${width - RIGHT} y1=${y(limit)} y2=${y(limit)} />`}
  <//>`;
}

function splitAtGaps(points) {
  const pieces = [[]];
  for (const point of points) {
    if (point.value !== null) pieces.at(-1).push(point);
    else if (pieces.at(-1).length) pieces.push([]);
  }
  return pieces.filter((piece) => piece.length);
}

// bars: [{ label, parts: [{ value, kind }] }], stacked from the bottom; kinds: { kind: meaning }. `onChoose` gets the index of a bar.
export function BarChart({ title, bars, kinds, onChoose }) {
  const [figure, whole] = useWidth();
  if (!bars.length) return html`<p class="empty" ref=${figure}>${title}: no data yet</p>`;
  const totals = bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  const top = niceTop(Math.max(...totals, 1));
  const width = (whole - LEFT - RIGHT) / bars.length;
  const height = (value) => (value / top) * innerHeight;
  const describe = ({ label, parts }) => `${label}: ${parts.map(({ value, kind }) => `${value.toLocaleString("en")} ${kinds[kind]}`).join(", ")}`;
  const marks = bars.map((bar, at) => ({ text: describe(bar), x: LEFT + (at + 0.5) * width, y: TOP + innerHeight - height(totals[at]) }));
  const sum = (name) => bars.reduce((all, { parts }) => all + parts.filter(({ kind }) => kind === name).reduce((some, { value }) => some + value, 0), 0);
  const summary = `${title}: ${Object.entries(kinds).map(([kind, meaning]) => `${sum(kind).toLocaleString("en")} ${meaning}`).join(", ")}`;
  const times = pickLabels(bars).map((at) => [LEFT + (at + 0.5) * width, bars[at].label]);
  return html`<${Frame} ...${{ title, summary, marks, top, times, onChoose, figure, width: whole }}>
      ${bars.map(({ parts }, at) => html`<${Stack} parts=${parts} x=${LEFT + (at + 0.5) * width - Math.min(width * 0.38, 24)} width=${Math.min(width * 0.76, 48)} height=${height} />`)}
    <//>
    <ul class="key">${Object.entries(kinds).map(([kind, meaning]) => html`<li><span class="swatch ${kind}"></span>${meaning}: ${sum(kind).toLocaleString("en")}</li>`)}</ul>`;
}

function Stack({ parts, x, width, height }) {
  let bottom = TOP + innerHeight;
  return parts.map(({ value, kind }) => {
    bottom -= height(value);
    return value > 0 && html`<rect class=${kind} x=${x} width=${width} y=${bottom} height=${height(value)} />`;
  });
}

const pickLabels = (bars) => (bars.length <= 6 ? bars.map((_, at) => at) : [0, Math.floor((bars.length - 1) / 2), bars.length - 1]);

// The axes, and the value under the pointer or the keyboard's mark.
function Frame({ title, summary, marks, top, unit = "", times, onChoose, figure, width, children }) {
  const [at, setAt] = useState(-1);
  const picture = useRef(null);
  const point = (event) => {
    const box = picture.current.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width;
    setAt(marks.reduce((best, mark, index) => (best < 0 || Math.abs(mark.x - x) < Math.abs(marks[best].x - x) ? index : best), -1));
  };
  const move = (event) => {
    const next = { ArrowRight: at + 1, ArrowLeft: at < 0 ? marks.length - 1 : at - 1, Home: 0, End: marks.length - 1 }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(marks.length - 1, next)));
    } else if (event.key === "Enter" && at >= 0) onChoose?.(at);
  };
  const mark = marks[at];
  const levels = Array.from({ length: LINES + 1 }, (_, index) => (top / LINES) * index).filter((value) => top >= LINES || Number.isInteger(value));
  const y = (value) => TOP + innerHeight * (1 - value / top);
  return html`<figure class="chart" ref=${figure}>
    <figcaption>${title}${unit && html` <span class="hint">${unit}</span>`}</figcaption>
    <svg
      viewBox="0 0 ${width} ${HEIGHT}"
      role="img"
      tabindex="0"
      aria-label="${summary}. Arrow keys read the values."
      ref=${picture}
      class=${onChoose ? "choosable" : ""}
      onPointerMove=${point}
      onPointerLeave=${() => setAt(-1)}
      onClick=${() => at >= 0 && onChoose?.(at)}
      onKeyDown=${move}
      onBlur=${() => setAt(-1)}
    >
      ${levels.map((value) => html`<g><line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(value)} y2=${y(value)} /><text x=${LEFT - 6} y=${y(value) + 4} text-anchor="end">${shorten(value)}</text></g>`)}
      ${times.map(([x, text], index) => html`<text x=${x} y=${HEIGHT - 6} text-anchor=${times.length === 1 ? "middle" : index === 0 ? "start" : index === times.length - 1 ? "end" : "middle"}>${text}</text>`)}
      ${children}
      ${mark && html`<line class="cursor" x1=${mark.x} x2=${mark.x} y1=${TOP} y2=${TOP + innerHeight} />${mark.y !== undefined && html`<circle class="dot" cx=${mark.x} cy=${mark.y} r="4" />`}`}
    </svg>
    <p class="reading" aria-live="polite">${mark?.text ?? "\u00a0"}</p>
  </figure>`;
}

const TICKS = 40;

// One tick for each result, the latest last: true, false, or null for unknown.
export function Ticks({ label, results }) {
  const latest = results.slice(-TICKS);
  if (!latest.length) return html`<span class="hint">none yet</span>`;
  const failed = latest.filter((result) => result === false).length;
  const width = latest.length * 6;
  return html`<svg width=${width} height="16" viewBox="0 0 ${width} 16" class="ticks" role="img" aria-label="${label}: ${failed} of ${latest.length} checks failed">
    ${latest.map((result, at) => html`<rect class=${result === null ? "plain" : result ? "good" : "bad"} x=${at * 6} width="4" y=${result === null ? 6 : 0} height=${result === null ? 4 : 16} />`)}
  </svg>`;
}
