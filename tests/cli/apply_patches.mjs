// Updates lists by AdGuard's own client: reads {address, text} as lines of JSON, and prints each updated text as JSON.
import { createInterface } from "node:readline";
import { DiffUpdater } from "@adguard/diff-builder/diff-updater/es";

for await (const line of createInterface({ input: process.stdin })) {
  const { address, text } = JSON.parse(line);
  console.log(JSON.stringify(await DiffUpdater.applyPatch({ filterUrl: address, filterContent: text })));
}
