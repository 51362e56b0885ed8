// Chooses a zone, or registers a new one.
import { sendJson } from "./api.js";
import { banner, showFieldError, empty, field, fill, h } from "./dom.js";

const STORAGE_KEY = "zone";

export function zoneChooser(ids, { onChoose, onLeave }) {
  const choice = h("select", { onchange: () => choose(choice.value) });
  const card = h(
    "section",
    { class: "card" },
    h(
      "div",
      { class: "row" },
      h("div", { class: "grow" }, field("Zone", choice)),
      h("button", { type: "button", onclick: () => choose("") }, "New zone"),
      h("button", { type: "button", onclick: onLeave }, "Sign out"),
    ),
  );

  function choose(id) {
    list(id);
    remember(id);
    onChoose(id);
  }

  function list(id) {
    const options = ids.map((each) => h("option", { value: each }, each));
    fill(choice, id ? "" : h("option", { value: "" }, ids.length ? "Choose a zone …" : "No zone yet"), options);
    choice.value = id;
  }

  return {
    card,
    begin: () => choose(ids.includes(recall()) ? recall() : (ids[0] ?? "")),
    remove(id) {
      ids.splice(ids.indexOf(id), 1);
      choose(ids[0] ?? "");
    },
    add(id) {
      if (!ids.includes(id)) ids.push(id);
      choose(id);
    },
  };
}

export function newZoneForm(onRegistered) {
  const name = h("input", { autocomplete: "off", spellcheck: "false", maxlength: 64 });
  const site = h("input", { type: "url", autocomplete: "off", placeholder: "https://www.example.com" });
  const notice = h("div", {});

  async function submit(event) {
    event.preventDefault();
    fill(notice);
    showFieldError(name, /^[\w-]{1,64}$/.test(name.value) ? "" : "Use 1 to 64 letters, digits, - and _.");
    showFieldError(site);
    if (name.getAttribute("aria-invalid") === "true") return name.focus();
    try {
      await sendJson(`/api/v1/zones/${encodeURIComponent(name.value)}/config`, { site_url: site.value.trim() }, { method: "PUT" });
      onRegistered(name.value);
    } catch (error) {
      const wrong = error.fields?.find(({ path }) => path === "site_url");
      if (wrong) showFieldError(site, wrong.reason);
      else fill(notice, banner(error.message));
    }
  }

  return h(
    "form",
    { class: "card narrow", novalidate: true, onsubmit: submit },
    h("h2", {}, "New zone"),
    empty("A zone is one site. It starts with the default limits, which you can change under Settings."),
    field("Zone id", name, "The name in requests: 1 to 64 letters, digits, - and _"),
    field("Address of the site", site, "Scheme and host only"),
    notice,
    h("div", { class: "row" }, h("button", { class: "primary" }, "Register")),
  );
}

// The id of a zone is not secret, so it may be stored. The token is never stored.
function recall() {
  try {
    return sessionStorage.getItem(STORAGE_KEY) ?? "";
  } catch {
    return "";
  }
}

function remember(id) {
  try {
    sessionStorage.setItem(STORAGE_KEY, id);
  } catch {
    // Private windows may refuse this. The page then shows the first zone.
  }
}
