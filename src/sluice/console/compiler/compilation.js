// One compilation as a value: what its events have told so far, and how the next one changes it.

const PHASES = { sources: [0, 60], transformations: [60, 95], finalize: [95, 100] };
export const TOO_LARGE = 413;

export const begin = ({ configuration }) => ({
  state: "running",
  name: configuration.name,
  addresses: configuration.sources.map(({ source }) => source),
  names: configuration.sources.map(({ name, source }) => name ?? source), // as the report calls them
  sources: {},
  steps: [],
  percent: 0,
  error: "",
  status: 0,
  result: null,
});

const setSource = (run, index, state) => ({ ...run, sources: { ...run.sources, [run.addresses[index]]: state } });
const withoutPrefix = (text, prefix) => (text.startsWith(prefix) ? text.slice(prefix.length) : text);
const setLastStep = (run, step) => ({ ...run, steps: [...run.steps.slice(0, -1), step] });

const ON = {
  "source:start": (run, { sourceIndex }) => setSource(run, sourceIndex, { kind: "reading" }),
  "source:complete": (run, { sourceIndex, ruleCount, durationMs }) => setSource(run, sourceIndex, { kind: "read", lines: ruleCount, ms: durationMs }),
  "source:error": (run, { sourceIndex, error }) => setSource(run, sourceIndex, { kind: "failed", reason: withoutPrefix(error, `Source ${run.names[sourceIndex]}: `) }),
  "transformation:start": (run, { name, inputCount }) => ({ ...run, steps: [...run.steps, { name, linesIn: inputCount }] }),
  "transformation:complete": (run, { name, inputCount, outputCount, durationMs }) => setLastStep(run, { name, linesIn: inputCount, linesOut: outputCount, ms: durationMs }),
  progress: (run, { phase, current, total }) => {
    const [from, to] = PHASES[phase] ?? [0, 0];
    return { ...run, percent: Math.max(run.percent, from + ((to - from) * current) / Math.max(total, 1)) };
  },
  result: (run, result) => ({ ...run, result, state: "done", percent: 100, sources: countRules(run, result.report) }),
  error: (run, { error, status }) => ({ ...run, state: "failed", error, status }),
};

export const handleEvent = (run, name, data) => (ON[name] ? markUnread(ON[name](run, data)) : run);

export const stop = (run) => markUnread({ ...run, state: "stopped" });
export const fail = (run, error) => markUnread({ ...run, state: "failed", error });

// After the end, a source that was being read or waited has not been read.
function markUnread(run) {
  if (run.state === "running" || run.state === "done") return run;
  const entries = run.addresses.map((address) => [address, ["read", "failed"].includes(run.sources[address]?.kind) ? run.sources[address] : { kind: "unread" }]);
  return { ...run, sources: Object.fromEntries(entries) };
}

const COMMENTS = new Set(["RemoveComments", "RemoveEmptyLines", "TrimLines"]);

export const isComment = ({ transformation, reason }) => COMMENTS.has(transformation) || /comment|empty line/.test(reason);

// The sources with the number of their rules: the lines without comments and empty ones, where a step has dropped all of these.
function countRules({ addresses, names, sources, steps }, report) {
  if (!report?.dropped || report.droppedNotListed || !steps.some(({ name }) => name === "RemoveComments")) return sources;
  const comments = new Map();
  for (const line of report.dropped) if (isComment(line)) comments.set(line.source, (comments.get(line.source) ?? 0) + 1);
  const count = (address, state) => (state.kind === "read" ? { ...state, rules: state.lines - (comments.get(names[addresses.indexOf(address)]) ?? 0) } : state);
  return Object.fromEntries(Object.entries(sources).map(([address, state]) => [address, count(address, state)]));
}

// The kind of a reason: without the rule that it names, which is another one for nearly every line.
export const generalise = (reason) => reason.replace(/^covered by .*/s, "covered by a wider rule").replace(/^duplicate of .*/s, "duplicate of another rule");

// Dropped lines by step and kind of reason: rules before comments, the largest group first.
export function groupDropped(dropped) {
  const groups = new Map();
  for (const line of dropped) {
    const reason = generalise(line.reason);
    const key = `${line.transformation}\n${reason}`;
    if (!groups.has(key)) groups.set(key, { key, step: line.transformation, reason, isComment: isComment(line), lines: [] });
    groups.get(key).lines.push(line);
  }
  return [...groups.values()].sort((a, b) => a.isComment - b.isComment || b.lines.length - a.lines.length);
}

const LARGE_SHARE = 0.5;
const LARGE_COUNT = 20;

// What a person should know if most of the rules went away: how many came, how many are left, and the main reason.
export function describeLoss({ sources, result }) {
  const linesIn = Object.values(sources).reduce((sum, { lines = 0 }) => sum + lines, 0);
  const groups = groupDropped(result.report?.dropped ?? []).filter((group) => !group.isComment && !/duplicate|covered/.test(group.reason));
  const lost = groups.reduce((sum, { lines }) => sum + lines.length, 0);
  if (lost < LARGE_COUNT || lost < LARGE_SHARE * (lost + result.ruleCount)) return null;
  return { linesIn, lost, main: groups[0], others: groups.slice(1, 3) };
}
