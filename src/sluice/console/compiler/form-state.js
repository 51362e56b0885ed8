// The state of the form, and how it becomes a configuration and back. What the form does not show is carried along, so that nothing is lost.

export const AUDIENCES = [
  ["dns", "A DNS filter", "AdGuard Home, Pi-hole, unbound, dnsmasq: whole domains"],
  ["browser", "A browser extension", "uBlock Origin, AdGuard: domains, addresses, page elements"],
];

// What each audience needs; the person may change it afterwards.
const PRESETS = {
  dns: { steps: ["TrimLines", "RemoveComments", "RemoveEmptyLines", "Compress", "Deduplicate", "InsertFinalNewLine"], validator: "Validate" },
  browser: { steps: ["TrimLines", "RemoveEmptyLines", "Deduplicate", "InsertFinalNewLine"], validator: "" },
};

export const STEPS = {
  ConvertToAscii: "write international names in ASCII",
  TrimLines: "remove spaces around rules",
  RemoveComments: "remove comments",
  RemoveEmptyLines: "remove empty lines",
  Compress: "turn hosts into rules, and drop rules that another rule covers",
  RemoveModifiers: "remove modifiers that DNS filters do not support",
  InvertAllow: "turn every rule into an exception",
  Deduplicate: "drop repeated rules",
  Optimise: "drop rules that change no verdict",
  InsertFinalNewLine: "end the file with a line break",
};

export const VALIDATORS = [
  ["", "Keep every rule", "right for a browser"],
  ["Validate", "Only what DNS can apply", "no IP addresses, no public suffixes"],
  ["ValidateAllowIp", "… and IP addresses", "Validate, but keep them"],
  ["ValidateAllowPublicSuffix", "… and public suffixes", "such as ||com^"],
  ["ValidateAllowIpAndPublicSuffix", "… and both", ""],
];

// A text above this size is attached as a file; the page never draws it.
export const ATTACH_ABOVE_CHARS = 200_000;
export const MAX_SENT_BYTES = 4_000_000;

const OWN_RULES = "own rules";
let nextKey = 0;
export const makeRow = (address = "", fields = {}) => ({ key: (nextKey += 1), address, fields });

export const emptyForm = () => ({ audience: "dns", name: "My list", rows: [makeRow()], rules: "", files: [], ...PRESETS.dns, rest: {} });

export const chooseAudience = (form, audience) => ({ ...form, audience, ...PRESETS[audience] });

// What is sent: the configuration, and the texts of the person's own rules and files.
export function toRequest(form) {
  const sources = form.rows.filter(({ address }) => address.trim()).map(({ address, fields }) => ({ ...fields, source: address.trim() }));
  const content = {};
  for (const { name, text } of form.files) content[unusedName(name, sources, content)] = text;
  if (form.rules.trim()) content[unusedName(OWN_RULES, sources, content)] = form.rules;
  const own = Object.keys(content).map((name) => ({ name, source: name }));
  const transformations = Object.keys(STEPS).filter((name) => form.steps.includes(name));
  if (form.validator) transformations.push(form.validator);
  const configuration = { ...form.rest, name: form.name.trim() || "My list", sources: [...sources, ...own], transformations };
  return own.length ? { configuration, preFetchedContent: content } : { configuration };
}

function unusedName(name, sources, content) {
  const isTaken = (each) => each in content || sources.some(({ source }) => source === each);
  for (let at = 1; ; at += 1) {
    const each = at === 1 ? name : `${name} ${at}`;
    if (!isTaken(each)) return each;
  }
}

// The configuration alone, for a file: own rules and attached files are not part of it.
export const toConfiguration = (form) => {
  const { configuration, preFetchedContent = {} } = toRequest(form);
  return { ...configuration, sources: configuration.sources.filter(({ source }) => !(source in preFetchedContent)) };
};

// Takes over a configuration; own rules and files stay.
export function fromConfiguration(form, configuration) {
  const { name = "My list", sources = [], transformations = [], ...rest } = configuration;
  const validator = transformations.find((each) => each.startsWith("Validate")) ?? "";
  const rows = sources.map(({ source, ...fields }) => makeRow(source, fields));
  const steps = transformations.filter((each) => each in STEPS);
  return { ...form, audience: validator || steps.includes("Compress") ? "dns" : "browser", name, rows: rows.length ? rows : [makeRow()], steps, validator, rest };
}

// A description of what a configuration has beyond what the form shows.
export function describeRest(form) {
  const own = form.rows.filter(({ fields }) => Object.keys(fields).some((name) => name !== "name" && name !== "type")).length;
  const names = Object.keys(form.rest).filter((name) => JSON.stringify(form.rest[name]) !== "[]");
  return [names.length ? `the list's ${names.join(", ")}` : "", own ? `settings of ${own === 1 ? "one source" : `${own} sources`}` : ""].filter(Boolean).join(" and ");
}

export function moveRow(rows, at, by) {
  const next = [...rows];
  const [row] = next.splice(at, 1);
  next.splice(at + by, 0, row);
  return next;
}

// Several pasted addresses become a row each.
export function pasteAddresses(rows, at, text) {
  const lines = text.split(/\s+/).filter(Boolean);
  const [first, ...others] = lines;
  return [...rows.slice(0, at), { ...rows[at], address: first }, ...others.map((line) => makeRow(line)), ...rows.slice(at + 1)];
}

export const isAddressList = (text) => {
  const lines = text.trim().split(/\s+/);
  return lines.length > 1 && lines.every((line) => /^https?:\/\//i.test(line));
};

const FORM_KEY = "sluice-form";

// The form is stored without its files, whose texts may be larger than the browser's storage: they are stored apart.
export const toStored = (form) => ({ ...form, files: [] });

export function fromStored(stored) {
  if (!stored || !Array.isArray(stored.rows)) return emptyForm();
  return { ...emptyForm(), ...stored, rows: stored.rows.map(({ address, fields }) => makeRow(address, fields)), files: [] };
}

export { FORM_KEY };
