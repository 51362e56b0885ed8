// What was asked for together: ask by hand or by sitemap, watch it, take it back.
import { getJson, sendJson } from "./api.js";
import { badge, banner, check, complain, empty, field, fill, h, table } from "./dom.js";
import { moment, span } from "./times.js";
import { watched } from "./watching.js";

const REFRESH_S = 2;
const KINDS = { finished: "good", running: "warn", crawling: "warn" };
const ENDS = ["done", "failed", "gone", "skipped", "dropped", "cancelled"];
const number = (value) => value.toLocaleString("en");

export function batchesPanel(zone) {
  const place = h("div", {}, empty("Loading …"));
  const said = h("div", { role: "status" });
  const panel = h("div", { class: "panel" }, h("div", { class: "columns" }, enqueueForm(send), sitemapForm(send)), said, h("section", { class: "card" }, h("h2", {}, "Batches"), place));
  const list = watched(REFRESH_S, panel, place, async () => (await getJson(zone("status"))).batches, draw);

  async function send(path, body) {
    const told = await sendJson(zone(path), body);
    fill(said, banner(accepted(told), "good"));
    await list.look();
  }

  async function cancel({ preload_batch_id: id }) {
    try {
      await sendJson(zone(`batches/${encodeURIComponent(id)}/cancel`));
      fill(said, banner("Cancelled. A page that is being fetched right now is finished first.", "good"));
    } catch (error) {
      fill(said, banner(error.message));
    }
    await list.look();
  }

  function draw(batches) {
    if (!batches.length) return empty("No batch yet. Ask for pages above; a purge, the schedule and the sitemap make batches too.");
    return table(
      "Batches",
      [
        ["Batch", ({ preload_batch_id: id }) => h("span", { class: "mono", title: id }, short(id))],
        ["Trigger", ({ trigger }) => trigger],
        ["State", ({ state }) => badge(state, KINDS[state])],
        ["Progress", progress, "bar"],
        ["Pages", ends, "wrap"],
        ["ETA", ({ eta_s, state }) => (state === "finished" ? "" : eta_s === null ? "stands still" : span(eta_s))],
        ["Began", ({ created_at: at }) => moment(at * 1000)],
        ["", (batch) => (batch.state === "finished" ? "" : h("button", { type: "button", class: "danger", "aria-label": `Cancel ${short(batch.preload_batch_id)}`, onclick: () => cancel(batch) }, "Cancel"))],
      ],
      batches,
    );
  }

  return { panel, refresh: list.refresh, stop: list.stop };
}

const short = (id) => id.replace(/^(preload|purge)-/, "").slice(0, 8);
const accepted = ({ preload_batch_id: id, enqueued, sitemap }) =>
  sitemap ? `Batch ${short(id)}: the sitemap ${sitemap} is being read.` : `Batch ${short(id)}: ${number(enqueued)} ${enqueued === 1 ? "page" : "pages"} in the queue.`;

function progress({ preload_batch_id: id, total, queued, state }) {
  const over = state === "finished" ? 1 : 0;
  return h("progress", { max: Math.max(total, 1), value: total ? total - queued : over, "aria-label": `Progress of ${short(id)}` });
}

const ends = (batch) => [`${number(batch.total - batch.queued)} of ${number(batch.total)}`, ...ENDS.filter((name) => batch[name]).map((name) => `${number(batch[name])} ${name}`)].join(", ");

function enqueueForm(send) {
  const urls = h("textarea", { class: "code", rows: 5, spellcheck: "false", autocomplete: "off" });
  const all = check("Every page that is known", { onchange: () => (urls.disabled = all.querySelector("input").checked) });
  const priority = h("input", { type: "number", min: 0, max: 100, autocomplete: "off" });
  const fields = { urls, priority };

  return form("Warm pages", "enqueue", fields, send, () => ({
    ...(all.querySelector("input").checked ? { all: true } : { urls: urls.value.split("\n").map((line) => line.trim()).filter(Boolean) }),
    ...(priority.value === "" ? {} : { priority: Number(priority.value) }),
  }), "Enqueue", [
    field("Addresses, one per line", urls, "On the zone's own hosts"),
    all,
    field("Priority", priority, "0 to 100; left empty, it follows from trigger, age and traffic"),
  ]);
}

function sitemapForm(send) {
  const url = h("input", { type: "url", autocomplete: "off" });
  return form("Crawl a sitemap", "sitemap", { url }, send, () => (url.value.trim() ? { url: url.value.trim() } : {}), "Crawl", [
    field("Address of the sitemap", url, "Left empty: the one in the settings. An index, robots.txt or a packed file will do."),
  ]);
}

// A card that sends a body, and says at each field what the service has against it.
function form(title, path, fields, send, body, action, content) {
  const said = h("div", {});
  const button = h("button", { class: "primary" }, action);

  async function submit(event) {
    event.preventDefault();
    fill(said);
    Object.values(fields).forEach((control) => complain(control));
    button.disabled = true;
    try {
      await send(path, body());
    } catch (error) {
      const found = (error.fields ?? []).filter(({ path: at }) => at.replace(/\[.*/, "") in fields);
      for (const { path: at, reason } of found) complain(fields[at.replace(/\[.*/, "")], `${at} ${reason}`);
      if (!found.length) fill(said, banner(error.message));
    } finally {
      button.disabled = false;
    }
  }

  return h("form", { class: "card", novalidate: true, onsubmit: submit }, h("h2", {}, title), content, said, h("div", { class: "row" }, button));
}
