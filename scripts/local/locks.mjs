// wrangler's commands open the SQLite files that the served Workers have in use. Whoever comes second is refused at once, where
// Cloudflare's own services would wait. So what was refused is done again here until the lock has gone: the other process holds it
// for milliseconds. What was refused had no effect.
const WAIT_MS = 20_000;
const PAUSES_MS = { first: 20, longest: 1000 };
// How a lock shows. Often the reason is lost on its way through workerd, and what is left is that something inside has failed.
const LOCKED = /SQLITE_BUSY|failed: 500 Internal Server Error|Unspecified error|Network connection lost|internal error/;

// `report` prints a sentence, once.
export async function waitWhileLocked(call, report) {
  for (let end, pauseMs = PAUSES_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSES_MS.longest)) {
    try {
      return await call();
    } catch (error) {
      if (!LOCKED.test(error?.message) || Date.now() > end) throw error;
      if (!end) report("another process, such as wrangler, has locked the local state: waiting");
      end ??= Date.now() + WAIT_MS;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
