// Which zone is looked at, and how a new one begins.
import { sendJson } from "./api.js";
import { banner, complain, empty, field, fill, h } from "./dom.js";

const CHOSEN = "zone";

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
    const known = ids.map((each) => h("option", { value: each }, each));
    fill(choice, id ? "" : h("option", { value: "" }, ids.length ? "Choose a zone …" : "No zone yet"), known);
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

export function newZoneForm(onMade) {
  const name = h("input", { autocomplete: "off", spellcheck: "false", maxlength: 64 });
  const site = h("input", { type: "url", autocomplete: "off", placeholder: "https://www.example.com" });
  const said = h("div", {});

  async function submit(event) {
    event.preventDefault();
    fill(said);
    complain(name, /^[\w-]{1,64}$/.test(name.value) ? "" : "1 to 64 letters, digits, - and _");
    complain(site);
    if (name.getAttribute("aria-invalid") === "true") return name.focus();
    try {
      await sendJson(`/api/v1/zones/${encodeURIComponent(name.value)}/config`, { site_url: site.value.trim() }, { method: "PUT" });
      onMade(name.value);
    } catch (error) {
      const wrong = error.fields?.find(({ path }) => path === "site_url");
      if (wrong) complain(site, wrong.reason);
      else fill(said, banner(error.message));
    }
  }

  return h(
    "form",
    { class: "card narrow", novalidate: true, onsubmit: submit },
    h("h2", {}, "New zone"),
    empty("A zone is one site. It begins with the usual limits; change them under Settings."),
    field("Zone id", name, "How requests name it: 1 to 64 letters, digits, - and _"),
    field("Address of the site", site, "Scheme and host alone"),
    said,
    h("div", { class: "row" }, h("button", { class: "primary" }, "Register")),
  );
}

// The name of a zone is no secret; the token is never kept.
function recall() {
  try {
    return sessionStorage.getItem(CHOSEN) ?? "";
  } catch {
    return "";
  }
}

function remember(id) {
  try {
    sessionStorage.setItem(CHOSEN, id);
  } catch {
    // Private windows may refuse; the first zone is shown then.
  }
}
