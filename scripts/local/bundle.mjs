// Builds the modules of a Worker for workerd: Pyodide, the host, the vendored packages and this project's sources.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { FRONT, LOCAL_CACHE_CLASS, isCached, listExportedClasses, listKvIds } from "./config.mjs";
import { chooseLimits } from "./limits.mjs";
import { pack } from "./pack.mjs";

const HERE = import.meta.dirname;

const makeModule = (type, path, contents) => ({ type, path: `/${path}`, contents });
const localModule = (name) => makeModule("ESModule", name, readFileSync(join(HERE, name), "utf8"));
const settingsModule = (value) => makeModule("Text", "settings.json.txt", JSON.stringify(value));

function readFiles(folder, isWanted) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isWanted(join(entry.parentPath, entry.name)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => [relative(folder, path), readFileSync(path)]);
}

const isSource = (path) => path.endsWith(".py");
// A vendored module that was compiled needs no source; what `pywrangler sync` leaves is not compiled.
const isUsed = (path) => (path.includes(".dist-info/") ? path.endsWith("METADATA") : !(path.endsWith(".py") && existsSync(`${path}c`)));

let shared; // the same modules for every Worker
function sharedModules(root) {
  const pyodide = (name) => readFileSync(join(root, "node_modules/pyodide", name));
  return (shared ??= [
    localModule("host.mjs"),
    localModule("limits.mjs"),
    localModule("locks.mjs"),
    localModule("operations.mjs"),
    localModule("pack.mjs"),
    localModule("private_interfaces.mjs"),
    makeModule("Text", "introspection.py", readFileSync(join(HERE, "introspection.py"), "utf8")),
    makeModule("ESModule", "pyodide.mjs", pyodide("pyodide.mjs").toString()),
    makeModule("ESModule", "pyodide.asm.mjs", pyodide("pyodide.asm.mjs").toString()),
    makeModule("CompiledWasm", "pyodide.asm.wasm", pyodide("pyodide.asm.wasm")),
    makeModule("Data", "python_stdlib.zip", pyodide("python_stdlib.zip")),
    makeModule("Text", "pyodide-lock.txt", pyodide("pyodide-lock.json").toString()),
    makeModule("Data", "pyodide.snapshot", readFileSync(join(root, ".cache/pyodide.snapshot"))),
    makeModule("ESModule", "python_modules/workers/workflows.js", readFileSync(join(root, "python_modules/workers/workflows.js"), "utf8")),
  ]);
}

const toPattern = (glob) => new RegExp(`^${glob.replace(/[.+]/g, "\\$&").replace(/\*\*\/?|\*/g, (stars) => ({ "**/": "(?:.*/)?", "**": ".*" })[stars] ?? "[^/]*")}$`);

// A Worker gets the packages that its upload has; compiled modules stand for their sources. The models may change by an edit.
const packages = new Map();
function packagesModule(root, exclude = []) {
  const models = join(root, "python_modules/pydantic/schemas.json");
  const key = [existsSync(models) && statSync(models).mtimeMs, ...exclude].join("\n");
  if (!packages.has(key)) {
    const patterns = exclude.filter((glob) => glob !== "**/*.pyc").map(toPattern);
    const isDeployed = ([path]) => !patterns.some((pattern) => pattern.test(path.replace(/\.pyc$/, ".py")));
    const files = readFiles(join(root, "python_modules"), isUsed).filter(isDeployed);
    packages.set(key, makeModule("Data", "python_modules.pack", pack(files)));
  }
  return packages.get(key);
}

// A Worker gets what its upload has. A Worker of the tests, which has only its own modules, also gets the project's package.
function readSources(root, folder) {
  const own = readFiles(folder, isSource);
  const project = resolve(root, "src");
  return existsSync(join(folder, "sluice")) ? own : [...own, ...readFiles(project, isSource).filter(([path]) => path.startsWith("sluice/"))];
}

export function buildHostModules(root, config, all, plan) {
  const classes = listExportedClasses(config, all);
  const limits = { limits: chooseLimits(plan, config.limits), namespaces: listKvIds(config) };
  const main = [
    `import { expose, LocalBoot } from "./host.mjs";`,
    "export { LocalBoot };",
    ...classes.map(([name, kind]) =>
      name === "Default" ? `export default expose("Default", "${kind}");` : `export const ${name} = expose("${name}", "${kind}");`,
    ),
  ].join("\n");
  return {
    unsafeEvalBinding: "LOCAL_UNSAFE_EVAL",
    modulesRoot: "/",
    modules: [
      makeModule("ESModule", "main.mjs", main),
      settingsModule({ worker: config.name, hasCache: isCached(config), mainModule: basename(config.main, ".py"), classes, ...limits }),
      makeModule("Data", "src.pack", pack(readSources(root, dirname(config.main)))),
      packagesModule(root, config.python_modules.exclude),
      ...sharedModules(root),
    ],
  };
}

export function buildFrontOptions(configs, routes) {
  const workers = configs.map(({ name }) => name);
  const cached = configs.filter(isCached).map(({ name }) => name);
  return {
    name: FRONT,
    compatibilityDate: "2026-01-01",
    compatibilityFlags: ["service_binding_extra_handlers"], // to call `scheduled` of another Worker
    routes: ["*.localhost/*"], // Miniflare refuses /cdn-cgi/ on hosts that no route names
    modulesRoot: "/",
    modules: [
      makeModule("ESModule", "main.mjs", readFileSync(join(HERE, "front.mjs"), "utf8")),
      localModule("response_cache.mjs"),
      settingsModule({ routes, workers, fallback: workers[0], cached }),
    ],
    durableObjects: { LOCAL_CACHE: LOCAL_CACHE_CLASS },
    serviceBindings: Object.fromEntries(
      workers.flatMap((name) => [
        [name, name],
        [`boot:${name}`, { name, entrypoint: "LocalBoot" }],
      ]),
    ),
  };
}
