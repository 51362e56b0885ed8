// The settings of a zone: a form with all keys, and the earlier versions.
import { getJson, sendJson } from "./api.js";
import { banner, check, showFieldError, empty, field, fill, makeId, h, table } from "./dom.js";
import { GROUPS } from "./preload-keys.js";
import { formatTime } from "./times.js";

export function settingsPanel(zone, onRemoved) {
  const place = h("div", { class: "panel" }, empty("Loading …"));
  const versions = h("section", { class: "card" }, h("h2", {}, "Earlier versions"), empty("Loading …"));
  const panel = h("div", { class: "panel" }, place, versions, removalCard(zone, onRemoved));
  let isEdited = false;

  async function refresh() {
    if (isEdited) return;
    try {
      const saved = await getJson(zone("config"));
      fill(place, settingsForm(saved, save, () => (isEdited = true)));
      await listVersions(saved.version);
    } catch (error) {
      fill(place, banner(error.message));
      fill(versions);
      versions.hidden = true;
    }
  }

  async function listVersions(current, message) {
    versions.hidden = false;
    const { versions: all } = await getJson(zone("config/versions"));
    fill(versions, h("h2", {}, "Earlier versions"), message, all.length ? versionTable(all, current, restore) : empty("There is only the current version."));
  }

  async function save(config, key) {
    const saved = await sendJson(zone("config"), { ...config, ...(key ? { signing_key: key } : {}) }, { method: "PUT" });
    isEdited = false;
    fill(place, settingsForm(saved, save, () => (isEdited = true), banner(`Saved: version ${saved.version} is active.`, "good")));
    await listVersions(saved.version);
  }

  async function restore(version) {
    try {
      const saved = await sendJson(zone(`config/versions/${version}/restore`));
      isEdited = false;
      fill(place, settingsForm(saved, save, () => (isEdited = true)));
      await listVersions(saved.version, banner(`Version ${version} is active again, as version ${saved.version}.`, "good"));
    } catch (error) {
      await listVersions(undefined, banner(error.message));
    }
  }

  return { panel, refresh };
}

function removalCard(zone, onRemoved) {
  const notice = h("div", {});
  async function remove() {
    try {
      await sendJson(zone("config"), undefined, { method: "DELETE" });
      onRemoved();
    } catch (error) {
      fill(notice, banner(error.message));
    }
  }
  return h(
    "details",
    { class: "card" },
    h("summary", {}, "Remove this zone"),
    h("p", { class: "hint" }, "This deletes its hosts, queue and settings. Its pages are no longer preloaded or served from here. Its stored copies are removed within minutes."),
    notice,
    h("div", { class: "row" }, h("button", { type: "button", class: "danger", onclick: remove }, "Remove permanently")),
  );
}

function settingsForm({ config, version, own_signing_key: ownKey }, save, onType, message) {
  const controls = new Map();
  const notice = h("div", { role: "status" }, message);
  const button = h("button", { class: "primary" }, "Save");
  const key = h("input", { type: "password", autocomplete: "off", spellcheck: "false" });

  async function submit(event) {
    event.preventDefault();
    fill(notice);
    for (const { control } of controls.values()) showFieldError(control);
    showFieldError(key);
    button.disabled = true;
    try {
      const values = Object.fromEntries([...controls].map(([name, { read }]) => [name, read()]));
      await save({ ...config, ...values }, key.value);
    } catch (error) {
      fill(notice, banner(showErrors(error)));
      findInvalid(error)?.focus();
    } finally {
      button.disabled = false;
    }
  }

  // Shows each error at its field; returns a text with the others.
  function showErrors({ message, fields = [] }) {
    const loose = fields.filter(({ path, reason }) => {
      const control = controlOf(path);
      if (control) showFieldError(control, reason);
      return !control;
    });
    if (!fields.length) return message;
    return loose.length ? loose.map(({ path, reason }) => `${path} ${reason}`.trim()).join("; ") : "Nothing was saved: correct the marked fields.";
  }
  const controlOf = (path) => (path === "signing_key" ? key : controls.get(path.replace(/\[.*/, ""))?.control);
  const findInvalid = ({ fields = [] }) => fields.map(({ path }) => controlOf(path)).find(Boolean);

  const groups = GROUPS.map(([title, keys]) => {
    const heading = h("h3", { id: makeId("group") }, title);
    return h("div", { class: "card", role: "group", "aria-labelledby": heading.id }, heading, h("div", { class: "grid-fields" }, keys.map((about) => settingControl(about, config[about.key], controls))));
  });
  return h(
    "form",
    { class: "panel", novalidate: true, onsubmit: submit, oninput: onType },
    h("h2", {}, `Settings, version ${version}`),
    groups,
    h("div", { class: "card" }, h("div", { class: "narrow" }, field("New signing key", key, ownKey ? "The zone has its own key. Leave this empty to keep it. After a change, the old key is valid for 5 more minutes." : "The zone uses the key of the service. To give it its own key, enter at least 16 characters.")), notice, h("div", { class: "row" }, button)),
  );
}

function settingControl({ key, label, hint, kind, min, max, choices, optional }, value, controls) {
  const description = hint ? [hint, h("br"), h("code", {}, key)] : h("code", {}, key);
  if (kind === "bool") {
    const row = check([label, h("br"), h("code", { class: "hint" }, key)], { checked: value });
    const control = row.querySelector("input");
    controls.set(key, { control, read: () => control.checked });
    return row;
  }
  const control =
    kind === "choice"
      ? h("select", {}, choices.map((each) => h("option", { value: each }, each)))
      : kind === "lines" || kind === "pairs"
        ? h("textarea", { class: "code short", rows: 2, spellcheck: "false", autocomplete: "off" })
        : h("input", { type: kind, min, max, autocomplete: "off", spellcheck: "false" });
  const written = { lines: () => value.join("\n"), pairs: () => Object.entries(value).map((pair) => pair.join(" ")).join("\n") };
  control.value = written[kind]?.() ?? String(value ?? "");
  const readLines = () => control.value.split("\n").map((line) => line.trim()).filter(Boolean);
  const readText = () => (optional && !control.value.trim() ? null : control.value.trim());
  // An invalid number is sent unchanged: the service says what is wrong with it.
  const readNumber = () => (control.value.trim() === "" ? null : Number(control.value));
  const readPairs = () => Object.fromEntries(readLines().map((line) => line.split(/\s+/)).map(([name, number]) => [name, Number(number)]));
  const readChoice = () => ({ true: true, false: false })[control.value] ?? control.value;
  controls.set(key, { control, read: { lines: readLines, pairs: readPairs, number: readNumber, choice: readChoice }[kind] ?? readText });
  return field(label, control, description);
}

function versionTable(all, current, restore) {
  const earlier = (at) => all[at + 1]?.config;
  const listChanges = (config, before) => (before ? Object.keys(config).filter((key) => JSON.stringify(config[key]) !== JSON.stringify(before[key])) : []);
  return table(
    "Versions",
    [
      ["Version", ({ version }) => version, "number"],
      ["From", ({ created_at: at }) => formatTime(at * 1000)],
      ["Changed", (row) => (earlier(all.indexOf(row)) ? listChanges(row.config, earlier(all.indexOf(row))).join(", ") || "nothing" : "first stored version"), "wrap"],
      ["", ({ version }) => (version === current ? "active" : h("button", { type: "button", "aria-label": `Restore version ${version}`, onclick: () => restore(version) }, "Restore"))],
    ],
    all,
  );
}
