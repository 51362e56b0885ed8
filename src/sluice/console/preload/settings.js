// The settings of a zone: a form with all keys, the earlier versions, and its removal.
import { html, makeId, useEffect, useRef, useState } from "../ui/draw.js";
import { Button, Check, Select, TextArea, TextField } from "../ui/controls.js";
import { Banner, Empty, ErrorBanner, Loading } from "../ui/feedback.js";
import { Card, Table, useConfirm } from "../ui/layout.js";
import { Ago } from "../ui/times.js";
import { GROUPS } from "./setting-keys.js";
import { act } from "./zone-api.js";

export function Settings({ zone, onRemoved }) {
  const [saved, setSaved] = useState(null);
  const [versions, setVersions] = useState([]);
  const [error, setError] = useState(null);
  const [notice, setNotice] = useState(null);
  const load = async () => {
    try {
      setSaved(await zone.get("config"));
      setVersions((await zone.get("config/versions")).versions);
    } catch (failure) {
      setError(failure);
    }
  };
  useEffect(() => void load(), [zone.id]);
  const restore = (version) => act(setNotice, async () => (setSaved(await zone.send(`config/versions/${version}/restore`)), setVersions((await zone.get("config/versions")).versions), `Version ${version} is active again.`));
  const save = async (config) => {
    const next = await zone.put("config", config);
    setSaved(next);
    setNotice({ kind: "good", text: `Saved: version ${next.version} is active.` });
    setVersions((await zone.get("config/versions")).versions);
  };
  if (!saved) return error ? html`<${ErrorBanner} error=${error} />` : html`<${Loading} />`;
  return html`<${SettingsForm} key=${saved.version} saved=${saved} save=${save} notice=${notice} />
    <${Versions} versions=${versions} current=${saved.version} restore=${restore} />
    <${Removal} zone=${zone} onRemoved=${onRemoved} />`;
}

const WRITE = { lines: (value) => value.join("\n"), pairs: (value) => Object.entries(value).map((pair) => pair.join(" ")).join("\n"), bool: (value) => value };
const splitLines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);
const READ = {
  bool: (value) => value,
  lines: splitLines,
  pairs: (text) => Object.fromEntries(splitLines(text).map((line) => line.split(/\s+/)).map(([name, number]) => [name, Number(number)])),
  number: (text) => (text.trim() === "" ? null : Number(text)), // an invalid number is sent: the service says what is wrong with it
  choice: (text) => ({ true: true, false: false })[text] ?? text,
  text: (text, { optional }) => (optional && !text.trim() ? null : text.trim()),
};
const KEYS = GROUPS.flatMap(([, keys]) => keys);
const toTexts = (config) => Object.fromEntries(KEYS.map(({ key, kind }) => [key, (WRITE[kind] ?? ((value) => String(value ?? "")))(config[key])]));

