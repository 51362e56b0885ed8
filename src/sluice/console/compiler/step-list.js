// What has happened so far: the sources, and the transformations with their counts.
import { countOf, formatNumber, html } from "../ui/draw.js";
import { Badge } from "../ui/feedback.js";
import { SourceState } from "./source-rows.js";

export const StepList = ({ run }) =>
  html`<h3>Sources</h3>
    <ul class="steps" aria-label="Sources">
      ${run.addresses.map((address) => html`<li key=${address}><span class="name">${address}</span><${SourceState} state=${run.sources[address] ?? { kind: "unread" }} /></li>`)}
    </ul>
    ${run.steps.length > 0 &&
    html`<h3>Transformations</h3>
      <ul class="steps" aria-label="Transformations">${run.steps.map((step) => html`<${Step} step=${step} />`)}</ul>`}`;

const Step = ({ step: { name, linesIn, linesOut, ms } }) =>
  html`<li>
    <span class="name">${name}</span>
    ${linesOut === undefined ? html`<${Badge}>running<//>` : html`<span class="hint">${formatNumber(linesIn)} → ${formatNumber(linesOut)}, ${ms} ms</span><${Badge}>${describeChange(linesOut - linesIn)}<//>`}
  </li>`;

const describeChange = (change) => (change === 0 ? "no change" : `${change > 0 ? "+" : "−"}${countOf(Math.abs(change), "line")}`);
