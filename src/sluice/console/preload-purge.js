// Purging by hand: pages, tags and prefixes, or everything after a confirmation.
import { sendJson } from "./api.js";
import { banner, check, field, fill, h } from "./dom.js";

const split = (control) => control.value.split(/\s+/).filter(Boolean);

export function purgeCard(zone) {
  const notice = h("div", { role: "status" });
  const urls = h("textarea", { rows: 2, spellcheck: "false" });
  const tags = h("input", { type: "text", spellcheck: "false", autocomplete: "off" });
  const prefixes = h("input", { type: "text", spellcheck: "false", autocomplete: "off" });
  const soft = check("Serve the old copies while the origin fails");
  const sure = check("Yes, purge every page of this zone");

  async function purge(body) {
    try {
      const { purge_id: id, estimated_completion_ms: wait } = await sendJson(zone("purge"), { ...body, soft: soft.querySelector("input").checked });
      fill(notice, banner(`Purged: in ${wait / 1000} s at the latest no data centre serves the old copies (${id}).`, "good"));
    } catch (error) {
      fill(notice, banner(error.message));
    }
  }

  function submit(event) {
    event.preventDefault();
    purge({ urls: split(urls), tags: split(tags), prefixes: split(prefixes) });
  }

  const purgeAll = () => {
    const box = sure.querySelector("input");
    if (!box.checked) return fill(notice, banner("Tick the box first: this purges every page."));
    box.checked = false;
    return purge({ global: true });
  };

  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Purge"),
    notice,
    h(
      "form",
      { onsubmit: submit },
      field("Pages", urls, "Whole URLs, one per line"),
      field("Tags", tags, "Such as post:123, separated by spaces"),
      field("Prefixes", prefixes, "URLs that are purged with everything below"),
      soft,
      h("div", { class: "row" }, h("button", { class: "primary" }, "Purge")),
    ),
    h("details", {}, h("summary", {}, "Purge everything"), sure, h("div", { class: "row" }, h("button", { type: "button", class: "danger", onclick: purgeAll }, "Purge everything"))),
  );
}