function SettingsForm({ saved, save, notice }) {
  const [texts, setTexts] = useState(() => toTexts(saved.config));
  const [signingKey, setSigningKey] = useState("");
  const [error, setError] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const form = useRef(null);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      setError(null);
      const values = Object.fromEntries(KEYS.map((about) => [about.key, READ[about.kind](texts[about.key], about)]));
      await save({ ...saved.config, ...values, ...(signingKey ? { signing_key: signingKey } : {}) });
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  useEffect(() => {
    if (error) form.current?.querySelector("[aria-invalid=true]")?.focus();
  }, [error]);
  const errorOf = (key) => (error?.fields ?? []).filter(({ path }) => path.replace(/\[.*/, "") === key).map(({ reason }) => reason).join("; ");
  const isKnown = ({ path }) => path === "signing_key" || KEYS.some(({ key }) => key === path.replace(/\[.*/, ""));
  const loose = error && (error.fields.length ? error.fields.filter((each) => !isKnown(each)).map(({ path, reason }) => `${path} ${reason}`).join("; ") || "Nothing was saved: correct the marked fields." : error.message);
  return html`<form class="panel" novalidate ref=${form} onSubmit=${submit}>
    <h2>Settings, version ${saved.version}</h2>
    ${GROUPS.map(([title, keys]) => html`<${Group} key=${title} title=${title}>${keys.map((about) => html`<${Setting} key=${about.key} about=${about} value=${texts[about.key]} error=${errorOf(about.key)} onInput=${(value) => setTexts({ ...texts, [about.key]: value })} />`)}<//>`)}
    <div class="card">
      <div class="narrow">
        <${TextField}
          label="New signing key"
          type="password"
          value=${signingKey}
          error=${errorOf("signing_key")}
          onInput=${setSigningKey}
          hint=${saved.own_signing_key ? "The zone has its own key. Leave this empty to keep it. After a change, the old key is valid for 5 more minutes." : "The zone uses the key of the service. To give it its own key, enter at least 16 characters."}
        />
      </div>
      ${loose ? html`<${Banner}>${loose}<//>` : notice && html`<${Banner} kind=${notice.kind}>${notice.text}<//>`}
      <div><button type="submit" class="primary" disabled=${isBusy}>Save</button></div>
    </div>
  </form>`;
}

function Group({ title, children }) {
  const id = useRef(makeId("group")).current;
  return html`<div class="card" role="group" aria-labelledby=${id}><h3 id=${id}>${title}</h3><div class="grid-fields">${children}</div></div>`;
}

function Setting({ about: { key, label, hint, kind, min, max, choices }, value, error, onInput }) {
  const description = html`${hint && html`${hint}<br />`}<code>${key}</code>`;
  if (kind === "bool") return html`<${Check} label=${label} hint=${html`<br /><code>${key}</code>`} checked=${value} onChange=${onInput} />`;
  if (kind === "choice") return html`<${Select} label=${label} hint=${description} value=${value} options=${choices.map((each) => [each, each])} onInput=${onInput} />`;
  if (kind === "lines" || kind === "pairs") return html`<${TextArea} label=${label} hint=${description} error=${error} rows="2" class="code short" value=${value} onInput=${onInput} />`;
  return html`<${TextField} label=${label} hint=${description} error=${error} type=${kind} min=${min} max=${max} value=${value} onInput=${onInput} />`;
}

function Versions({ versions, current, restore }) {
  const before = (row) => versions[versions.indexOf(row) + 1]?.config;
  const listChanges = (row) => Object.keys(row.config).filter((key) => JSON.stringify(row.config[key]) !== JSON.stringify(before(row)[key]));
  return html`<${Card} title="Earlier versions">
    ${versions.length
      ? html`<${Table}
          caption="Versions"
          columns=${[
            ["Version", ({ version }) => version, "number"],
            ["From", ({ created_at: at }) => html`<${Ago} time=${at * 1000} />`],
            ["Changed", (row) => (before(row) ? listChanges(row).join(", ") || "nothing" : "first stored version"), "wrap"],
            ["", ({ version }) => (version === current ? "active" : html`<${Button} aria-label="Restore version ${version}" onClick=${() => restore(version)}>Restore<//>`)],
          ]}
          rows=${versions}
          keyOf=${({ version }) => version}
        />`
      : html`<${Empty}>There is only the current version.<//>`}
  <//>`;
}

function Removal({ zone, onRemoved }) {
  const [notice, setNotice] = useState(null);
  const [dialog, ask] = useConfirm();
  const remove = () =>
    ask({
      title: `Remove the zone ${zone.id}?`,
      text: "Its hosts, queue, settings and copies are deleted, and its pages are no longer served from here. This cannot be undone.",
      action: "Remove permanently",
      run: () => act(setNotice, async () => (await zone.remove("config"), onRemoved(), "Removed.")),
    });
  return html`<${Card} title="Remove this zone">
    ${notice?.kind === "bad" && html`<${Banner}>${notice.text}<//>`}
    <div><${Button} icon="trash" kind="danger" onClick=${remove}>Remove this zone<//></div>
    ${dialog}
  <//>`;
}
