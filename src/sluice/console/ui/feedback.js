// What the page says: states, messages, figures, and that there is nothing yet.
import { html } from "./draw.js";
import { Icon } from "./icons.js";

export const Badge = ({ kind = "", children }) => html`<span class="badge ${kind}">${children}</span>`;

const ICONS = { bad: "warning", warn: "warning", good: "check", "": "info" };

export const Banner = ({ kind = "bad", children }) =>
  html`<div class="banner ${kind}" role=${kind === "bad" ? "alert" : "status"}><${Icon} name=${ICONS[kind]} /><div>${children}</div></div>`;

export const ErrorBanner = ({ error }) => error && html`<${Banner}>${error.summary ?? error.message}<//>`;

export const Empty = ({ title, children }) => html`<div class="empty">${title && html`<p class="empty-title">${title}</p>`}<p>${children}</p></div>`;

export const Loading = () => html`<p class="loading" role="status"><span class="spinner"></span>Loading …</p>`;

// The data when it is there, the error above the last data, or that it is coming.
export function Loaded({ state, children }) {
  if (state.data === undefined) return state.error ? html`<${ErrorBanner} error=${state.error} />` : html`<${Loading} />`;
  return html`<${ErrorBanner} error=${state.error} />${children(state.data)}`;
}

// figures: [[name, value, hint?]].
export const Figures = ({ figures }) =>
  html`<dl class="figures">
    ${figures.map(([name, value, hint]) => html`<div class="figure"><dt>${name}</dt><dd>${value}${hint && html`<span class="hint">${hint}</span>`}</dd></div>`)}
  </dl>`;

export const Progress = ({ value, label }) => html`<progress max="100" value=${value} aria-label=${label}></progress>`;
