// Runs inside workerd: boots Pyodide once for each Worker, and exposes the classes of an unmodified Python entry module. It
// calls them as Cloudflare's own runtime does.
import * as cloudflareSockets from "cloudflare:sockets";
import * as cloudflareWorkers from "cloudflare:workers";
import introspection from "./introspection.py";
import lockFile from "./pyodide-lock.txt";
import createPyodideModule from "./pyodide.asm.mjs";
import pyodideWasm from "./pyodide.asm.wasm";
import { LimitKeeper } from "./limits.mjs";
import { Operations } from "./operations.mjs";
import { unpack, unpackMemory } from "./pack.mjs";
import { PYODIDE_LOAD_SNAPSHOT, SDK_FLAGS_MODULE, SDK_HELPER_MODULE, replaceErrorImports, replaceScheduler } from "./private_interfaces.mjs";
import packages from "./python_modules.pack";
import snapshot from "./pyodide.snapshot";
import stdlib from "./python_stdlib.zip";
import settings from "./settings.json.txt";
import sources from "./src.pack";

const { worker, hasCache, mainModule, classes, limits, namespaces } = JSON.parse(settings);
const INDEX_URL = "http://pyodide.invalid/";
const LOG_MARK = /^([\u001d\u001e])(.*)\u001f$/; // names the Worker of a log line

// A note of the local runtime itself has another mark, and no tail Worker gets it.
const note = console.warn.bind(console, `\u001d${worker}\u001f`);
const announce = console.log.bind(console, `\u001d${worker}\u001f`);
const operations = new Operations();
const keeper = new LimitKeeper(limits, namespaces, note, operations);
keeper.guardGlobals();

for (const level of ["debug", "error", "info", "log", "warn"]) {
  const write = console[level].bind(console);
  console[level] = (...values) => {
    operations.add("log_lines");
    write(`\u001e${worker}\u001f`, ...values);
  };
}

// Pyodide compiles small modules at run time (function pointers, shared libraries, a check for stack switching). workerd
// allows this only through a binding, which Python does not see.
const { LOCAL_UNSAFE_EVAL: compiler, LOCAL_CACHE: cacheObjects } = cloudflareWorkers.env;
const hideLocalBindings = (env) => ["LOCAL_UNSAFE_EVAL", "LOCAL_CACHE"].forEach((name) => delete env[name]);
hideLocalBindings(cloudflareWorkers.env);
WebAssembly.Module = new Proxy(WebAssembly.Module, {
  construct: (_target, [bytes]) => compiler.newWasmModule(bytes),
});

async function loadInterpreter() {
  const { fetch, addEventListener } = globalThis;
  globalThis.location = new URL(INDEX_URL);
  globalThis.addEventListener = () => {}; // Emscripten passes useCapture, which workerd refuses
  globalThis.fetch = async () => ({ ok: true, status: 200, arrayBuffer: async () => stdlib });
  try {
    const { loadPyodide } = await import("./pyodide.mjs");
    return await loadPyodide({
      indexURL: INDEX_URL,
      packageBaseUrl: INDEX_URL,
      lockFileContents: lockFile,
      [PYODIDE_LOAD_SNAPSHOT]: unpackMemory(snapshot),
      stdout: (line) => console.log(line),
      stderr: (line) => console.error(line),
      createPyodideModule: (options) => createPyodideModule({ ...options, instantiateWasm }),
    });
  } finally {
    Object.assign(globalThis, { fetch, addEventListener });
    delete globalThis.location;
  }
}

function instantiateWasm(imports, receive) {
  replaceErrorImports(imports);
  WebAssembly.instantiate(pyodideWasm, imports).then((instance) => receive(instance, pyodideWasm));
  return {};
}

// Python passes its coroutine as a proxy that ends with the call, so it is copied until the coroutine has finished.
const patched = new WeakSet();
function patchWaitUntil(ctx) {
  if (Object.prototype.toString.call(ctx) !== "[object ExecutionContext]" || patched.has(ctx)) return;
  const waitUntil = ctx.waitUntil.bind(ctx);
  ctx.waitUntil = (work) => {
    const promise = work?.copy?.() ?? work;
    waitUntil(Promise.resolve(promise).finally(() => promise?.destroy?.()));
  };
  patched.add(ctx);
}

async function boot() {
  const python = await loadInterpreter();
  for (const [root, pack] of [["/session/python_modules", packages], ["/session/src", sources]]) {
    for (const [path, bytes] of unpack(pack)) {
      const file = `${root}/${path}`;
      python.FS.mkdirTree(file.slice(0, file.lastIndexOf("/")));
      python.FS.writeFile(file, bytes, { canOwn: true });
    }
  }
  replaceScheduler(python, (schedule) => (callback, delay) => schedule(keeper.bind(callback), delay));
  python.registerJsModule(SDK_HELPER_MODULE, {
    doAnImport: (name) => import(name.startsWith("python_modules/") ? `./${name}` : name),
    cloudflareWorkersModule: cloudflareWorkers,
    cloudflareSocketsModule: cloudflareSockets,
    patchWaitUntil,
  });
  python.registerJsModule(SDK_FLAGS_MODULE, {
    python_request_headers_preserve_commas: true,
    python_workflows_implicit_dependencies: true,
  });
  python.FS.writeFile("/session/_local_introspection.py", introspection);
  python.runPython("import sys; sys.path[:0] = ['/session/src', '/session/python_modules', '/session']");
  return { python, helper: python.pyimport("_local_introspection") };
}

