// One story: its headline, its sentiment, its summary, and who else reports it.
import { html, useState } from "../ui/draw.js";
import { Badge } from "../ui/feedback.js";
import { Icon } from "../ui/icons.js";
import { Ago } from "../ui/times.js";

const KINDS = { positive: "good", negative: "bad", neutral: "", unknown: "" };
const ANALYSTS = { embedded: "the embedded analyst" };
const LONG_CHARS = 220;

export function Story({ story }) {
  const [isOpen, setOpen] = useState(false);
  const summary = story.aiSummary ?? story.description ?? "";
  const others = story.alternates ?? [];
  const isLong = summary.length > LONG_CHARS;
  return html`<li class="story">
    <h3><${ExternalLink} href=${story.link}>${story.title}<//></h3>
    <div class="about">
      <${Sentiment} story=${story} />
      ${story.status === "pending" && html`<${Badge} kind="warn">in progress<//>`}
      <span>${story.source_name ?? "unknown source"}</span>
      <${Published} text=${story.pubDate} />
      ${story.language && html`<span>${story.language}</span>`}
    </div>
    ${summary && html`<p class=${isLong && !isOpen ? "clamped" : ""}>${summary}</p>`}
    ${isLong && html`<div><button type="button" class="link" aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)}>${isOpen ? "Less" : "More"}</button></div>`}
    ${story.aiSummary && story.summaryBy && isOpen && html`<p class="hint">Summary by ${ANALYSTS[story.summaryBy] ?? story.summaryBy}</p>`}
    ${others.length > 0 &&
    html`<details>
      <summary>${others.length} more ${others.length === 1 ? "source reports" : "sources report"} this</summary>
      <ul class="plain">${others.map((other) => html`<li><${ExternalLink} href=${other.link}>${other.title}<//> <span class="hint">${other.source_name} <${Published} text=${other.pubDate} /></span></li>`)}</ul>
    </details>`}
  </li>`;
}

function Sentiment({ story: { sentiment, sentimentScore, sentimentConfidence } }) {
  if (!sentiment) return html`<${Badge}>no sentiment yet<//>`;
  const score = typeof sentimentScore === "number" ? ` ${sentimentScore > 0 ? "+" : ""}${sentimentScore.toFixed(2)}` : "";
  const title = typeof sentimentConfidence === "number" ? `confidence ${Math.round(sentimentConfidence * 100)} %` : undefined;
  return html`<span title=${title}><${Badge} kind=${KINDS[sentiment]}>${sentiment}${score}<//></span>`;
}

// A link for a web address; any other address is shown as text.
const ExternalLink = ({ href, children }) =>
  /^https?:\/\//i.test(href ?? "") ? html`<a href=${href} target="_blank" rel="noopener noreferrer">${children}<${Icon} name="external" /></a>` : html`${children}`;

function Published({ text }) {
  if (!text) return null;
  const time = Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text.replace(" ", "T")}Z`);
  return Number.isNaN(time) ? html`<span>${text}</span>` : html`<${Ago} time=${time} />`;
}
