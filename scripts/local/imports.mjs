// Measures what the top level of a Worker costs: imports its entry module in a fresh interpreter, from sources alone, as they
// are deployed, and prints the processor time, the modules and the heap as JSON.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { SDK_FLAGS_MODULE, SDK_HELPER_MODULE } from "./private_interfaces.mjs";

const MEASURE = `
import importlib, importlib.machinery, json, sys

class Meter:
    """Processor time of each module, without that of the modules that it imports."""

    def __init__(self, now):
        self.now = now
        self.own_s = {}
        self.inner_s = [0.0]

    def watch(self, loader, method):
        load = getattr(loader, method)

        def timed(self_, about):
            start = self.now()
            self.inner_s.append(0.0)
            try:
                return load(self_, about)
            finally:
                elapsed = self.now() - start
                self.own_s[about.__name__ if method == "exec_module" else about.name] = elapsed - self.inner_s.pop()
                self.inner_s[-1] += elapsed
        setattr(loader, method, timed)

def measure(main, now):
    meter = Meter(now)
    meter.watch(importlib.machinery.SourceFileLoader, "exec_module")
    meter.watch(importlib.machinery.ExtensionFileLoader, "create_module")
    start = now()
    importlib.import_module(main)
    import_cpu_s = now() - start
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    deployed = sorted(name for name, file in files.items() if file and file.startswith("/sources/"))
    return json.dumps({"import_cpu_s": import_cpu_s, "modules": deployed, "own_s": meter.own_s})

measure`;

const isDeployed = (name) => !name.endsWith(".pyc") && !name.includes("__pycache__");

function copySources(python, inside, outside) {
  for (const entry of readdirSync(outside, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !isDeployed(path)) continue;
    const copy = `${inside}/${relative(outside, path)}`;
    python.FS.mkdirTree(copy.slice(0, copy.lastIndexOf("/")));
    python.FS.writeFile(copy, readFileSync(path), { canOwn: true });
  }
}

// Stand-ins for what only the runtime has; nothing of it is called while modules are imported.
class Base {}
const RUNTIME = { DurableObject: Base, WorkerEntrypoint: Base, WorkflowEntrypoint: Base, RpcTarget: Base, env: {}, waitUntil() {} };

export function measureImports(python, main, folders) {
  folders.forEach((folder, at) => copySources(python, `/sources/${at}`, folder));
  python.registerJsModule(SDK_HELPER_MODULE, { doAnImport: async () => RUNTIME, cloudflareWorkersModule: RUNTIME, cloudflareSocketsModule: {}, patchWaitUntil() {} });
  python.registerJsModule(SDK_FLAGS_MODULE, { python_request_headers_preserve_commas: true, python_workflows_implicit_dependencies: true });
  python.runPython(`import sys; sys.dont_write_bytecode = True; sys.path[:0] = [f"/sources/{at}" for at in range(${folders.length})]`);
  const cpuSeconds = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1e6;
  };
  const measured = JSON.parse(python.runPython(MEASURE)(main, cpuSeconds));
  return { ...measured, heap_mb: python._module.HEAPU8.length / 1e6 };
}