const describeError = (error) => (error?.constructor?.name === "PythonError" ? helper.shorten_traceback(error.message) : String(error?.stack ?? error));

// The interpreter boots at the top level, as in Cloudflare's runtime: objects created while a request runs belong to that
// request, and another request that awaits them may wait forever. Randomness is forbidden at the top level, but Rust seeds its
// hash maps when pydantic is loaded. It gets a constant seed, as on Cloudflare.
crypto.getRandomValues = (view) => view.fill(7);
const { python, helper } = await boot();
let main, failure;
try {
  main = await helper.import_main.callWithOptions({ promising: true }, mainModule);
} catch (error) {
  failure = describeError(error);
}
delete crypto.getRandomValues;
if (!failure) announce(`booted, heap ${Math.round(python._module.HEAPU8.length / 1e6)} MB`);

// Handlers that may take fewer arguments than the platform passes; all others get exactly these arguments.
const LENIENT = new Set(["fetch", "connect", "alarm", "webSocketMessage", "webSocketClose", "webSocketError", "run"]);
// Methods that get JavaScript values. For all others the SDK converts arguments and results.
const UNCONVERTED = {
  DurableObject: new Set(["connect", "alarm", "webSocketMessage", "webSocketClose", "webSocketError"]),
  WorkerEntrypoint: new Set(["connect"]),
  WorkflowEntrypoint: new Set(["connect", "run"]),
};

let isSeeded = false;
async function construct(className, args) {
  if (!isSeeded) helper.reseed();
  isSeeded = true;
  return main[className].callWithOptions({ promising: true }, ...args);
}

async function call(instancePromise, kind, name, args) {
  let instance;
  try {
    instance = await instancePromise;
    if (typeof instance[name] !== "function") throw new TypeError(`Method ${name} does not exist`);
    const callMethod = UNCONVERTED[kind].has(name) ? helper.call_method : helper.call_converted;
    return await callMethod.callWithOptions({ promising: true }, LENIENT.has(name), instance, name, ...args);
  } catch (error) {
    console.error(describeError(error));
    throw error;
  } finally {
    if (kind !== "DurableObject") instance?.destroy(); // otherwise it stays until the proxy is collected as garbage
  }
}

// Removes the marks from log lines before the tail Worker gets them, and adds the script's name, which deployed events have
// but workerd does not set.
function toDeployedEvents([events, ...rest]) {
  for (const event of events) {
    for (const entry of [...event.logs]) {
      const [, kind, script] = LOG_MARK.exec(entry.message?.[0]) ?? [];
      if (!kind) continue;
      if (kind === "\u001d") event.logs.splice(event.logs.indexOf(entry), 1);
      else entry.message.shift();
      if (!event.scriptName) Object.defineProperty(event, "scriptName", { value: script });
    }
  }
  return [events, ...rest];
}

function convertArguments(kind, name, args) {
  if (name === "tail") return toDeployedEvents(args);
  if (kind === "WorkflowEntrypoint" && name === "run") return [args[0], keeper.bindStep(args[1])];
  return args;
}

// The cache in front of the Worker's entrypoint, which workerd alone does not have.
const publicCache = { purge: (options) => cacheObjects.getByName(worker).purge(options) };

// Returns the class that workerd sees for one Python class. Its methods are not known before Python runs, so a proxy stands
// for all of them. The methods on the prototype tell workerd which events the class handles.
export function expose(className, kind) {
  const Exposed = class extends cloudflareWorkers[kind] {
    constructor(ctx, env) {
      super(ctx, env);
      hideLocalBindings(env);
      if (hasCache && className === "Default") Object.defineProperty(ctx, "cache", { value: publicCache });
      keeper.guardBindings(env, cloudflareWorkers.env);
      if (kind === "DurableObject") operations.watchStorage(ctx.storage);
      const invocation = keeper.begin();
      const instance = keeper.run(invocation, () => construct(className, [ctx, env]));
      instance.catch(() => {}); // `call` reports the error
      return new Proxy(this, {
        get(target, name, receiver) {
          if (typeof name !== "string") return Reflect.get(target, name, receiver);
          return (...args) => {
            operations.addInvocation(kind, name, args);
            if (kind === "DurableObject") invocation.topUp(); // Every other instance is made for one call.
            return keeper.run(invocation, () => call(instance, kind, name, convertArguments(kind, name, args)));
          };
        },
      });
    }
  };
  for (const name of ["fetch", "alarm", "queue", "run", "scheduled", "tail"]) Exposed.prototype[name] = () => {};
  return Exposed;
}

// The check before the local runtime is ready: the module can be imported and exports all classes of the config.
export class LocalBoot extends cloudflareWorkers.WorkerEntrypoint {
  async boot() {
    return { problem: failure ?? helper.find_missing_classes(main, JSON.stringify(classes)) };
  }

  async countOperations() {
    return operations.counts;
  }
}
