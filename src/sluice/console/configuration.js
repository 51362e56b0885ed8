// The form of a compilation: addresses and rules in one field, or a configuration as JSON. It is validated while typing.
import { check, fill, field, makeId, h } from "./dom.js";
import { RequestError, sendJson } from "./api.js";

const TRANSFORMATIONS = {
  ConvertToAscii: "converts international names to ASCII",
  TrimLines: "removes spaces around rules",
  RemoveComments: "removes comments",
  Compress: "converts hosts to rules and removes rules that another rule covers",
  RemoveModifiers: "removes modifiers that DNS filters do not support",
  InvertAllow: "turns every rule into an exception",
  Validate: "removes rules that block too much",
  ValidateAllowIp: "as Validate, but keeps IP addresses",
  ValidateAllowPublicSuffix: "as Validate, but keeps public suffixes",
  ValidateAllowIpAndPublicSuffix: "as Validate, but keeps both",
  Deduplicate: "removes duplicates",
  Optimise: "drops rules that another rule makes needless",
  RemoveEmptyLines: "removes empty lines",
  InsertFinalNewLine: "adds a line break at the end",
};
const DEFAULTS = ["RemoveComments", "Compress", "Validate", "Deduplicate", "TrimLines", "InsertFinalNewLine"];
const PASTED = "pasted rules";
const CHECK_AFTER_MS = 400;

const EXAMPLES = {
  "One list": {
    name: "EasyList",
    sources: [{ source: "https://easylist.to/easylist/easylist.txt" }],
    transformations: ["RemoveComments", "Deduplicate"],
  },
  "Hosts for Pi-hole": {
    name: "Hosts as rules",
    sources: [{ source: "https://raw.githubusercontent.com/StevenBlack/hosts/master/hosts", type: "hosts" }],
    transformations: DEFAULTS,
  },
  "Two lists with exceptions": {
    name: "Mine",
    sources: [
      { name: "AdGuard DNS", source: "https://adguardteam.github.io/AdGuardSDNSFilter/Filters/filter.txt" },
      { name: "Peter Lowe", source: "https://pgl.yoyo.org/adservers/serverlist.php?hostformat=hosts&mimetype=plaintext", type: "hosts" },
    ],
    exclusions: ["*.example.org^", "/^\\|\\|cdn[0-9]+\\./"],
    transformations: DEFAULTS,
  },
};

export function configurationForm(onChange) {
  const sources = h("textarea", { class: "code", rows: 7, spellcheck: "false", autocomplete: "off", oninput: onEdit });
  const name = h("input", { value: "My list", maxlength: 256, autocomplete: "off", oninput: onEdit });
  const boxes = Object.entries(TRANSFORMATIONS).map(([title, about]) => {
    const row = check([h("strong", {}, title), h("span", { class: "hint" }, ` ${about}`)], { value: title, checked: DEFAULTS.includes(title), onchange: onEdit });
    return row;
  });
  const json = h("textarea", { class: "code", rows: 18, spellcheck: "false", autocomplete: "off", oninput: onEdit });
  const verdict = h("p", { class: "hint", role: "status", id: makeId("verdict") });
  const example = h("select", { onchange: useExample }, h("option", { value: "" }, "Choose an example …"), Object.keys(EXAMPLES).map((title) => h("option", {}, title)));
  const advanced = h("input", { type: "checkbox", role: "switch", id: makeId("advanced"), onchange: switchMode });
  const simple = h(
    "div",
    { class: "fields" },
    field("Addresses or rules, one per line", sources, "A line that begins with http is the address of a list; any other line is a rule."),
    field("Name of the list", name),
    h("fieldset", { class: "field" }, h("legend", {}, "Transformations"), h("div", { class: "choices" }, boxes)),
  );
  const expert = h("div", { class: "field", hidden: true }, field("Configuration, in the format of HostlistCompiler", json));
  let timer = 0;

  // Returns { configuration, preFetchedContent? }; throws RequestError if the JSON cannot be parsed.
  const request = () => (advanced.checked ? { configuration: parseConfiguration(json.value) } : readFields());

  function readFields() {
    const lines = sources.value.split("\n").map((line) => line.trim()).filter(Boolean);
    const addresses = lines.filter((line) => /^https?:\/\//i.test(line));
    const rules = lines.filter((line) => !/^https?:\/\//i.test(line));
    const list = [...addresses.map((source) => ({ source })), ...(rules.length ? [{ name: PASTED, source: PASTED }] : [])];
    const transformations = boxes.map((row) => row.querySelector("input")).filter((box) => box.checked).map((box) => box.value);
    const configuration = { name: name.value, sources: list, transformations };
    return rules.length ? { configuration, preFetchedContent: { [PASTED]: rules.join("\n") } } : { configuration };
  }

  function onEdit() {
    clearTimeout(timer);
    timer = setTimeout(validate, CHECK_AFTER_MS);
    onChange?.();
  }

  async function validate() {
    const box = advanced.checked ? json : sources;
    try {
      const { configuration } = request();
      if (!configuration.sources?.length && !advanced.checked) return showVerdict(box, "", null);
      const { errors } = await sendJson("/configuration/validate", configuration);
      showVerdict(box, errors.map(({ path, reason }) => `${path} ${reason}`).join("; ") || "The configuration is valid.", errors.length === 0);
    } catch (error) {
      showVerdict(box, error.message, false);
    }
  }

  function showVerdict(box, text, isValid) {
    fill(verdict, text);
    verdict.className = isValid === false ? "banner bad" : isValid ? "banner good" : "hint";
    box.setAttribute("aria-invalid", String(isValid === false));
    box.setAttribute("aria-errormessage", verdict.id);
  }

  function switchMode() {
    if (advanced.checked && !json.value.trim()) {
      const { configuration } = readFields();
      json.value = JSON.stringify(configuration, null, 2);
    }
    simple.hidden = advanced.checked;
    expert.hidden = !advanced.checked;
    validate();
  }

  function useExample() {
    const chosen = EXAMPLES[example.value];
    if (!chosen) return;
    json.value = JSON.stringify(chosen, null, 2);
    sources.value = chosen.sources.map(({ source }) => source).join("\n");
    name.value = chosen.name;
    for (const row of boxes) {
      const box = row.querySelector("input");
      box.checked = chosen.transformations.includes(box.value);
    }
    if (chosen.exclusions && !advanced.checked) {
      advanced.checked = true;
      simple.hidden = true;
      expert.hidden = false;
    }
    onEdit();
  }

  const form = h(
    "div",
    { class: "fields" },
    h("div", { class: "row" }, h("div", { class: "grow" }, field("Start with", example)), h("label", { class: "check", for: advanced.id }, advanced, h("span", {}, "Edit the configuration as JSON"))),
    simple,
    expert,
    verdict,
  );
  return { form, request };
}

function parseConfiguration(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RequestError(`This is not JSON: ${error.message}`);
  }
}
