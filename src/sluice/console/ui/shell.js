// The header of every page: links to the other services, and the choice of the theme.
import { html, render, useState } from "./draw.js";
import { Icon } from "./icons.js";
import { recall, remember } from "./state.js";

const WORKERS = [
  ["Compiler", "adblock-compiler"],
  ["Preload", "edge-preload"],
  ["News", "worker-api"],
];
const THEMES = { system: "screen", light: "sun", dark: "moon" };

// Returns the address of another Worker: the same host with its name, or NAME.localhost on a local machine.
export function siblingUrl(name) {
  const { protocol, hostname, port } = location;
  const bare = /^[\d.]+$|^\[|^localhost$/.test(hostname);
  const own = hostname.split(".")[0];
  const host = bare ? `${name}.localhost` : WORKERS.some(([, known]) => known === own) ? hostname.replace(own, name) : hostname;
  return `${protocol}//${host}${port ? `:${port}` : ""}/`;
}

export function showShell(current, { docs = true } = {}) {
  render(html`<${Header} ...${{ current, docs }} />`, document.getElementById("top"));
}

function Header({ current, docs }) {
  return html`<a class="brand" href="/"><${Icon} name="gate" />Sluice</a>
    <nav aria-label="Services">
      ${WORKERS.map(([title, name]) => html`<a href=${name === current ? "/" : siblingUrl(name)} aria-current=${name === current ? "page" : undefined}>${title}</a>`)}
      ${docs && html`<a href="/docs" aria-current=${location.pathname === "/docs" ? "page" : undefined}>API</a>`}
    </nav>
    <${ThemeButton} />`;
}

function ThemeButton() {
  const [theme, setTheme] = useState(readTheme);
  const choose = () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(theme) + 1) % names.length];
    remember("theme", next);
    applyTheme(next);
    setTheme(next);
  };
  return html`<button type="button" class="icon-button" aria-label="Theme: ${theme}" title="Theme: ${theme}" onClick=${choose}><${Icon} name=${THEMES[theme]} /></button>`;
}

const readTheme = () => (recall("theme") in THEMES ? recall("theme") : "system");

function applyTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

applyTheme(readTheme());
