// Serves every Worker of the wrangler configs in one local workerd, on one port. `--help` tells the options.
import { existsSync, readFileSync, watch } from "node:fs";
import { createServer } from "node:net";
import { dirname, relative, resolve } from "node:path";
import { parseArgs, parseEnv } from "node:util";

import { frontOptions, hostModules } from "./bundle.mjs";
import { readConfigs, standardConfigs, workerOptions } from "./config.mjs";
import { everyMinute } from "./cron.mjs";
import { demo } from "./demo.mjs";
import { printLog, say } from "./logs.mjs";
import { applyMigrations } from "./migrations.mjs";
import { Log, LogLevel, Miniflare } from "./miniflare.mjs";
import { Mistake } from "./mistake.mjs";
import { resumeWorkflows } from "./workflows.mjs";

const ROOT = resolve(dirname(new URL(import.meta.url).pathname), "../..");
const HELP = `Usage: ./scripts/run [options]

Serves all Workers on one port of this machine, each at http://NAME.localhost:PORT.

  --port N              port on 127.0.0.1 (8787)
  --state DIR           where KV, D1, R2, Durable Objects and Workflows are kept (.wrangler/state)
  --var NAME=VALUE      set a variable in every Worker; repeatable, beats .dev.vars and the configs
  --route HOST=WORKER   send a host name to a Worker; repeatable
  --only WORKER,...     serve these Workers only
  --cron                fire the configs' crons as the clock says; else only by hand:
                        GET /cdn-cgi/handler/scheduled?worker=NAME&cron=EXPRESSION
  --demo                sources on this machine for all services, some content, and a tour; state in .wrangler/demo
  --no-watch            do not restart when a source file changes
  --config FILE         serve this wrangler config instead of those in the root; repeatable
  --help                show this`;

const pair = (option, given) => {
  const at = given.indexOf("=");
  if (at < 1) throw new Mistake(`--${option} takes NAME=VALUE, not ${given}`);
  return [given.slice(0, at), given.slice(at + 1)];
};

function parse(args) {
  const many = { type: "string", multiple: true, default: [] };
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        port: { type: "string", default: "8787" },
        state: { type: "string" },
        var: many,
        route: many,
        only: { type: "string" },
        cron: { type: "boolean", default: false },
        demo: { type: "boolean", default: false },
        "no-watch": { type: "boolean", default: false },
        config: many,
        help: { type: "boolean", default: false },
      },
    }));
  } catch (error) {
    throw new Mistake(error.message.split(". ")[0]);
  }
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Mistake(`--port takes 0 to 65535, not ${values.port}`);
  const state = values.state ?? resolve(ROOT, values.demo ? ".wrangler/demo" : ".wrangler/state");
  return { ...values, port, state, watch: !values["no-watch"], only: values.only?.split(",") };
}

function chosen(configs, only) {
  const names = configs.map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Mistake(`--only: no Worker is named ${unknown}; there are: ${names.join(", ")}`);
  return only ? configs.filter(({ name }) => only.includes(name)) : configs;
}

function variables(given, demoVars = {}) {
  const file = resolve(ROOT, ".dev.vars");
  const kept = existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {};
  return { ...kept, ...demoVars, ...Object.fromEntries(given.map((each) => pair("var", each))) };
}

function routes(configs, given) {
  const names = configs.map(({ name }) => name);
  const byHand = given.map((each) => pair("route", each));
  const stray = byHand.find(([, worker]) => !names.includes(worker));
  if (stray) throw new Mistake(`--route: no Worker is named ${stray[1]}; there are: ${names.join(", ")}`);
  const pattern = (route) => (typeof route === "string" ? route : route.pattern);
  const configured = configs.flatMap(({ name, route, routes: all }) =>
    [route, ...(all ?? [])].filter(Boolean).map((each) => [pattern(each), name]),
  );
  return [...byHand, ...names.map((name) => [`${name}.localhost`, name]), ...configured];
}

