// What workerd loads: Pyodide, the host, the vendored packages and this project's sources, as modules of one Worker.
import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { exportedClasses } from "./config.mjs";
import { pack } from "./pack.mjs";

const HERE = import.meta.dirname;

const module = (type, path, contents) => ({ type, path: `/${path}`, contents });
const local = (name) => module("ESModule", name, readFileSync(join(HERE, name), "utf8"));
const settings = (value) => module("Text", "settings.json.txt", JSON.stringify(value));

function files(folder, wanted) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && wanted(join(entry.parentPath, entry.name)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => [relative(folder, path), readFileSync(path)]);
}

const isSource = (path) => !path.includes("__pycache__");
// Vendored packages were compiled when they were installed: their sources would only be carried along.
const isUsed = (path) => (path.includes(".dist-info/") ? path.endsWith("METADATA") : !path.endsWith(".py"));

let shared; // the same bytes for every Worker
function sharedModules(root) {
  const pyodide = (name) => readFileSync(join(root, "node_modules/pyodide", name));
  return (shared ??= [
    local("host.mjs"),
    local("pack.mjs"),
    module("Text", "introspection.py", readFileSync(join(HERE, "introspection.py"), "utf8")),
    module("ESModule", "pyodide.mjs", pyodide("pyodide.mjs").toString()),
    module("ESModule", "pyodide.asm.mjs", pyodide("pyodide.asm.mjs").toString()),
    module("CompiledWasm", "pyodide.asm.wasm", pyodide("pyodide.asm.wasm")),
    module("Data", "python_stdlib.zip", pyodide("python_stdlib.zip")),
    module("Text", "pyodide-lock.txt", pyodide("pyodide-lock.json").toString()),
    module("Data", "pyodide.snapshot", readFileSync(join(root, ".cache/pyodide.snapshot"))),
    module("Data", "python_modules.pack", pack(files(join(root, "python_modules"), isUsed))),
    module("ESModule", "python_modules/workers/workflows.js", readFileSync(join(root, "python_modules/workers/workflows.js"), "utf8")),
  ]);
}

// A Worker has its own folder's sources, and the project's package where it lies elsewhere (a Worker of the tests).
function sources(root, folder) {
  const own = files(folder, isSource);
  const project = resolve(root, "src");
  return folder === project ? own : [...own, ...files(project, isSource).filter(([path]) => path.startsWith("sluice/"))];
}

export function hostModules(root, config, all) {
  const classes = exportedClasses(config, all);
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
      module("ESModule", "main.mjs", main),
      settings({ worker: config.name, mainModule: basename(config.main, ".py"), classes }),
      module("Data", "src.pack", pack(sources(root, dirname(config.main)))),
      ...sharedModules(root),
    ],
  };
}

export function frontOptions(configs, routes) {
  const workers = configs.map(({ name }) => name);
  return {
    name: "local-front",
    compatibilityDate: "2026-01-01",
    compatibilityFlags: ["service_binding_extra_handlers"], // to call `scheduled` of another Worker
    modulesRoot: "/",
    modules: [module("ESModule", "main.mjs", readFileSync(join(HERE, "front.mjs"), "utf8")), settings({ routes, workers, fallback: workers[0] })],
    serviceBindings: Object.fromEntries(
      workers.flatMap((name) => [
        [name, name],
        [`boot:${name}`, { name, entrypoint: "LocalBoot" }],
      ]),
    ),
  };
}
