// Miniflare, with two of its weaknesses mended.
//
// Its workerd can spin for ever in a sweep of V8's second heap that waits for a helper thread which has nothing to do; with
// interpreters of this size that happens at every third start on a busy machine. Collecting on one thread avoids it.
//
// Its serializer grows workerd's config by 4 KB at a time and copies all of it each time; with an
// interpreter in every Worker that is hundreds of megabytes, copied a hundred times. A larger step makes it seconds. Were the
// line to change in another version, everything would still work, only slower.
import { registerHooks } from "node:module";

process.env.MINIFLARE_WORKERD_V8_FLAGS ??= "--single-threaded-gc";

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
