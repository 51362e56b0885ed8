// Controls of forms, each with its label.
import { html, makeId, useEffect, useRef, useState } from "./draw.js";
import { copyText } from "./files.js";
import { Icon } from "./icons.js";

const useId = (prefix) => {
  const id = useRef("");
  id.current ||= makeId(prefix);
  return id.current;
};

// A label, a control, a hint below it and, in red, what is wrong with it. `control` gets the attributes that tie them together.
export function Field({ label, hint, error, control, quiet = false }) {
  const id = useId("field");
  const described = [hint && `${id}-hint`, error && `${id}-wrong`].filter(Boolean).join(" ");
  return html`<div class="field">
    <label for=${id} class=${quiet ? "visually-hidden" : ""}>${label}</label>
    ${control({ id, "aria-describedby": described || undefined, "aria-invalid": error ? "true" : undefined })}
    ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}${error && html`<p class="wrong" id="${id}-wrong">${error}</p>`}
  </div>`;
}

export function TextField({ label, value, onInput, hint, error, quiet, ...others }) {
  const control = (tied) => html`<input value=${value} autocomplete="off" onInput=${(event) => onInput(event.target.value)} ...${tied} ...${others} />`;
  return html`<${Field} ...${{ label, hint, error, quiet, control }} />`;
}

export function TextArea({ label, value, onInput, hint, error, quiet, ...others }) {
  const control = (tied) =>
    html`<textarea class="code" value=${value} spellcheck=${false} autocomplete="off" onInput=${(event) => onInput(event.target.value)} ...${tied} ...${others}></textarea>`;
  return html`<${Field} ...${{ label, hint, error, quiet, control }} />`;
}

// options: [[value, title]].
export function Select({ label, value, options, onInput, hint, quiet }) {
  const control = (tied) =>
    html`<select value=${value} onChange=${(event) => onInput(event.target.value)} ...${tied}>
      ${options.map(([each, title]) => html`<option value=${each} selected=${each === value}>${title}</option>`)}
    </select>`;
  return html`<${Field} ...${{ label, hint, quiet, control }} />`;
}

export const Check = ({ label, hint, checked, onChange, disabled, ...others }) =>
  html`<label class="check"
    ><input type="checkbox" checked=${checked} disabled=${disabled} onChange=${(event) => onChange(event.target.checked)} ...${others} /><span
      >${label}${hint && html` <span class="hint">${hint}</span>`}</span
    ></label
  >`;

// options: [[value, title, hint?]].
export function Radios({ legend, name, value, options, onChange, row = false }) {
  return html`<fieldset class="field">
    <legend>${legend}</legend>
    <div class=${row ? "segments" : "choices"}>
      ${options.map(
        ([each, title, hint]) =>
          html`<label class="check"
            ><input type="radio" name=${name} value=${each} checked=${each === value} onChange=${() => onChange(each)} /><span
              >${title}${hint && html` <span class="hint">${hint}</span>`}</span
            ></label
          >`,
      )}
    </div>
  </fieldset>`;
}

// A choice of few short values, such as a time window. options: [[value, title]].
export const Segments = ({ label, value, options, onChange }) =>
  html`<div class="segmented" role="group" aria-label=${label}>
    ${options.map(([each, title]) => html`<button type="button" key=${each} aria-pressed=${String(each === value)} onClick=${() => onChange(each)}>${title}</button>`)}
  </div>`;

export const Button = ({ icon, kind = "", children, ...others }) =>
  html`<button type="button" class=${kind} ...${others}>${icon && html`<${Icon} name=${icon} />`}${children}</button>`;

export const IconButton = ({ icon, label, ...others }) => html`<button type="button" class="icon-button" aria-label=${label} title=${label} ...${others}><${Icon} name=${icon} /></button>`;

const SHOWN_MS = 2500;

export function CopyButton({ text, label = "Copy", what = "" }) {
  const [outcome, setOutcome] = useState("");
  useEffect(() => {
    const timer = outcome && setTimeout(() => setOutcome(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => setOutcome((await copyText(typeof text === "function" ? text() : text)) ? "Copied" : "Not allowed here: select the text and copy it");
  return html`<${Button} icon=${outcome === "Copied" ? "check" : "copy"} onClick=${copy} aria-label=${what ? `${outcome || label} ${what}` : undefined}>${outcome || label}<//>`;
}

export function SearchField({ label, value, onInput, placeholder }) {
  const control = (tied) =>
    html`<div class="search"><${Icon} name="search" /><input type="search" value=${value} placeholder=${placeholder} autocomplete="off" onInput=${(event) => onInput(event.target.value)} ...${tied} /></div>`;
  return html`<${Field} label=${label} quiet=${true} control=${control} />`;
}
