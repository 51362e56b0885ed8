// After a crash an unfinished workflow instance stands still in the local engine, though it says "running"; paused and
// resumed, it goes on after its last finished step and repeats none. (Cloudflare's engine does this by itself.)
const UNFINISHED = ["queued", "running", "waiting"];
const PER_PAGE = 100;

export async function resumeWorkflows(miniflare, configs) {
  const names = new Set(configs.flatMap(({ workflows }) => workflows.map(({ name }) => name)));
  for (const name of names) {
    for (const id of await unfinished(miniflare, name)) {
      await change(miniflare, name, id, "pause");
      await change(miniflare, name, id, "resume");
    }
  }
}

const explore = (miniflare, path, init) =>
  miniflare.dispatchFetch(`http://127.0.0.1/cdn-cgi/explorer/api/workflows/${path}`, init);

async function unfinished(miniflare, name) {
  const ids = [];
  for (let page = 1; ; page++) {
    const reply = await explore(miniflare, `${name}/instances?page=${page}&per_page=${PER_PAGE}`);
    if (!reply.ok) return ids; // no instance was ever made
    const { result } = await reply.json();
    ids.push(...result.filter(({ status }) => UNFINISHED.includes(status)).map(({ id }) => id));
    if (result.length < PER_PAGE) return ids;
  }
}

async function change(miniflare, name, id, action) {
  const reply = await explore(miniflare, `${name}/instances/${encodeURIComponent(id)}/status`, {
    method: "PATCH",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ action }),
  });
  await reply.arrayBuffer();
}
