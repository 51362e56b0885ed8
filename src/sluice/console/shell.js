// The header of every page: links to the other services, and the choice of the theme.
import { byId, fill, h } from "./dom.js";

const WORKERS = [
  ["Compiler", "adblock-compiler"],
  ["Preload", "edge-preload"],
  ["News", "worker-api"],
];
const THEMES = { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" };

// Returns the address of another Worker: the same host with its name, or NAME.localhost on a local machine.
export function siblingUrl(name) {
  const { protocol, hostname, port } = location;
  const bare = /^[\d.]+$|^\[|^localhost$/.test(hostname);
  const own = hostname.split(".")[0];
  const host = bare ? `${name}.localhost` : WORKERS.some(([, known]) => known === own) ? hostname.replace(own, name) : hostname;
  return `${protocol}//${host}${port ? `:${port}` : ""}/`;
}

export function showShell(current, { docs = true } = {}) {
  const links = WORKERS.map(([title, name]) => h("a", { href: name === current ? "/" : siblingUrl(name), "aria-current": name === current && "page" }, title));
  if (docs) links.push(h("a", { href: "/docs" }, "API"));
  const theme = h("button", { type: "button", onclick: () => choose(next()) });
  const choose = (name) => {
    if (name === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    remember(name);
    fill(theme, THEMES[name]);
  };
  const names = Object.keys(THEMES);
  const next = () => names[(names.indexOf(recall()) + 1) % names.length];
  fill(byId("top"), h("a", { class: "brand", href: "/" }, "Sluice"), h("nav", { "aria-label": "Services" }, links), theme);
  choose(recall());
}

function recall() {
  try {
    const name = localStorage.getItem("theme");
    return name in THEMES ? name : "system";
  } catch {
    return "system";
  }
}

function remember(name) {
  try {
    localStorage.setItem("theme", name);
  } catch {
    // Private windows may refuse this. The choice then lasts as long as the page.
  }
}