const portIsFree = (port) =>
  new Promise((free, taken) => {
    const probe = createServer().once("error", taken).listen(port, "127.0.0.1", () => probe.close(free));
  }).catch(() => {
    throw new Mistake(`Port ${port} is in use; choose another with --port`);
  });

function miniflareOptions(configs, options) {
  const vars = variables(options.var, options.demoVars);
  return {
    host: "127.0.0.1",
    port: options.port,
    cf: false,
    log: new Log(LogLevel.NONE),
    logRequests: false,
    handleStructuredLogs: printLog,
    handleRuntimeStdio: rememberLastWords,
    unsafeHandleRuntimeRestart: options.onRestart,
    unsafeLocalExplorer: true, // lists and resumes workflow instances
    defaultPersistRoot: resolve(options.state, "v3"),
    workers: [
      frontOptions(configs, routes(configs, options.route)),
      ...configs.map((config) => ({ ...workerOptions(config, configs, vars), ...hostModules(ROOT, config, configs) })),
    ],
  };
}

async function bootAll(miniflare, configs) {
  for (const { name, main } of configs) {
    const reply = await miniflare.dispatchFetch(`http://127.0.0.1/cdn-cgi/local/boot?worker=${name}`);
    const { problem, heapBytes } = await reply.json();
    if (problem) throw new Mistake(`${name} does not start (${relative(process.cwd(), main)}):\n${problem}`);
    say(name, `booted, heap ${Math.round(heapBytes / 1e6)} MB`);
  }
}

async function serve(options) {
  const configs = chosen(readConfigs(options.config.length ? options.config : standardConfigs(ROOT)), options.only);
  if (options.port) await portIsFree(options.port);
  if (options.demo && !options.port) throw new Mistake("--demo needs a fixed --port, since the demo site's address holds it");
  const show = options.demo ? await demo(options.port) : undefined;
  if (show) options = { ...options, demoVars: show.vars, route: [...options.route, ...show.routes] };
  let miniflare;
  const settle = async () => {
    await bootAll(miniflare, configs);
    await resumeWorkflows(miniflare, configs);
  };
  const build = () => miniflareOptions(configs, { ...options, onRestart: () => settle().catch(tell) });
  miniflare = new Miniflare(build());
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.removeAllListeners(signal); // Miniflare's own would end at once, as if it had failed
    process.once(signal, () => miniflare.dispose().then(() => process.exit(0), fail));
  }
  const url = await miniflare.ready;
  await applyMigrations(miniflare, configs);
  await settle();
  if (options.cron) everyMinute(miniflare, configs);
  if (options.watch) restartOnEdits(miniflare, configs, build, settle);
  console.log(`Ready on http://127.0.0.1:${url.port}`);
  if (show) console.log(await show.fill(miniflare));
}

function restartOnEdits(miniflare, configs, build, settle) {
  const restart = async () => {
    try {
      await miniflare.setOptions(build());
      await settle();
      console.log("Restarted after an edit");
    } catch (error) {
      tell(error); // and wait for the edit that mends it
    }
  };
  let timer;
  for (const folder of new Set([resolve(ROOT, "src"), ...configs.map(({ main }) => dirname(main))])) {
    watch(folder, { recursive: true }, (_event, name) => {
      if (!name?.endsWith(".py")) return;
      clearTimeout(timer); // an editor may write several times
      timer = setTimeout(restart, 200);
    });
  }
}

// What is not a structured log is workerd talking to itself: of interest only when it does not start.
let lastWords = "";
function rememberLastWords(stdout, stderr) {
  stdout.resume();
  stderr.on("data", (chunk) => (lastWords = (lastWords + chunk).slice(-4000)));
}

const tell = (error) => console.error(error instanceof Mistake ? error.message : (error.stack ?? error));
const fail = (error) => {
  if (error.code === "ERR_RUNTIME_FAILURE") console.error(lastWords.trim());
  tell(error);
  process.exit(1);
};

try {
  const options = parse(process.argv.slice(2));
  if (options.help) console.log(HELP);
  else serve(options).catch(fail);
} catch (error) {
  fail(error);
}
