// After a crash the local engine does not continue unfinished workflow instances, although it shows them as "running". An
// instance that is paused and resumed continues after its last finished step. (Cloudflare's engine does this by itself.)
import { EXPLORER_WORKFLOWS } from "./private_interfaces.mjs";

// Nothing else pauses an instance here: one that is paused was left so by a crash in the middle of this.
const UNFINISHED = ["queued", "running", "waiting", "waitingForPause", "paused"];
const PER_PAGE = 100;
// An instance that its own alarm has woken pauses after its step; after so long it is told to go on as it is.
const PAUSE_LIMIT_MS = 30_000;
const PAUSE_CHECK_MS = 50;

export async function resumeWorkflows(miniflare, configs) {
  const names = new Set(configs.flatMap(({ workflows }) => workflows.map(({ name }) => name)));
  for (const name of names) {
    for (const id of await listUnfinished(miniflare, name)) {
      await changeStatus(miniflare, name, id, "pause");
      await waitUntilPaused(miniflare, name, id);
      await changeStatus(miniflare, name, id, "resume");
    }
  }
}

// The engine pauses a moment after it has said so. Told to resume before that, it would only take the pause back, and stand still.
async function waitUntilPaused(miniflare, name, id) {
  const latest = Date.now() + PAUSE_LIMIT_MS;
  while (Date.now() < latest) {
    const reply = await callExplorer(miniflare, `${name}/instances/${encodeURIComponent(id)}`);
    const { result } = await reply.json();
    if (result?.status !== "waitingForPause") return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_CHECK_MS));
  }
}

const callExplorer = (miniflare, path, init) =>
  miniflare.dispatchFetch(`http://127.0.0.1${EXPLORER_WORKFLOWS}/${path}`, init);

async function listUnfinished(miniflare, name) {
  const ids = [];
  for (let page = 1; ; page++) {
    const reply = await callExplorer(miniflare, `${name}/instances?page=${page}&per_page=${PER_PAGE}`);
    if (!reply.ok) return ids; // the workflow has no instance yet
    const { result } = await reply.json();
    ids.push(...result.filter(({ status }) => UNFINISHED.includes(status)).map(({ id }) => id));
    if (result.length < PER_PAGE) return ids;
  }
}

async function changeStatus(miniflare, name, id, action) {
  const reply = await callExplorer(miniflare, `${name}/instances/${encodeURIComponent(id)}/status`, {
    method: "PATCH",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ action }),
  });
  await reply.arrayBuffer();
}
