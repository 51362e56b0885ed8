// Runs inside workerd: boots Pyodide once per Worker and exposes the classes of an unmodified Python entry module, called
// the way Cloudflare's own runtime calls them.
import * as cloudflareSockets from "cloudflare:sockets";
import * as cloudflareWorkers from "cloudflare:workers";
import introspection from "./introspection.py";
import lockFile from "./pyodide-lock.txt";
import createPyodideModule from "./pyodide.asm.mjs";
import pyodideWasm from "./pyodide.asm.wasm";
import { unpack, unpackMemory } from "./pack.mjs";
import packages from "./python_modules.pack";
import snapshot from "./pyodide.snapshot";
import stdlib from "./python_stdlib.zip";
import settings from "./settings.json.txt";
import sources from "./src.pack";

const { worker, mainModule, classes } = JSON.parse(settings);
const INDEX_URL = "http://pyodide.invalid/";
const LOG_MARK = /^\u001e(.*)\u001f$/; // tells the log printer whose line this is

for (const level of ["debug", "error", "info", "log", "warn"]) {
  const write = console[level].bind(console);
  console[level] = (...values) => write(`\u001e${worker}\u001f`, ...values);
}

// Pyodide compiles small modules at run time (function pointers, shared libraries, a probe for stack switching), which
// workerd allows through this binding only.
WebAssembly.Module = new Proxy(WebAssembly.Module, {
  construct: (_target, [bytes]) => cloudflareWorkers.env.LOCAL_UNSAFE_EVAL.newWasmModule(bytes),
});

async function loadInterpreter() {
  const { fetch, addEventListener } = globalThis;
  globalThis.location = new URL(INDEX_URL);
  globalThis.addEventListener = () => {}; // emscripten asks for useCapture, which workerd refuses
  globalThis.fetch = async () => ({ ok: true, status: 200, arrayBuffer: async () => stdlib });
  try {
    const { loadPyodide } = await import("./pyodide.mjs");
    return await loadPyodide({
      indexURL: INDEX_URL,
      packageBaseUrl: INDEX_URL,
      lockFileContents: lockFile,
      _loadSnapshot: unpackMemory(snapshot),
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
  const errorMarker = Symbol("error");
  imports.env.Jsv_GetError_import = () => errorMarker;
  imports.env.JsvError_Check = (value) => (value === errorMarker ? 1 : 0);
  WebAssembly.instantiate(pyodideWasm, imports).then((instance) => receive(instance, pyodideWasm));
  return {};
}

// Python hands its coroutine over as a proxy that dies with the call, so it is copied for as long as it runs.
const patched = new WeakSet();
function patchWaitUntil(ctx) {
  if (Object.prototype.toString.call(ctx) !== "[object ExecutionContext]" || patched.has(ctx)) return;
  const waitUntil = ctx.waitUntil.bind(ctx);
  ctx.waitUntil = (given) => {
    const promise = given?.copy?.() ?? given;
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
  python.registerJsModule("_pyodide_entrypoint_helper", {
    doAnImport: (name) => import(name.startsWith("python_modules/") ? `./${name}` : name),
    cloudflareWorkersModule: cloudflareWorkers,
    cloudflareSocketsModule: cloudflareSockets,
    patchWaitUntil,
  });
  python.registerJsModule("_cloudflare_compat_flags", {
    python_request_headers_preserve_commas: true,
    python_workflows_implicit_dependencies: true,
  });
  python.FS.writeFile("/session/_local_introspection.py", introspection);
  python.runPython("import sys; sys.path[:0] = ['/session/src', '/session/python_modules', '/session']");
  return { python, helper: python.pyimport("_local_introspection") };
}

const readable = (error) => (error?.constructor?.name === "PythonError" ? helper.shorten_traceback(error.message) : String(error?.stack ?? error));

// At the top level, as Cloudflare's runtime does it: what is made while a request runs belongs to that request, and another
// that waits for it may wait for ever. Chance is forbidden there, but Rust seeds its hash maps when pydantic is loaded: it
// gets what Cloudflare gives it, a bad seed.
crypto.getRandomValues = (view) => view.fill(7);
const { python, helper } = await boot();
let main, failure;
try {
  main = await helper.import_main.callWithOptions({ promising: true }, mainModule);
} catch (error) {
  failure = readable(error);
}
delete crypto.getRandomValues;

// Handlers that take fewer arguments than they are given; all others are called with exactly what the platform gives.
const LENIENT = new Set(["fetch", "connect", "alarm", "webSocketMessage", "webSocketClose", "webSocketError", "run"]);
// Called with the JavaScript values as they are; everything else is converted by the SDK on the way in and out.
const UNCONVERTED = {
  DurableObject: new Set(["connect", "alarm", "webSocketMessage", "webSocketClose", "webSocketError"]),
  WorkerEntrypoint: new Set(["connect"]),
  WorkflowEntrypoint: new Set(["connect", "run"]),
};

let seeded = false;
async function construct(className, args) {
  if (!seeded) helper.reseed();
  seeded = true;
  return main[className].callWithOptions({ promising: true }, ...args);
}

async function call(instancePromise, kind, name, args) {
  try {
    const instance = await instancePromise;
    if (typeof instance[name] !== "function") throw new TypeError(`Method ${name} does not exist`);
    if (UNCONVERTED[kind].has(name)) return await instance[name].callWithOptions({ relaxed: true, promising: true }, ...args);
    return await helper.call_converted.callWithOptions({ promising: true }, LENIENT.has(name), instance, name, ...args);
  } catch (error) {
    console.error(readable(error));
    throw error;
  }
}

// Every line that a host logs carries its mark in front: taken off for the tail Worker, which is also told the script's
// name, as it is when deployed; workerd alone does not know it.
function asDeployed([events, ...rest]) {
  for (const event of events) {
    for (const { message } of event.logs) {
      const mark = LOG_MARK.exec(message?.[0]);
      if (!mark) continue;
      message.shift();
      if (!event.scriptName) Object.defineProperty(event, "scriptName", { value: mark[1] });
    }
  }
  return [events, ...rest];
}

// The class that workerd sees for one Python class. The methods are not known before Python runs, so a proxy answers for
// all of them; the few on the prototype tell workerd which events the class takes.
export function expose(className, kind) {
  const Exposed = class extends cloudflareWorkers[kind] {
    constructor(ctx, env) {
      super(ctx, env);
      const instance = construct(className, [ctx, env]);
      instance.catch(() => {}); // told to whoever calls
      return new Proxy(this, {
        get(target, name, receiver) {
          if (typeof name !== "string") return Reflect.get(target, name, receiver);
          return (...args) => call(instance, kind, name, name === "tail" ? asDeployed(args) : args);
        },
      });
    }
  };
  for (const name of ["fetch", "alarm", "queue", "run", "scheduled", "tail"]) Exposed.prototype[name] = () => {};
  return Exposed;
}

// What the local runtime asks before it says ready: does the module import, and does it export what the config names?
export class LocalBoot extends cloudflareWorkers.WorkerEntrypoint {
  async boot() {
    const problem = failure ?? helper.missing_classes(main, JSON.stringify(classes));
    return problem ? { problem } : { heapBytes: python._module.HEAPU8.length };
  }
}
