// The form of a compilation: for whom, from which sources, with which own rules, by which steps.
import { html, useRef, useState } from "../ui/draw.js";
import { Button, Check, Radios, TextField } from "../ui/controls.js";
import { Banner } from "../ui/feedback.js";
import { download, fileName } from "../ui/files.js";
import { AUDIENCES, STEPS, VALIDATORS, chooseAudience, describeRest, fromConfiguration, toConfiguration } from "./form-state.js";
import { OwnRules } from "./own-rules.js";
import { SourceRows } from "./source-rows.js";

const EXAMPLES = {
  "AdGuard's DNS filter": {
    name: "AdGuard DNS",
    sources: [{ name: "AdGuard DNS filter", source: "https://adguardteam.github.io/AdGuardSDNSFilter/Filters/filter.txt" }],
    transformations: ["RemoveComments", "Compress", "Validate", "Deduplicate", "InsertFinalNewLine"],
  },
  "Two lists with exceptions": {
    name: "Mine",
    sources: [
      { name: "AdGuard DNS filter", source: "https://adguardteam.github.io/AdGuardSDNSFilter/Filters/filter.txt" },
      { name: "Peter Lowe", source: "https://pgl.yoyo.org/adservers/serverlist.php?hostformat=hosts&mimetype=plaintext", type: "hosts" },
    ],
    exclusions: ["*.example.org^"],
    transformations: ["RemoveComments", "Compress", "Validate", "Deduplicate", "InsertFinalNewLine"],
  },
  "EasyList for a browser": {
    name: "EasyList",
    sources: [{ name: "EasyList", source: "https://easylist.to/easylist/easylist.txt" }],
    transformations: ["TrimLines", "RemoveEmptyLines", "Deduplicate", "InsertFinalNewLine"],
  },
};

export function CompileForm({ form, setForm, progress, problems }) {
  const [showsJson, setShowsJson] = useState(false);
  return html`<div class="fields">
    <${Radios} legend="Who is the list for?" name="audience" value=${form.audience} options=${AUDIENCES} onChange=${(audience) => setForm(chooseAudience(form, audience))} />
    <${SourceRows} form=${form} setForm=${setForm} progress=${progress} />
    <${OwnRules} form=${form} setForm=${setForm} />
    <${TextField} label="Name of the list" value=${form.name} maxlength="256" onInput=${(name) => setForm({ ...form, name })} />
    <${StepChoices} form=${form} setForm=${setForm} />
    ${describeRest(form) && html`<p class="hint">The configuration also has ${describeRest(form)}. The form does not show them; they are used and kept.</p>`}
    ${problems && html`<${Banner}>${problems}<//>`}
    <${Exchange} form=${form} setForm=${setForm} onShow=${() => setShowsJson(!showsJson)} />
    ${showsJson && html`<pre class="listing" tabindex="0" role="region" aria-label="Configuration as JSON">${JSON.stringify(toConfiguration(form), null, 2)}</pre>`}
  </div>`;
}

function StepChoices({ form, setForm }) {
  const toggle = (name, isOn) => setForm({ ...form, steps: isOn ? [...form.steps, name] : form.steps.filter((each) => each !== name) });
  return html`<details class="more">
    <summary>Steps <span class="hint">${[...form.steps, form.validator].filter(Boolean).length} chosen</span></summary>
    <div class="fields">
      <fieldset class="field">
        <legend>Transformations</legend>
        <div class="choices">
          ${Object.entries(STEPS).map(([name, about]) => html`<${Check} key=${name} label=${name} hint=${about} checked=${form.steps.includes(name)} onChange=${(isOn) => toggle(name, isOn)} />`)}
        </div>
      </fieldset>
      <${Radios} legend="Which rules may stay" name="validator" value=${form.validator} options=${VALIDATORS} onChange=${(validator) => setForm({ ...form, validator })} />
    </div>
  </details>`;
}

// Configurations from and to files, and examples to start with.
function Exchange({ form, setForm, onShow }) {
  const [problem, setProblem] = useState("");
  const picker = useRef(null);
  const take = async (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    try {
      setForm(fromConfiguration(form, parseConfiguration(await file.text())));
      setProblem("");
    } catch (error) {
      setProblem(`${file.name}: ${error.message}`);
    }
  };
  const save = () => download(fileName(form.name, "json"), `${JSON.stringify(toConfiguration(form), null, 2)}\n`, "application/json");
  const useExample = (event) => {
    const chosen = EXAMPLES[event.target.value];
    event.target.value = "";
    if (chosen) setForm(fromConfiguration(form, chosen));
  };
  return html`<details class="more">
    <summary>Configuration <span class="hint">import, export, examples</span></summary>
    <div class="row">
      <${Button} icon="upload" onClick=${() => picker.current.click()}>Import JSON<//>
      <input type="file" hidden ref=${picker} accept=".json,application/json" aria-label="Configuration file" onChange=${take} />
      <${Button} icon="download" onClick=${save}>Export JSON<//>
      <${Button} onClick=${onShow}>Show JSON<//>
      <label class="inline"
        >Example
        <select onChange=${useExample}><option value="">Choose …</option>${Object.keys(EXAMPLES).map((title) => html`<option>${title}</option>`)}</select></label
      >
    </div>
    ${problem && html`<${Banner}>${problem}<//>`}
  </details>`;
}

function parseConfiguration(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`this is not JSON: ${error.message}`);
  }
  if (!value || typeof value !== "object" || !Array.isArray(value.sources)) throw new Error("this is no configuration: it has no list of sources");
  return value;
}
