// Creates elements. Strings always become text nodes, so no text of a service can become markup.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  assign(element, attributes);
  element.append(...nodes(children));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...nodes(children));
  return element;
}

function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else if (name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
}

const nodes = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

// Replaces the content of an element. If a control in it has the focus, the same control gets it afterwards.
export function fill(element, ...children) {
  const focused = document.activeElement;
  const hadFocus = focused !== element && element.contains(focused);
  element.replaceChildren(...nodes(children));
  if (hadFocus && !focused.isConnected) findSame(element, focused)?.focus({ preventScroll: true });
  return element;
}

const nameOf = (control) => control.getAttribute("aria-label") ?? control.textContent;
const findSame = (element, focused) => [...element.querySelectorAll(focused.tagName)].find((control) => nameOf(control) === nameOf(focused));

export const byId = (id) => document.getElementById(id);

let counter = 0;
export const makeId = (prefix) => `${prefix}-${(counter += 1)}`;

// Returns a labelled control with an optional hint.
export function field(label, control, hint) {
  control.id ||= makeId("field");
  const about = hint && h("p", { class: "hint", id: `${control.id}-hint` }, hint);
  if (about) control.setAttribute("aria-describedby", about.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, about);
}

// Shows at a control what is wrong with it; without a reason, removes the message.
export function showFieldError(control, reason) {
  const id = `${control.id}-wrong`;
  byId(id)?.remove();
  const others = (control.getAttribute("aria-describedby") ?? "").split(" ").filter((name) => name && name !== id);
  control.setAttribute("aria-invalid", String(Boolean(reason)));
  if (reason) {
    control.closest(".field, .check").append(h("p", { class: "wrong", id }, reason));
    others.push(id);
  }
  if (others.length) control.setAttribute("aria-describedby", others.join(" "));
  else control.removeAttribute("aria-describedby");
}

export function check(label, attributes = {}) {
  const box = h("input", { type: "checkbox", id: makeId("check"), ...attributes });
  return h("label", { class: "check", for: box.id }, box, h("span", {}, label));
}

export const badge = (text, kind = "") => h("span", { class: `badge ${kind}` }, text);

export const banner = (text, kind = "bad") => h("p", { class: `banner ${kind}`, role: kind === "bad" ? "alert" : "status" }, text);

export const empty = (text) => h("p", { class: "empty" }, text);

export const figures = (pairs) =>
  h("dl", { class: "figures" }, Object.entries(pairs).map(([name, value]) => h("div", { class: "figure" }, h("dt", {}, name), h("dd", {}, value))));

// columns: [title, cell, class]; `cell` returns the content for a row.
export function table(caption, columns, rows) {
  const head = h("tr", {}, columns.map(([title, , kind]) => h("th", { scope: "col", class: kind }, title || h("span", { class: "visually-hidden" }, "Action"))));
  const body = rows.map((row) => h("tr", {}, columns.map(([, cell, kind]) => h("td", { class: kind }, cell(row)))));
  const heading = h("caption", { class: "visually-hidden" }, caption);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, h("table", {}, heading, h("thead", {}, head), h("tbody", {}, body)));
}

// Tabs as buttons; arrow keys, Home and End move between them. pages: [title, panel, onShow?].
export function tabs(label, pages) {
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": label });
  const buttons = pages.map(([title, panel], at) => {
    panel.id ||= makeId("panel");
    panel.setAttribute("role", "tabpanel");
    const button = h("button", { type: "button", role: "tab", id: `${panel.id}-tab`, "aria-controls": panel.id }, title);
    panel.setAttribute("aria-labelledby", button.id);
    button.addEventListener("click", () => select(at));
    return button;
  });
  function select(chosen) {
    pages.forEach(([, panel], at) => {
      panel.hidden = at !== chosen;
      buttons[at].setAttribute("aria-selected", String(at === chosen));
      buttons[at].tabIndex = at === chosen ? 0 : -1;
    });
    const name = pages[chosen][0].toLowerCase();
    if (location.hash.slice(1) !== name && (location.hash || chosen)) history.replaceState(null, "", `#${name}`);
    pages[chosen][2]?.();
  }
  list.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const chosen = (to + buttons.length) % buttons.length;
    buttons[chosen].focus();
    select(chosen);
  });
  list.append(...buttons);
  const linked = pages.findIndex(([title]) => title.toLowerCase() === location.hash.slice(1));
  select(Math.max(linked, 0));
  return list;
}
