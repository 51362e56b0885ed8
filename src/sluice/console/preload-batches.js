// Batches: enqueue pages or a sitemap, follow the progress, cancel.
import { getJson, sendJson } from "./api.js";
import { badge, banner, check, showFieldError, empty, field, fill, h, table } from "./dom.js";
import { formatTime, formatDuration } from "./times.js";
import { watch } from "./watching.js";

const REFRESH_S = 2;
const KINDS = { finished: "good", running: "warn", crawling: "warn" };
const OUTCOMES = ["done", "failed", "gone", "skipped", "dropped", "cancelled"];
const number = (value) => value.toLocaleString("en");

export function batchesPanel(zone) {
  const place = h("div", {}, empty("Loading …"));
  const notice = h("div", { role: "status" });
  const panel = h("div", { class: "panel" }, h("div", { class: "columns" }, enqueueForm(send), sitemapForm(send)), notice, h("section", { class: "card" }, h("h2", {}, "Batches"), place));
  const list = watch(REFRESH_S, panel, place, async () => (await getJson(zone("status"))).batches, draw);

  async function send(path, body) {
    const batch = await sendJson(zone(path), body);
    fill(notice, banner(describeBatch(batch), "good"));
    await list.update();
  }

  async function cancel({ preload_batch_id: id }) {
    try {
      await sendJson(zone(`batches/${encodeURIComponent(id)}/cancel`));
      fill(notice, banner("Cancelled. A page that is being fetched now is still finished.", "good"));
    } catch (error) {
      fill(notice, banner(error.message));
    }
    await list.update();
  }

  function draw(batches) {
    if (!batches.length) return empty("No batch yet. Enqueue pages above. A purge, the schedule and the sitemap create batches too.");
    return table(
      "Batches",
      [
        ["Batch", ({ preload_batch_id: id }) => h("span", { class: "mono", title: id }, short(id))],
        ["Trigger", ({ trigger }) => trigger],
        ["State", ({ state }) => badge(state, KINDS[state])],
        ["Progress", progress, "bar"],
        ["Pages", describeCounts, "wrap"],
        ["ETA", ({ eta_s, state }) => (state === "finished" ? "" : eta_s === null ? "not progressing" : formatDuration(eta_s))],
        ["Started", ({ created_at: at }) => formatTime(at * 1000)],
        ["", (batch) => (batch.state === "finished" ? "" : h("button", { type: "button", class: "danger", "aria-label": `Cancel ${short(batch.preload_batch_id)}`, onclick: () => cancel(batch) }, "Cancel"))],
      ],
      batches,
    );
  }

  return { panel, refresh: list.refresh, stop: list.stop };
}

const short = (id) => id.replace(/^(preload|purge)-/, "").slice(0, 8);
const describeBatch = ({ preload_batch_id: id, enqueued, sitemap }) =>
  sitemap ? `Batch ${short(id)}: the sitemap ${sitemap} is being read.` : `Batch ${short(id)}: ${number(enqueued)} ${enqueued === 1 ? "page" : "pages"} in the queue.`;

function progress({ preload_batch_id: id, total, queued, state }) {
  const over = state === "finished" ? 1 : 0;
  return h("progress", { max: Math.max(total, 1), value: total ? total - queued : over, "aria-label": `Progress of ${short(id)}` });
}

const describeCounts = (batch) => [`${number(batch.total - batch.queued)} of ${number(batch.total)}`, ...OUTCOMES.filter((name) => batch[name]).map((name) => `${number(batch[name])} ${name}`)].join(", ");

function enqueueForm(send) {
  const urls = h("textarea", { class: "code", rows: 5, spellcheck: "false", autocomplete: "off" });
  const all = check("All known pages", { onchange: () => (urls.disabled = all.querySelector("input").checked) });
  const priority = h("input", { type: "number", min: 0, max: 100, autocomplete: "off" });
  const fields = { urls, priority };

  return form("Warm pages", "enqueue", fields, send, () => ({
    ...(all.querySelector("input").checked ? { all: true } : { urls: urls.value.split("\n").map((line) => line.trim()).filter(Boolean) }),
    ...(priority.value === "" ? {} : { priority: Number(priority.value) }),
  }), "Enqueue", [
    field("Addresses, one per line", urls, "Only addresses on the hosts of this zone"),
    all,
    field("Priority", priority, "0 to 100. If empty, it depends on the trigger, the age and the traffic of the page."),
  ]);
}

function sitemapForm(send) {
  const url = h("input", { type: "url", autocomplete: "off" });
  return form("Crawl a sitemap", "sitemap", { url }, send, () => (url.value.trim() ? { url: url.value.trim() } : {}), "Crawl", [
    field("Address of the sitemap", url, "If empty, the address in the settings. A sitemap index, robots.txt or a compressed file works too."),
  ]);
}

// A card that sends a body and shows the errors of the service at their fields.
function form(title, path, fields, send, body, action, content) {
  const notice = h("div", {});
  const button = h("button", { class: "primary" }, action);

  async function submit(event) {
    event.preventDefault();
    fill(notice);
    Object.values(fields).forEach((control) => showFieldError(control));
    button.disabled = true;
    try {
      await send(path, body());
    } catch (error) {
      const shown = (error.fields ?? []).filter(({ path: at }) => at.replace(/\[.*/, "") in fields);
      for (const { path: at, reason } of shown) showFieldError(fields[at.replace(/\[.*/, "")], `${at} ${reason}`);
      if (!shown.length) fill(notice, banner(error.message));
    } finally {
      button.disabled = false;
    }
  }

  return h("form", { class: "card", novalidate: true, onsubmit: submit }, h("h2", {}, title), content, notice, h("div", { class: "row" }, button));
}
