// A finished list: its rules, what was dropped and why, what changed, and where the time went.
import { countOf, formatNumber, html, useState } from "../ui/draw.js";
import { Button, CopyButton, SearchField } from "../ui/controls.js";
import { Banner, Figures } from "../ui/feedback.js";
import { download, fileName } from "../ui/files.js";
import { TabPanel, Tabs } from "../ui/layout.js";
import { Ago } from "../ui/times.js";
import { describeLoss } from "./compilation.js";
import { DroppedView } from "./dropped-view.js";
import { StepList } from "./step-list.js";

const SHOWN_LINES = 500;

export function ResultView({ run, headingRef, onPublish }) {
  const [chosen, setChosen] = useState("rules");
  const { result, name } = run;
  const tabs = [["rules", "Rules"]];
  if (result.report) tabs.push(["dropped", "Dropped"]);
  if (result.previousVersion) tabs.push(["changes", "Changes"]);
  if (run.steps.length) tabs.push(["timing", "Timing"]);
  const open = tabs.some(([key]) => key === chosen) ? chosen : "rules";
  return html`<section class="card" id="result">
    <header>
      <h2 ref=${headingRef} tabindex="-1">${name}: ${countOf(result.ruleCount, "rule")}</h2>
      ${result.ruleCount > 0 && html`<${Button} icon="feed" onClick=${onPublish}>Publish …<//>`}
    </header>
    <${LossBanner} run=${run} onShow=${() => setChosen("dropped")} />
    <${Tabs} label="Parts of the result" prefix="result" ...${{ tabs, chosen: open, onChoose: setChosen }} />
    <${TabPanel} chosen=${open} prefix="result">
      ${open === "rules" && html`<${RulesView} rules=${result.rules} name=${name} />`}
      ${open === "dropped" && html`<${DroppedView} report=${result.report} name=${name} />`}
      ${open === "changes" && html`<${ChangesView} previous=${result.previousVersion} />`}
      ${open === "timing" && html`<${TimingView} run=${run} />`}
    <//>
  </section>`;
}

function LossBanner({ run, onShow }) {
  const loss = describeLoss(run);
  if (!loss) return null;
  const { linesIn, main, others } = loss;
  return html`<${Banner} kind="warn">
    <p><strong>${countOf(linesIn, "line")} in, ${countOf(run.result.ruleCount, "rule")} out.</strong> ${main.step} dropped ${formatNumber(main.lines.length)}, each for this reason: ${main.reason}.${others.map(({ lines, reason }) => ` ${formatNumber(lines.length)} more: ${reason}.`)}</p>
    <p>If the list is for a browser, choose that at the top. <button type="button" class="link" onClick=${onShow}>See what was dropped</button></p>
  <//>`;
}

export function RulesView({ rules, name }) {
  const [query, setQuery] = useState("");
  const wanted = query.trim().toLowerCase();
  const matches = wanted ? rules.filter((rule) => rule.toLowerCase().includes(wanted)) : rules;
  const text = () => `${rules.join("\n")}\n`;
  return html`<div class="row">
      <div class="grow"><${SearchField} label="Search the list" placeholder="Search the list" value=${query} onInput=${setQuery} /></div>
      <${CopyButton} text=${text} />
      <${Button} icon="download" onClick=${() => download(fileName(name), text())}>Download<//>
    </div>
    <p class="hint" role="status">${formatNumber(matches.length)} of ${countOf(rules.length, "line")}${matches.length > SHOWN_LINES ? `, the first ${SHOWN_LINES} shown` : ""}</p>
    <pre class="listing" tabindex="0" role="region" aria-label="The list">${matches.slice(0, SHOWN_LINES).join("\n")}</pre>`;
}

const ChangesView = ({ previous: { compiledAt, ruleCount, diff } }) =>
  html`<p class="hint">Compared with the ${countOf(ruleCount, "rule")} of the list that this browser compiled <${Ago} time=${compiledAt} /></p>
    <${Figures} figures=${[["Added", `+${formatNumber(diff.added)}`], ["Removed", `−${formatNumber(diff.removed)}`], ["Unchanged", formatNumber(diff.unchanged)]]} />
    ${diff.added + diff.removed === 0 ? html`<p>Nothing changed.</p>` : html`<${DiffView} added=${diff.addedRules} removed=${diff.removedRules} all=${diff.added + diff.removed} />`}`;

// Red lines went away, green ones are new; a sign says the same without colours.
export function DiffView({ added, removed, all = added.length + removed.length }) {
  const shown = [...removed.map((rule) => ["−", rule, "removed"]), ...added.map((rule) => ["+", rule, "added"])].slice(0, SHOWN_LINES);
  return html`<div class="listing diff" tabindex="0" role="region" aria-label="Changed rules">
      ${shown.map(([sign, rule, kind]) => html`<div class=${kind}><span class="sign">${sign}</span>${rule}</div>`)}
    </div>
    ${all > shown.length && html`<p class="hint">${countOf(all - shown.length, "more change")} not shown</p>`}`;
}

const TimingView = ({ run }) => {
  const sources = Object.values(run.sources).reduce((sum, { ms = 0 }) => sum + ms, 0);
  const steps = run.steps.reduce((sum, { ms = 0 }) => sum + ms, 0);
  return html`<${Figures} figures=${[["Reading sources", `${formatNumber(sources)} ms`], ["Transformations", `${formatNumber(steps)} ms`]]} />
    <${StepList} run=${run} />
    <p class="hint">On Cloudflare the clock stands still while code computes, so short steps show 0 ms.</p>`;
};
