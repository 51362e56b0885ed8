// Measures HostlistCompiler's transform() on a file: measure.cjs FILE RUNS TRANSFORMATION... Prints milliseconds.
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");

const load = createRequire(`${process.cwd()}/`);
const consola = load("consola");
consola.level = -1;
const { transform } = load("@adguard/hostlist-compiler/src/transformations/transform.js");

const [file, runs, ...names] = process.argv.slice(2);
const lines = readFileSync(file, "utf8").split(/\r?\n/);

(async () => {
  const times = [];
  for (let run = 0; run < Number(runs); run++) {
    const copy = lines.slice();
    const start = performance.now();
    await transform(copy, {}, names);
    times.push(performance.now() - start);
  }
  console.log(Math.min(...times));
})();
