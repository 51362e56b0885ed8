// Miniflare, with workarounds for three of its problems.
//
// workerd can hang in a sweep of V8's second heap, where it waits for a helper thread that never gets work. With
// interpreters of this size, every third start on a busy machine hangs. Garbage collection on one thread avoids it.
//
// The serializer grows workerd's config by 4 KB at a time and copies all of it each time. With an interpreter in every Worker
// the config has hundreds of megabytes. A larger step reduces the time to seconds. If the line
// changes in another version, the start still works but is slower.
//
// All Workers read their assets from the folder of the first one: the service that reads the disk has one name for all. Here
// each Worker has a folder of its own, so the name gets the Worker's. If the line changes, a test fails.
import { registerHooks } from "node:module";
import { MINIFLARE_ASSETS, MINIFLARE_GROWTH, MINIFLARE_OWN_ASSETS, MINIFLARE_SCRIPT, MINIFLARE_V8_FLAGS, miniflareGrowth } from "./private_interfaces.mjs";

const GROWTH_BYTES = 64 * 1024 * 1024;

process.env[MINIFLARE_V8_FLAGS] ??= "--single-threaded-gc";

const hooks = registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(MINIFLARE_SCRIPT)) return loaded;
    const source = loaded.source?.toString().replace(MINIFLARE_GROWTH, miniflareGrowth(GROWTH_BYTES));
    return { ...loaded, source: source?.replace(MINIFLARE_ASSETS, () => MINIFLARE_OWN_ASSETS) };
  },
});
export const { Log, LogLevel, Miniflare, supportedCompatibilityDate } = await import("miniflare");
hooks.deregister();
