// The interfaces that the local runtime uses although their projects do not document them. They may change with any version;
// tests/workerd/test_private_interfaces.py fails then. Check each interface of the package before you change its version here.
export const CHECKED_VERSIONS = {
  miniflare: "4.20260730.0",
  pyodide: "314.0.6",
  "workers-runtime-sdk": "1.9.5",
  workerd: "1.20260730.1",
  wrangler: "4.156.0",
};

// Pyodide: options of `loadPyodide` that write and load a snapshot of the interpreter's memory.
export const PYODIDE_MAKE_SNAPSHOT = "_makeSnapshot";
export const PYODIDE_LOAD_SNAPSHOT = "_loadSnapshot";

// Pyodide: imports of its WebAssembly module that create and recognise the error marker. Here a Symbol is the marker.
export function replaceErrorImports(imports) {
  const errorMarker = Symbol("error");
  imports.env.Jsv_GetError_import = () => errorMarker;
  imports.env.JsvError_Check = (value) => (value === errorMarker ? 1 : 0);
}

// Pyodide: the function with which its event loop runs a callback later.
export function replaceScheduler(python, replace) {
  const webloop = python.pyimport("pyodide.webloop");
  webloop.scheduleCallback = replace(webloop.scheduleCallback);
}

// The Python SDK: the JavaScript modules that Cloudflare's own runtime gives to it.
export const SDK_HELPER_MODULE = "_pyodide_entrypoint_helper";
export const SDK_FLAGS_MODULE = "_cloudflare_compat_flags";

// Miniflare: the line of its code that sets how much workerd's serialized config grows at a time.
export const MINIFLARE_SCRIPT = "/miniflare/dist/src/index.js";
export const MINIFLARE_GROWTH = "var MIN_SINGLE_SEGMENT_GROWTH = 4096;";
export const miniflareGrowth = (bytes) => `var MIN_SINGLE_SEGMENT_GROWTH = ${bytes};`;

// Miniflare: the line of its code that names the service which reads the files of assets.
export const MINIFLARE_ASSETS = "const storageServiceName = `${ASSETS_PLUGIN_NAME}:storage`;";
export const MINIFLARE_OWN_ASSETS = "const storageServiceName = `${ASSETS_PLUGIN_NAME}:storage:${options.assets.workerName}`;";

// Miniflare: the variable that holds V8's flags for workerd.
export const MINIFLARE_V8_FLAGS = "MINIFLARE_WORKERD_V8_FLAGS";

// Miniflare: its options `unsafeEvalBinding` (bundle.mjs), `unsafePreventEviction` (config.mjs), `unsafeHandleRuntimeRestart` and
// `unsafeLocalExplorer` (serve.mjs).
// workerd: the class names of the bindings, and that their methods can be replaced (limits.mjs, operations.mjs).
// Wrangler: `unstable_readConfig` (config.mjs) and `unstable_splitSqlQuery` (migrations.mjs) may change as well.
// CPython: introspection.py replaces `random._urandom`.

// workerd: the method of a D1 session that every statement passes; its result has the rows that were read and written.
export const D1_SEND = "_send";

// Miniflare: the API of its local explorer, which lists and changes workflow instances. It needs `unsafeLocalExplorer`.
export const EXPLORER_WORKFLOWS = "/cdn-cgi/explorer/api/workflows";
