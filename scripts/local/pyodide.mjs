// Runs the Worker's interpreter under Node: compiles the vendored packages, writes the start-up snapshot, runs unit tests,
// measures imports.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { loadPyodide } from "pyodide";
import { measureImports } from "./imports.mjs";
import { packMemory } from "./pack.mjs";
import { PYODIDE_MAKE_SNAPSHOT } from "./private_interfaces.mjs";

// These modules are imported into the snapshot, so that Workers start faster.
const STDLIB =
  "asyncio, base64, dataclasses, datetime, decimal, email.message, enum, gzip, html, http.client, importlib.metadata, " +
  "inspect, json, logging, re, secrets, tomllib, typing, urllib.parse, uuid, xml.etree.ElementTree, zlib, zoneinfo";

async function makeSnapshot(file) {
  const python = await loadPyodide({ [PYODIDE_MAKE_SNAPSHOT]: true });
  python.runPython(`import ${STDLIB}`);
  mkdirSync(resolve(file, ".."), { recursive: true });
  writeFileSync(`${file}.part`, packMemory(python.makeMemorySnapshot()));
  renameSync(`${file}.part`, file);
}

async function loadWithFolders(folders) {
  const python = await loadPyodide({ env: { HOME: "/home/pyodide", PYTHONHASHSEED: process.env.PYTHONHASHSEED ?? "random" } });
  for (const [inside, outside] of Object.entries(folders)) {
    python.FS.mkdirTree(inside);
    python.mountNodeFS(inside, resolve(outside));
  }
  return python;
}

// The times of the files differ inside a Worker, so Python must not compare them with the compiled files.
async function compilePackages(folder) {
  const python = await loadWithFolders({ "/modules": folder });
  python.runPython(`
import compileall, py_compile
compileall.compile_dir("/modules", quiet=2, legacy=True, stripdir="/modules", prependdir="/session/python_modules",
                       invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)`);
}

// The interpreter has neither signals nor threads, so another thread of Node ends a test that takes longer than `timeout` of
// pyproject.toml. It waits for the next `note`, which has the name of the test that begins and the seconds that it may take.
function startWatch() {
  const began = new Int32Array(new SharedArrayBuffer(4));
  const watch = `
    const { parentPort, receiveMessageOnPort, workerData: began } = require("node:worker_threads");
    const { writeSync } = require("node:fs");
    for (let name = "the start", limitS = 600; ; ) {
      const seen = Atomics.load(began, 0);
      for (let next; (next = receiveMessageOnPort(parentPort)); ) [name, limitS] = next.message;
      if (Atomics.wait(began, 0, seen, 1000 * limitS) !== "timed-out") continue;
      writeSync(2, "\\nTimeout: " + name + " took more than " + limitS + " s\\n");
      process.kill(process.pid, "SIGKILL");
    }`;
  const thread = new Worker(watch, { eval: true, workerData: began });
  return (name, limitS) => {
    thread.postMessage([name, limitS]);
    Atomics.add(began, 0, 1);
    Atomics.notify(began, 0);
  };
}

async function runTests(modules, args) {
  const python = await loadWithFolders({ "/project": ".", "/modules": modules });
  python.globals.set("arguments", python.toPy(args));
  python.globals.set("note", startWatch());
  const code = await python.runPythonAsync(`
import os, sys
sys.path[:0] = ["/modules"]
sys.dont_write_bytecode = True
os.chdir("/project")
import pytest
class Watch:
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        note(item.nodeid, float(item.config.getini("timeout")))
        return (yield)
int(pytest.main(list(arguments), plugins=[Watch()]))`);
  process.exit(code);
}

async function printImports(main, ...folders) {
  const python = await loadPyodide({ env: { HOME: "/home/pyodide", PYTHONHASHSEED: "0" } });
  python.runPython(`import ${STDLIB}`);
  console.log(JSON.stringify(measureImports(python, main, folders)));
}

const [command, ...rest] = process.argv.slice(2);
const commands = { snapshot: makeSnapshot, compile: compilePackages, imports: printImports, test: (modules, ...args) => runTests(modules, args) };
await commands[command](...rest);
process.exit(0);
