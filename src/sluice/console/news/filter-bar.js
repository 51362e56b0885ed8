// The search, and the other filters folded away until somebody needs them.
import { html } from "../ui/draw.js";
import { Button, Check, SearchField, Select, TextField } from "../ui/controls.js";
import { EMPTY, SENTIMENTS, countFilters, isDay } from "./filters.js";

const STATUSES = [["", "All"], ["complete", "Complete"], ["pending", "In progress"]];

export function FilterBar({ filters, setFilters, errors, known }) {
  const set = (name) => (value) => setFilters({ ...filters, [name]: value });
  const toggle = (name, isOn) => set("sentiment")(SENTIMENTS.filter((each) => (each === name ? isOn : filters.sentiment.includes(each))));
  const count = countFilters(filters);
  return html`<form class="card" role="search" aria-label="Find stories" onSubmit=${(event) => event.preventDefault()}>
    <${SearchField} label="Search" placeholder="Search: words, “a phrase”, -not this, this OR that" value=${filters.q} onInput=${set("q")} />
    <details class="more" open=${count > 0 || innerWidth > 960}>
      <summary>Filters${count > 0 && html` <span class="hint">${count} set</span>`}</summary>
      <div class="grid-fields filters">
        <fieldset class="field">
          <legend>Sentiment</legend>
          <div class="row">${SENTIMENTS.map((name) => html`<${Check} key=${name} label=${name} checked=${filters.sentiment.includes(name)} onChange=${(isOn) => toggle(name, isOn)} />`)}</div>
        </fieldset>
        <${TextField} label="Source" value=${filters.source} list="known-sources" error=${errors.source} onInput=${set("source")} />
        <${TextField} label="Language" value=${filters.language} list="known-languages" error=${errors.language} onInput=${set("language")} />
        <${DayField} label="From" value=${filters.from} error=${errors.from} onInput=${set("from")} />
        <${DayField} label="To" value=${filters.to} error=${errors.to} onInput=${set("to")} />
        <${Select} label="Status" value=${filters.status} options=${STATUSES} onInput=${set("status")} />
        <div class="low"><${Button} onClick=${() => setFilters(EMPTY)}>Clear filters<//></div>
      </div>
    </details>
    <datalist id="known-sources">${known.sources.map((name) => html`<option value=${name} />`)}</datalist>
    <datalist id="known-languages">${known.languages.map((name) => html`<option value=${name} />`)}</datalist>
  </form>`;
}

// A day; the hint has the time of the day if a chart has set one.
const DayField = ({ value, ...others }) => html`<${TextField} type="date" value=${value.slice(0, 10)} hint=${value && !isDay(value) && `${value.slice(11, 16)} UTC`} ...${others} />`;
