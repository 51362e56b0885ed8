// Serves all Workers of the wrangler configs in one local workerd, on one port. scripts/run lists the options.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, watch } from "node:fs";
import { createServer } from "node:net";
import { dirname, relative, resolve } from "node:path";
import { parseArgs, parseEnv } from "node:util";

import { buildFrontOptions, buildHostModules } from "./bundle.mjs";
import { readConfigs, listConfigs, buildWorkerOptions } from "./config.mjs";
import { scheduleCrons } from "./cron.mjs";
import { startDemo } from "./demo.mjs";
import { PLANS, PLAN_VARIABLES } from "./limits.mjs";
import { waitWhileLocked } from "./locks.mjs";
import { printLog, printPlain, setFooter, useJson } from "./logs.mjs";
import { applyMigrations } from "./migrations.mjs";
import { Log, LogLevel, Miniflare } from "./miniflare.mjs";
import { UserError } from "./user_error.mjs";
import { resumeWorkflows } from "./workflows.mjs";

const ROOT = resolve(import.meta.dirname, "../..");

const parsePair = (option, text) => {
  const at = text.indexOf("=");
  if (at < 1) throw new UserError(`--${option} takes NAME=VALUE, not ${text}`);
  return [text.slice(0, at), text.slice(at + 1)];
};

function parseOptions(args) {
  const repeatable = { type: "string", multiple: true, default: [] };
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        port: { type: "string", default: "8787" },
        state: { type: "string" },
        var: repeatable,
        route: repeatable,
        only: { type: "string" },
        cron: { type: "boolean", default: false },
        demo: { type: "boolean", default: false },
        limits: { type: "string", default: "paid" },
        "no-cache": { type: "boolean", default: false },
        "no-watch": { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        config: repeatable,
      },
    }));
  } catch (error) {
    throw new UserError(error.message.split(". ")[0]);
  }
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new UserError(`--port takes 0 to 65535, not ${values.port}`);
  if (!(values.limits in PLANS)) throw new UserError(`--limits takes ${Object.keys(PLANS).join(" or ")}, not ${values.limits}`);
  const state = values.state ?? resolve(ROOT, values.demo ? ".wrangler/demo" : ".wrangler/state");
  return { ...values, port, state, watch: !values["no-watch"], only: values.only?.split(",") };
}

function selectConfigs(configs, only) {
  const names = configs.map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UserError(`--only: no Worker is named ${unknown}; choose one of: ${names.join(", ")}`);
  return only ? configs.filter(({ name }) => only.includes(name)) : configs;
}

function readVariables(assignments, demoVars = {}) {
  const file = resolve(ROOT, ".dev.vars");
  const fileVars = existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {};
  return { ...fileVars, ...demoVars, ...parseVariables(assignments) };
}

const parseVariables = (assignments) => Object.fromEntries(assignments.map((text) => parsePair("var", text)));

function buildRoutes(configs, assignments) {
  const names = configs.map(({ name }) => name);
  const fromOptions = assignments.map((text) => parsePair("route", text));
  const unknown = fromOptions.find(([, worker]) => !names.includes(worker));
  if (unknown) throw new UserError(`--route: no Worker is named ${unknown[1]}; choose one of: ${names.join(", ")}`);
  const pattern = (route) => (typeof route === "string" ? route : route.pattern);
  const configured = configs.flatMap(({ name, route, routes: all }) =>
    [route, ...(all ?? [])].filter(Boolean).map((each) => [pattern(each), name]),
  );
  return [...fromOptions, ...names.map((name) => [`${name}.localhost`, name]), ...configured];
}

const checkPort = (port) =>
  new Promise((resolveFree, rejectTaken) => {
    const probe = createServer().once("error", rejectTaken).listen(port, "127.0.0.1", () => probe.close(resolveFree));
  }).catch(() => {
    throw new UserError(`Port ${port} is in use; choose another with --port`);
  });

function buildMiniflareOptions(configs, options) {
  const vars = { ...PLAN_VARIABLES[options.limits], ...readVariables(options.var, options.demoVars) };
  return {
    host: "127.0.0.1",
    port: options.port,
    cf: false,
    log: new Log(LogLevel.NONE),
    logRequests: false,
    handleStructuredLogs: printLog,
    handleRuntimeStdio: recordStderr,
    unsafeHandleRuntimeRestart: options.onRestart,
    unsafeLocalExplorer: true, // lists and resumes workflow instances
    defaultPersistRoot: resolve(options.state, "v3"),
    workers: [
      buildFrontOptions(configs, buildRoutes(configs, options.route)),
      ...configs.map((config) => ({ ...buildWorkerOptions(config, configs, vars), ...buildHostModules(ROOT, config, configs, options.limits) })),
    ],
  };
}

