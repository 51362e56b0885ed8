// The settings of a zone: a form with every key, and the versions there were.
import { getJson, sendJson } from "./api.js";
import { banner, check, complain, empty, field, fill, freshId, h, table } from "./dom.js";
import { GROUPS } from "./preload-keys.js";
import { moment } from "./times.js";

export function settingsPanel(zone, onRemoved) {
  const place = h("div", { class: "panel" }, empty("Loading …"));
  const versions = h("section", { class: "card" }, h("h2", {}, "Earlier versions"), empty("Loading …"));
  const panel = h("div", { class: "panel" }, place, versions, removal(zone, onRemoved));
  let typing = false;

  async function refresh() {
    if (typing) return;
    try {
      const told = await getJson(zone("config"));
      fill(place, settingsForm(told, save, () => (typing = true)));
      await listVersions(told.version);
    } catch (error) {
      fill(place, banner(error.message));
      fill(versions);
      versions.hidden = true;
    }
  }

  async function listVersions(current, said) {
    versions.hidden = false;
    const { versions: all } = await getJson(zone("config/versions"));
    fill(versions, h("h2", {}, "Earlier versions"), said, all.length ? versionTable(all, current, restore) : empty("Only the current one."));
  }

  async function save(config, key) {
    const told = await sendJson(zone("config"), { ...config, ...(key ? { signing_key: key } : {}) }, { method: "PUT" });
    typing = false;
    fill(place, settingsForm(told, save, () => (typing = true), banner(`Saved: version ${told.version} is in force.`, "good")));
    await listVersions(told.version);
  }

  async function restore(version) {
    try {
      const told = await sendJson(zone(`config/versions/${version}/restore`));
      typing = false;
      fill(place, settingsForm(told, save, () => (typing = true)));
      await listVersions(told.version, banner(`Version ${version} is in force again, as version ${told.version}.`, "good"));
    } catch (error) {
      await listVersions(undefined, banner(error.message));
    }
  }

  return { panel, refresh };
}

function removal(zone, onRemoved) {
  const said = h("div", {});
  async function remove() {
    try {
      await sendJson(zone("config"), undefined, { method: "DELETE" });
      onRemoved();
    } catch (error) {
      fill(said, banner(error.message));
    }
  }
  return h(
    "details",
    { class: "card" },
    h("summary", {}, "Remove this zone"),
    h("p", { class: "hint" }, "Its hosts, its queue and its settings are forgotten, and its pages are no longer warmed or served from here. Stored copies stay until they are too old."),
    said,
    h("div", { class: "row" }, h("button", { type: "button", class: "danger", onclick: remove }, "Remove for good")),
  );
}

function settingsForm({ config, version, own_signing_key: ownKey }, save, onType, told) {
  const controls = new Map();
  const said = h("div", { role: "status" }, told);
  const button = h("button", { class: "primary" }, "Save");
  const key = h("input", { type: "password", autocomplete: "off", spellcheck: "false" });

  async function submit(event) {
    event.preventDefault();
    fill(said);
    for (const { control } of controls.values()) complain(control);
    complain(key);
    button.disabled = true;
    try {
      const wanted = Object.fromEntries([...controls].map(([name, { read }]) => [name, read()]));
      await save({ ...config, ...wanted }, key.value);
    } catch (error) {
      fill(said, banner(refused(error)));
      first(error)?.focus();
    } finally {
      button.disabled = false;
    }
  }

  // Each mistake at its field; what has no field of its own is said above the button.
  function refused({ message, fields = [] }) {
    const loose = fields.filter(({ path, reason }) => {
      const control = controlOf(path);
      if (control) complain(control, reason);
      return !control;
    });
    if (!fields.length) return message;
    return loose.length ? loose.map(({ path, reason }) => `${path} ${reason}`.trim()).join("; ") : "Nothing was saved: see the marked fields.";
  }
  const controlOf = (path) => (path === "signing_key" ? key : controls.get(path.replace(/\[.*/, ""))?.control);
  const first = ({ fields = [] }) => fields.map(({ path }) => controlOf(path)).find(Boolean);

  const groups = GROUPS.map(([title, keys]) => {
    const heading = h("h3", { id: freshId("group") }, title);
    return h("div", { class: "card", role: "group", "aria-labelledby": heading.id }, heading, h("div", { class: "grid-fields" }, keys.map((about) => one(about, config[about.key], controls))));
  });
  return h(
    "form",
    { class: "panel", novalidate: true, onsubmit: submit, oninput: onType },
    h("h2", {}, `Settings, version ${version}`),
    groups,
    h("div", { class: "card" }, h("div", { class: "narrow" }, field("New signing key", key, ownKey ? "The zone has a key of its own; left empty, it stays. The former one is good for 5 more minutes." : "The zone uses the service's key. At least 16 characters give it one of its own.")), said, h("div", { class: "row" }, button)),
  );
}

function one({ key, label, hint, kind, min, max, choices, optional }, value, controls) {
  const named = hint ? [hint, h("br"), h("code", {}, key)] : h("code", {}, key);
  if (kind === "bool") {
    const row = check([label, h("br"), h("code", { class: "hint" }, key)], { checked: value });
    const control = row.querySelector("input");
    controls.set(key, { control, read: () => control.checked });
    return row;
  }
  const control =
    kind === "choice"
      ? h("select", {}, choices.map((each) => h("option", { value: each }, each)))
      : kind === "lines"
        ? h("textarea", { class: "code short", rows: 2, spellcheck: "false", autocomplete: "off" })
        : h("input", { type: kind, min, max, autocomplete: "off", spellcheck: "false" });
  control.value = kind === "lines" ? value.join("\n") : (value ?? "");
  const listed = () => control.value.split("\n").map((line) => line.trim()).filter(Boolean);
  const plain = () => (optional && !control.value.trim() ? null : control.value.trim());
  // An empty or broken number goes out as it is: the service says what it wants.
  const counted = () => (control.value.trim() === "" ? null : Number(control.value));
  controls.set(key, { control, read: { lines: listed, number: counted }[kind] ?? plain });
  return field(label, control, named);
}

function versionTable(all, current, restore) {
  const earlier = (at) => all[at + 1]?.config;
  const changed = (config, before) => (before ? Object.keys(config).filter((key) => JSON.stringify(config[key]) !== JSON.stringify(before[key])) : []);
  return table(
    "Versions",
    [
      ["Version", ({ version }) => version, "number"],
      ["From", ({ created_at: at }) => moment(at * 1000)],
      ["Changed", (row) => (earlier(all.indexOf(row)) ? changed(row.config, earlier(all.indexOf(row))).join(", ") || "nothing" : "the first one kept"), "wrap"],
      ["", ({ version }) => (version === current ? "in force" : h("button", { type: "button", "aria-label": `Restore version ${version}`, onclick: () => restore(version) }, "Restore"))],
    ],
    all,
  );
}
