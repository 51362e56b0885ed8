// The addresses of the lists, a row each, with what became of each when it was last read.
import { countOf, html } from "../ui/draw.js";
import { getJson } from "../ui/api.js";
import { Button, IconButton } from "../ui/controls.js";
import { Badge } from "../ui/feedback.js";
import { usePolling } from "../ui/state.js";
import { isAddressList, makeRow, moveRow, pasteAddresses } from "./form-state.js";

export function SourceRows({ form, setForm, progress }) {
  const setRows = (rows) => setForm({ ...form, rows: rows.length ? rows : [makeRow()] });
  return html`<fieldset class="field">
    <legend>Addresses of lists</legend>
    <ul class="rows">
      ${form.rows.map((row, at) => html`<${SourceRow} key=${row.key} ...${{ row, at, rows: form.rows, setRows, state: progress?.[row.address.trim()] }} />`)}
    </ul>
    <div class="row">
      <${Button} icon="plus" onClick=${() => setRows([...form.rows, makeRow()])}>Add an address<//>
      <${KnownLists} rows=${form.rows} onChoose=${({ url, name }) => setRows([...form.rows.filter(({ address }) => address.trim()), makeRow(url, { name })])} />
    </div>
  </fieldset>`;
}

// The lists whose health the service watches, to add with one choice. Those that fail or are in the form already are left out.
function KnownLists({ rows, onChoose }) {
  const { data } = usePolling((options) => getJson("/health/latest", options), 0);
  const known = (data?.data?.results ?? []).filter(({ healthy, url }) => healthy && !rows.some(({ address }) => address.trim() === url));
  if (!known.length) return null;
  const choose = (event) => {
    onChoose(known[event.target.value]);
    event.target.value = "";
  };
  return html`<select class="fit" aria-label="Add a known list" onChange=${choose}>
    <option value="">Add a known list …</option>
    ${known.map(({ name, ruleCount }, at) => html`<option value=${at}>${name} (${countOf(ruleCount, "rule")})</option>`)}
  </select>`;
}

function SourceRow({ row, at, rows, setRows, state }) {
  const replace = (fields) => setRows(rows.map((each) => (each === row ? { ...each, ...fields } : each)));
  const paste = (event) => {
    const text = event.clipboardData.getData("text");
    if (!isAddressList(text)) return;
    event.preventDefault();
    setRows(pasteAddresses(rows, at, text));
  };
  const label = `Address ${at + 1}`;
  const title = row.fields.name;
  return html`<li>
    <div class="row tight">
      <input
        class="grow"
        type="url"
        inputmode="url"
        placeholder="https://…"
        aria-label=${label}
        autocomplete="off"
        spellcheck=${false}
        value=${row.address}
        onInput=${(event) => replace({ address: event.target.value })}
        onPaste=${paste}
      />
      <${IconButton} icon="up" label="Move ${label.toLowerCase()} up" disabled=${at === 0} onClick=${() => setRows(moveRow(rows, at, -1))} />
      <${IconButton} icon="down" label="Move ${label.toLowerCase()} down" disabled=${at === rows.length - 1} onClick=${() => setRows(moveRow(rows, at, 1))} />
      <${IconButton} icon="close" label="Remove ${label.toLowerCase()}" onClick=${() => setRows(rows.filter((each) => each !== row))} />
    </div>
    ${(title || state) && html`<p class="row-state">${title && html`<span class="hint">${title}</span>`}${state && html`<${SourceState} state=${state} />`}</p>`}
  </li>`;
}

export const SourceState = ({ state }) => {
  if (state.kind === "read") return html`<${Badge} kind="good">read<//><span class="hint">${state.rules === undefined ? countOf(state.lines, "line") : `${countOf(state.rules, "rule")} in ${countOf(state.lines, "line")}`}</span>`;
  if (state.kind === "failed") return html`<${Badge} kind="bad">failed<//><span class="wrong">${state.reason}</span>`;
  if (state.kind === "reading") return html`<${Badge}>reading …<//>`;
  return html`<${Badge}>not read<//>`;
};
