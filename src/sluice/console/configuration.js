// The form that makes a request: addresses and rules in one box, or a configuration as JSON, checked while it is typed.
import { check, fill, field, freshId, h } from "./dom.js";
import { Failed, sendJson } from "./api.js";

const TRANSFORMATIONS = {
  ConvertToAscii: "international names as ASCII",
  TrimLines: "no spaces around rules",
  RemoveComments: "no comments",
  Compress: "hosts into rules, without what another rule covers",
  RemoveModifiers: "no modifiers that DNS cannot follow",
  InvertAllow: "every rule an exception",
  Validate: "nothing that would block too much",
  ValidateAllowIp: "the same, with addresses",
  ValidateAllowPublicSuffix: "the same, with whole suffixes",
  ValidateAllowIpAndPublicSuffix: "the same, with both",
  Deduplicate: "every rule once",
  RemoveEmptyLines: "no empty lines",
  InsertFinalNewLine: "a line break at the end",
};
const USUAL = ["RemoveComments", "Compress", "Validate", "Deduplicate", "TrimLines", "InsertFinalNewLine"];
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
    transformations: USUAL,
  },
  "Two lists with exceptions": {
    name: "Mine",
    sources: [
      { name: "AdGuard DNS", source: "https://adguardteam.github.io/AdGuardSDNSFilter/Filters/filter.txt" },
      { name: "Peter Lowe", source: "https://pgl.yoyo.org/adservers/serverlist.php?hostformat=hosts&mimetype=plaintext", type: "hosts" },
    ],
    exclusions: ["*.example.org^", "/^\\|\\|cdn[0-9]+\\./"],
    transformations: USUAL,
  },
};

export function configurationForm(onChange) {
  const sources = h("textarea", { class: "code", rows: 7, spellcheck: "false", autocomplete: "off", oninput: changed });
  const name = h("input", { value: "My list", maxlength: 256, autocomplete: "off", oninput: changed });
  const boxes = Object.entries(TRANSFORMATIONS).map(([title, about]) => {
    const row = check([h("strong", {}, title), h("span", { class: "hint" }, ` ${about}`)], { value: title, checked: USUAL.includes(title), onchange: changed });
    return row;
  });
  const json = h("textarea", { class: "code", rows: 18, spellcheck: "false", autocomplete: "off", oninput: changed });
  const verdict = h("p", { class: "hint", role: "status", id: freshId("verdict") });
  const example = h("select", { onchange: useExample }, h("option", { value: "" }, "Choose an example …"), Object.keys(EXAMPLES).map((title) => h("option", {}, title)));
  const advanced = h("input", { type: "checkbox", role: "switch", id: freshId("advanced"), onchange: switchMode });
  const simple = h(
    "div",
    { class: "fields" },
    field("Addresses or rules, one per line", sources, "Lines that begin with http are lists to read; all others are taken as rules of your own."),
    field("Name of the list", name),
    h("fieldset", { class: "field" }, h("legend", {}, "Transformations"), h("div", { class: "choices" }, boxes)),
  );
  const expert = h("div", { class: "field", hidden: true }, field("Configuration, as HostlistCompiler reads it", json));
  let checking = 0;

  // What is asked for: { configuration, preFetchedContent? }; throws Failed when the JSON cannot be read.
  const request = () => (advanced.checked ? { configuration: parsed(json.value) } : typed());

  function typed() {
    const lines = sources.value.split("\n").map((line) => line.trim()).filter(Boolean);
    const addresses = lines.filter((line) => /^https?:\/\//i.test(line));
    const rules = lines.filter((line) => !/^https?:\/\//i.test(line));
    const wanted = [...addresses.map((source) => ({ source })), ...(rules.length ? [{ name: PASTED, source: PASTED }] : [])];
    const transformations = boxes.map((row) => row.querySelector("input")).filter((box) => box.checked).map((box) => box.value);
    const configuration = { name: name.value, sources: wanted, transformations };
    return rules.length ? { configuration, preFetchedContent: { [PASTED]: rules.join("\n") } } : { configuration };
  }

  function changed() {
    clearTimeout(checking);
    checking = setTimeout(validate, CHECK_AFTER_MS);
    onChange?.();
  }

  async function validate() {
    const box = advanced.checked ? json : sources;
    try {
      const { configuration } = request();
      if (!configuration.sources?.length && !advanced.checked) return say(box, "", null);
      const { errors } = await sendJson("/configuration/validate", configuration);
      say(box, errors.map(({ path, reason }) => `${path} ${reason}`).join("; ") || "The configuration is fine.", errors.length === 0);
    } catch (error) {
      say(box, error.message, false);
    }
  }

  function say(box, text, fine) {
    fill(verdict, text);
    verdict.className = fine === false ? "banner bad" : fine ? "banner good" : "hint";
    box.setAttribute("aria-invalid", String(fine === false));
    box.setAttribute("aria-errormessage", verdict.id);
  }

  function switchMode() {
    if (advanced.checked && !json.value.trim()) {
      const { configuration } = typed();
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
    changed();
  }

  const form = h(
    "div",
    { class: "fields" },
    h("div", { class: "row" }, h("div", { class: "grow" }, field("Begin with", example)), h("label", { class: "check", for: advanced.id }, advanced, h("span", {}, "Edit the configuration as JSON"))),
    simple,
    expert,
    verdict,
  );
  return { form, request };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failed(`This is not JSON: ${error.message}`);
  }
}