// Each Worker has said by then that it has booted; one that could not says why.
async function checkAll(miniflare, configs) {
  for (const { name, main } of configs) {
    const reply = await miniflare.dispatchFetch(`http://127.0.0.1/cdn-cgi/local/boot?worker=${name}`);
    const { problem } = await reply.json();
    if (problem) throw new UserError(`${name} cannot start (${relative(process.cwd(), main)}):\n${problem}`);
  }
}

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const countWorkers = (count) => `${NUMBERS[count] ?? count} ${count === 1 ? "Worker" : "Workers"}`;

async function serve(options) {
  const read = readConfigs(options.config.length ? options.config : listConfigs(ROOT));
  const configs = selectConfigs(options["no-cache"] ? read.map((config) => ({ ...config, cache: undefined })) : read, options.only);
  if (options.port) await checkPort(options.port);
  if (options.demo && !options.port) throw new UserError("--demo needs a fixed port, because the address of the demo site contains it: set --port to a number above 0");
  const demo = options.demo ? await startDemo(options.port, parseVariables(options.var)) : undefined;
  if (demo) options = { ...options, var: [], demoVars: demo.vars, route: [...options.route, ...demo.routes] };
  let miniflare;
  const startWorkers = async () => {
    await checkAll(miniflare, configs);
    await resumeWorkflows(miniflare, configs);
  };
  const build = () => buildMiniflareOptions(configs, { ...options, onRestart: () => startWorkers().catch(printError) });
  let isAnnounced = false;
  const start = () => {
    miniflare = new Miniflare(build());
    for (const signal of ["SIGINT", "SIGTERM"]) {
      process.removeAllListeners(signal); // Miniflare's own handler exits at once with an error status
      process.once(signal, () => {
        isStopping = true;
        printPlain("Stopping …");
        miniflare.dispose().then(() => process.exit(0), (error) => (printError(error), process.exit(1)));
      });
    }
    if (!isAnnounced) printPlain(`Starting ${countWorkers(configs.length)} …`); // whoever reads this may stop it
    isAnnounced = true;
    return miniflare.ready.catch(explainStart);
  };
  const url = await waitWhileLocked(start, printPlain);
  await applyMigrations(miniflare, configs);
  await startWorkers();
  if (isStopping) return;
  if (options.cron && !demo) scheduleCrons(miniflare, configs);
  if (options.watch) watchSources(miniflare, configs, build, startWorkers);
  printPlain(`Ready on http://127.0.0.1:${url.port}`);
  if (demo) printPlain("Loading some content for the demo …");
  if (demo) printPlain(await demo.fill(miniflare, configs.map(({ name }) => name)));
  if (demo) scheduleCrons(miniflare, configs); // what was filled stays as it is first seen
  setFooter(listAddresses(configs, url.port));
}

// Where each Worker with a page or an API answers, in two columns.
const listAddresses = (configs, port) => configs.map(({ name }) => `${name.padEnd(24)} http://${name}.localhost:${port}/`);

function watchSources(miniflare, configs, build, startWorkers) {
  const restart = async (isModule) => {
    try {
      await rebuild();
      if (!isModule) return; // pages are read from their folder at each request
      await miniflare.setOptions(build());
      await startWorkers();
      printPlain("Restarted after an edit");
    } catch (error) {
      printError(error); // the next edit restarts again
    }
  };
  let timer;
  let isModule = false;
  const schedule = (_event, name) => {
    if (!name || name.includes("__pycache__")) return;
    isModule ||= name.endsWith(".py");
    clearTimeout(timer); // an editor may write a file several times
    timer = setTimeout(() => {
      restart(isModule);
      isModule = false;
    }, 200);
  };
  for (const folder of listWatched(configs)) watch(folder, { recursive: true }, schedule);
}

// What is built is made of the sources, and not edited.
const listWatched = (configs) =>
  new Set([resolve(ROOT, "src"), ...configs.map(({ main }) => dirname(main)).filter((folder) => !folder.startsWith(resolve(ROOT, "build")))]);

// The uploads, API documents and models are built from the sources.
const rebuild = () =>
  new Promise((resolveBuilt, rejectBuilt) => {
    execFile(resolve(ROOT, "scripts/setup"), (error, _stdout, stderr) => (error ? rejectBuilt(new UserError(stderr.trim())) : resolveBuilt()));
  });

// Output that is not a structured log comes from workerd itself. It is shown only if workerd does not start.
let runtimeStderr = "";
function recordStderr(stdout, stderr) {
  stdout.resume();
  stderr.on("data", (chunk) => (runtimeStderr = (runtimeStderr + chunk).slice(-4000)));
}

// Miniflare's own error does not say why workerd did not start.
const explainStart = (error) => {
  throw Object.assign(error, { message: `${error.message}\n${runtimeStderr}`.trim() });
};

const printError = (error) => console.error(error instanceof UserError ? error.message : (error.stack ?? error));
let isStopping = false; // what was under way fails then
const fail = (error) => {
  if (isStopping) return;
  if (error.code === "ERR_RUNTIME_FAILURE") console.error(runtimeStderr.trim());
  printError(error);
  process.exit(1);
};

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.json) useJson();
  serve(options).catch(fail);
} catch (error) {
  fail(error);
}
