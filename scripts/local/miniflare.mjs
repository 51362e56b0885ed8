// Miniflare, started quickly. Its serializer grows workerd's config by 4 KB at a time and copies all of it each time; with an
// interpreter in every Worker that is hundreds of megabytes, copied a hundred times. A larger step makes it seconds. Were the
// line to change in another version, everything would still work, only slower.
import { registerHooks } from "node:module";

const SLOW = "var MIN_SINGLE_SEGMENT_GROWTH = 4096;";
const FAST = `var MIN_SINGLE_SEGMENT_GROWTH = ${64 * 1024 * 1024};`;

const hooks = registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith("/miniflare/dist/src/index.js")) return loaded;
    return { ...loaded, source: loaded.source?.toString().replace(SLOW, FAST) };
  },
});
export const { Log, LogLevel, Miniflare, supportedCompatibilityDate } = await import("miniflare");
hooks.deregister();
