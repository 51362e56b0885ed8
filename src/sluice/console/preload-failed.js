// Pages in the dead-letter queue: replay or delete them.
import { getJson, sendJson } from "./api.js";
import { banner, check, empty, fill, h, table } from "./dom.js";
import { formatTime } from "./times.js";
import { watch } from "./watching.js";

const REFRESH_S = 5;
const SHOWN = 200;
const number = (value) => value.toLocaleString("en");

export function failedPanel(zone) {
  const chosen = new Set();
  const place = h("div", { class: "panel" }, empty("Loading …"));
  const notice = h("div", { role: "status" });
  const panel = h(
    "section",
    { class: "card" },
    h("h2", {}, "Failed pages"),
    h("p", { class: "hint" }, "These pages failed permanently or too often. Ten of them are retried every hour; after a week they are deleted."),
    notice,
    place,
  );
  const list = watch(REFRESH_S, panel, place, () => getJson(zone(`failed?limit=${SHOWN}`)), draw);

  async function act(path, method, describe, ids) {
    try {
      const result = await sendJson(zone(path), ids ? { ids } : {}, { method });
      fill(notice, banner(describe(result), "good"));
      chosen.clear();
    } catch (error) {
      fill(notice, banner(error.message));
    }
    await list.update();
  }
  const pages = (count) => `${number(count)} ${count === 1 ? "page" : "pages"}`;
  const replay = (ids) => act("failed/replay", "POST", ({ replayed }) => `${pages(replayed)} back in the queue. See Batches.`, ids);
  const remove = (ids) => act("failed", "DELETE", ({ deleted }) => `${pages(deleted)} deleted.`, ids);

  function draw({ count, failed }) {
    if (!count) return empty("No page has failed.");
    for (const id of [...chosen]) if (!failed.some((each) => each.id === id)) chosen.delete(id);
    const some = h("span", {});
    const replaySome = h("button", { type: "button", onclick: () => replay([...chosen]) }, "Replay selected");
    const removeSome = h("button", { type: "button", class: "danger", onclick: () => remove([...chosen]) }, "Delete selected");
    const showCount = () => {
      fill(some, `${chosen.size} selected`);
      replaySome.disabled = removeSome.disabled = !chosen.size;
    };
    showCount();
    const chooseAll = () => {
      for (const { id } of failed) chosen.add(id);
      for (const box of place.querySelectorAll("input")) box.checked = true;
      showCount();
    };
    const choose = (id) => (event) => {
      if (event.target.checked) chosen.add(id);
      else chosen.delete(id);
      showCount();
    };
    return [
      h("div", { class: "row" }, h("button", { type: "button", class: "primary", onclick: () => replay() }, "Replay all"), h("button", { type: "button", onclick: chooseAll }, "Select all"), replaySome, removeSome, h("span", { class: "hint", role: "status" }, some)),
      count > failed.length && banner(`Only the first ${failed.length} failed pages are shown.`, ""),
      table(
        "Failed pages",
        [
          ["Select", ({ id, url }) => check("", { checked: chosen.has(id), "aria-label": `Select ${url}`, onchange: choose(id) })],
          ["Page", ({ url, variant }) => (variant ? `${url} (${variant})` : url), "wrap"],
          ["Status", ({ status }) => status ?? "", "number"],
          ["Reason", ({ reason }) => reason, "wrap"],
          ["Attempts", ({ attempt }) => attempt + 1, "number"],
          ["Failed", ({ failed_at: at }) => formatTime(at * 1000)],
          ["", ({ id, url }) => h("div", { class: "row" }, h("button", { type: "button", "aria-label": `Replay ${url}`, onclick: () => replay([id]) }, "Replay"), h("button", { type: "button", class: "danger", "aria-label": `Delete ${url}`, onclick: () => remove([id]) }, "Delete"))],
        ],
        failed,
      ),
    ];
  }

  return { panel, refresh: list.refresh, stop: list.stop };
}
