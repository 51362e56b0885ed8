// After a crash the local engine does not continue unfinished workflow instances, although it shows them as "running". An
// instance that is paused and resumed continues after its last finished step. (Cloudflare's engine does this by itself.)
import { EXPLORER_WORKFLOWS } from "./private_interfaces.mjs";

const UNFINISHED = ["queued", "running", "waiting"];
const PER_PAGE = 100;

export async function resumeWorkflows(miniflare, configs) {
  const names = new Set(configs.flatMap(({ workflows }) => workflows.map(({ name }) => name)));
  for (const name of names) {
    for (const id of await listUnfinished(miniflare, name)) {
      await changeStatus(miniflare, name, id, "pause");
      await changeStatus(miniflare, name, id, "resume");
    }
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
