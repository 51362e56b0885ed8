"""The undocumented interfaces that the local runtime relies on are those of the versions with which they were checked."""

import json
import re
import subprocess
from typing import Any

import pytest

from runtime import PATIENCE_S, ROOT

# What is used of each package, to be checked when its version changes.
INTERFACES = {
    "miniflare": "its growth constant, the name of the assets' storage, MINIFLARE_WORKERD_V8_FLAGS, the options unsafe… and the explorer's API",
    "pyodide": "_makeSnapshot, _loadSnapshot, Jsv_GetError_import, JsvError_Check and webloop.scheduleCallback",
    "workers-runtime-sdk": "_pyodide_entrypoint_helper and _cloudflare_compat_flags",
    "workerd": "the class names of the bindings and their prototypes, and _send of a D1 session",
    "wrangler": "unstable_readConfig and unstable_splitSqlQuery",
}


def run_node(script: str) -> Any:
    """Run the script with private_interfaces.mjs as `local` and return what it passes to `tell`."""
    head = """
import { readFileSync } from "node:fs";
import * as local from "./scripts/local/private_interfaces.mjs";
const tell = (value) => process.stdout.write(JSON.stringify(value), () => process.exit(0));
"""
    command = ["node_modules/.bin/node", "--input-type=module", "-e", head + script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def read_installed_version(package: str) -> str:
    if package != "workers-runtime-sdk":
        return str(json.loads((ROOT / "node_modules" / package / "package.json").read_text())["version"])
    metadata = next((ROOT / "python_modules").glob("workers_runtime_sdk-*.dist-info/METADATA")).read_text()
    found = re.search(r"^Version: (.+)$", metadata, re.MULTILINE)
    assert found
    return found[1]


@pytest.mark.parametrize("package", INTERFACES)
def test_version(package: str):
    """A package has the version with which its interfaces were checked."""
    checked = run_node("tell(local.CHECKED_VERSIONS)")[package]
    installed = read_installed_version(package)
    assert installed == checked, (
        f"{package} {installed} is installed, but {INTERFACES[package]} were checked with {checked}: "
        "check them, then change CHECKED_VERSIONS in scripts/local/private_interfaces.mjs"
    )


def test_snapshot():
    """Pyodide writes a snapshot of its memory and starts from it."""
    marker = run_node("""
import { loadPyodide } from "pyodide";
const first = await loadPyodide({ [local.PYODIDE_MAKE_SNAPSHOT]: true });
first.runPython("import sys; sys.marker = 42");
const second = await loadPyodide({ [local.PYODIDE_LOAD_SNAPSHOT]: first.makeMemorySnapshot() });
tell(second.runPython("import sys; getattr(sys, 'marker', None)") ?? null);
""")
    assert marker == 42, "pyodide does not start from a snapshot: see PYODIDE_MAKE_SNAPSHOT and PYODIDE_LOAD_SNAPSHOT"


def test_error_marker():
    """Pyodide's WebAssembly module imports the two functions that create and recognise its error marker."""
    missing = run_node("""
const wasm = new WebAssembly.Module(readFileSync("node_modules/pyodide/pyodide.asm.wasm"));
const imported = WebAssembly.Module.imports(wasm).filter(({ module }) => module === "env").map(({ name }) => name);
const replaced = { env: {} };
local.replaceErrorImports(replaced);
tell(Object.keys(replaced.env).filter((name) => !imported.includes(name)));
""")
    assert missing == [], f"pyodide no longer imports {missing}: see replaceErrorImports"


def test_scheduler():
    """Pyodide's event loop runs its callbacks through the function that is replaced."""
    calls = run_node("""
import { loadPyodide } from "pyodide";
const python = await loadPyodide();
let calls = 0;
local.replaceScheduler(python, (schedule) => (callback, delay) => {
  calls += 1;
  schedule(callback, delay);
});
await python.runPythonAsync("import asyncio; await asyncio.sleep(0); await asyncio.sleep(0.01)");
tell(calls);
""")
    assert calls > 1, "pyodide.webloop.scheduleCallback no longer runs the callbacks: see replaceScheduler"


def test_randomness():
    """CPython's `random` takes its seed from the function that is replaced while a Worker is imported."""
    found = run_node("""
import { loadPyodide } from "pyodide";
tell((await loadPyodide()).runPython("import os, random; random._urandom is os.urandom"));
""")
    assert found, "random._urandom is gone: see import_main in scripts/local/introspection.py"


@pytest.mark.parametrize("constant", ["SDK_HELPER_MODULE", "SDK_FLAGS_MODULE"])
def test_modules_of_the_sdk(constant: str):
    """The SDK imports the JavaScript modules that the host gives to it."""
    name = run_node(f"tell(local.{constant})")
    sources = [path.read_text() for path in (ROOT / "python_modules/workers").glob("*.py")]
    assert any(f"import {name}" in source for source in sources), f"the SDK no longer imports {name}: see {constant}"


def test_path_files():
    """No vendored package has a .pth file but the SDK, whose file needs modules of Cloudflare's own runtime."""
    found = {path.name for path in (ROOT / "python_modules").glob("*.pth")}
    assert found == {"_workers_sdk_patch_loader.pth"}, "the local runtime does not read .pth files, but Cloudflare does"


def test_growth_of_the_config():
    """The line of Miniflare that sets the growth of workerd's config is there once, and a number replaces it."""
    found, replaced = run_node("""
const source = readFileSync(`node_modules${local.MINIFLARE_SCRIPT}`, "utf8");
tell([source.split(local.MINIFLARE_GROWTH).length - 1, source.replace(local.MINIFLARE_GROWTH, local.miniflareGrowth(7)).includes("_GROWTH = 7;")]);
""")
    assert (found, replaced) == (1, True), "Miniflare's growth constant has changed: see MINIFLARE_GROWTH"


def test_storage_of_assets():
    """The line of Miniflare that names the storage of assets is there once; with the Worker's name each has its own files."""
    script = (
        "tell(readFileSync(`node_modules${local.MINIFLARE_SCRIPT}`, 'utf8').split(local.MINIFLARE_ASSETS).length - 1)"
    )
    assert run_node(script) == 1, "Miniflare's storage of assets has changed: see MINIFLARE_ASSETS"


@pytest.mark.parametrize(
    "name",
    [
        "MINIFLARE_WORKERD_V8_FLAGS",
        "unsafeEvalBinding",
        "unsafeHandleRuntimeRestart",
        "unsafeLocalExplorer",
        "/cdn-cgi/explorer",
    ],
)
def test_names_in_miniflare(name: str):
    """Miniflare's code has the option, variable or path."""
    source = (ROOT / "node_modules/miniflare/dist/src/index.js").read_text()
    assert name in source, f"Miniflare no longer knows {name}: see scripts/local/private_interfaces.mjs"


@pytest.mark.parametrize("name", ["unstable_readConfig", "unstable_splitSqlQuery"])
def test_functions_of_wrangler(name: str):
    """Wrangler exports the function."""
    kind = run_node(f'import * as wrangler from "wrangler"; tell(typeof wrangler.{name});')
    assert kind == "function", f"wrangler no longer exports {name}: see config.mjs and migrations.mjs"
