// The lines that are not in the list, by step and reason: rules before comments, searchable, to download.
import { countOf, formatNumber, html, useState } from "../ui/draw.js";
import { Button, SearchField } from "../ui/controls.js";
import { Banner, Empty } from "../ui/feedback.js";
import { download, fileName } from "../ui/files.js";
import { Table } from "../ui/layout.js";
import { generalise, groupDropped } from "./compilation.js";

const SHOWN_LINES = 200;
const COLUMNS = [
  ["Line", ({ text, reason }) => html`<code>${text}</code>${reason !== generalise(reason) && html`<br /><span class="hint">${reason}</span>`}`, "wrap"],
  ["Where", ({ file, source, line }) => html`<span class="hint">${file || source}, line ${formatNumber(line)}</span>`, "wrap"],
];

export function DroppedView({ report, name }) {
  const [query, setQuery] = useState("");
  if (!report.dropped) return html`<${CountsOnly} report=${report} />`;
  if (!report.dropped.length) return html`<${Empty} title="Nothing was dropped">Every line of the sources is in the list.<//>`;
  const wanted = query.trim().toLowerCase();
  const matches = wanted ? report.dropped.filter(({ text, reason }) => `${text}\n${reason}`.toLowerCase().includes(wanted)) : report.dropped;
  const save = () => download(fileName(`${name} dropped`, "tsv"), toTable(matches), "text/tab-separated-values");
  return html`<div class="row">
      <div class="grow"><${SearchField} label="Search the dropped lines" placeholder="Search the dropped lines" value=${query} onInput=${setQuery} /></div>
      <${Button} icon="download" onClick=${save}>Download<//>
    </div>
    ${report.droppedNotListed > 0 && html`<${Banner} kind="warn">${countOf(report.droppedNotListed, "more line")} were dropped than the service lists. The command line lists all: sluice compile --report.<//>`}
    ${groupDropped(matches).map((group, at) => html`<${Group} key=${group.key} group=${group} isOpen=${at === 0 || Boolean(wanted)} />`)}`;
}

const Group = ({ group: { step, reason, lines }, isOpen }) =>
  html`<details class="more" open=${isOpen}>
    <summary>${reason} <span class="hint">${step}, ${countOf(lines.length, "line")}</span></summary>
    <${Table} caption="Dropped lines: ${reason}" columns=${COLUMNS} rows=${lines.slice(0, SHOWN_LINES)} />
    ${lines.length > SHOWN_LINES && html`<p class="hint">The first ${SHOWN_LINES} of ${formatNumber(lines.length)}; the download has all.</p>`}
  </details>`;

const CountsOnly = ({ report }) =>
  html`<${Banner} kind="">The list is too large for a report of every line here. These are the counts of each step; the command line lists all: sluice compile --report.<//>
    <${Table}
      caption="Lines removed by each step"
      columns=${[["Step", ({ transformation }) => transformation], ["Source", ({ source }) => source ?? "the whole list", "wrap"], ["Removed", ({ removed }) => formatNumber(removed), "number"]]}
      rows=${report.transformations.filter(({ removed }) => removed > 0)}
    />`;

const toTable = (lines) => ["step\treason\tsource\tfile\tline\ttext", ...lines.map(({ transformation, reason, source, file, line, text }) => [transformation, reason, source, file, line, text].join("\t"))].join("\n");
