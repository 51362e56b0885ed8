// Tabs, tables and dialogs.
import { html, makeId, useEffect, useRef, useState } from "./draw.js";
import { Button } from "./controls.js";

// tabs: [[key, title]]. Arrow keys, Home and End move between them. The panel is drawn by whoever uses it, inside TabPanel.
export function Tabs({ label, tabs, chosen, onChoose, prefix = "tab" }) {
  const list = useRef(null);
  // On a phone the tabs may be wider than the screen: the chosen one is brought into view, without moving the page.
  useEffect(() => {
    const reveal = () => {
      const { offsetLeft, offsetWidth } = list.current.querySelector("[aria-selected=true]") ?? { offsetLeft: 0, offsetWidth: 0 };
      const { scrollLeft, clientWidth } = list.current;
      if (offsetLeft < scrollLeft || offsetLeft + offsetWidth > scrollLeft + clientWidth) list.current.scrollLeft = offsetLeft - (clientWidth - offsetWidth) / 2;
    };
    reveal();
    addEventListener("resize", reveal);
    return () => removeEventListener("resize", reveal);
  }, [chosen]);
  const move = (event) => {
    const at = tabs.findIndex(([key]) => key === chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = (to + tabs.length) % tabs.length;
    onChoose(tabs[next][0]);
    list.current.children[next].focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} ref=${list} onKeyDown=${move}>
    ${tabs.map(
      ([key, title]) =>
        html`<button type="button" role="tab" id="${prefix}-${key}" aria-controls="${prefix}-panel" aria-selected=${String(key === chosen)} tabindex=${key === chosen ? 0 : -1} onClick=${() => onChoose(key)}>
          ${title}
        </button>`,
    )}
  </div>`;
}

export const TabPanel = ({ chosen, prefix = "tab", children }) => html`<div class="panel" role="tabpanel" id="${prefix}-panel" aria-labelledby="${prefix}-${chosen}">${children}</div>`;

// columns: [title, cell, class]; `cell` returns the content for a row. On a phone each row becomes a card with the titles inside.
export const Table = ({ caption, columns, rows, keyOf }) =>
  html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table class="cards">
      <caption class="visually-hidden">${caption}</caption>
      <thead>
        <tr>${columns.map(([title, , kind]) => html`<th scope="col" class=${kind}>${title || html`<span class="visually-hidden">Actions</span>`}</th>`)}</tr>
      </thead>
      <tbody>
        ${rows.map((row, at) => html`<tr key=${keyOf ? keyOf(row) : at}>${columns.map(([title, cell, kind]) => html`<td class=${kind} data-label=${title || undefined}>${cell(row)}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>`;

export const Card = ({ title, actions, children, ...others }) =>
  html`<section class="card" ...${others}>
    ${title && html`<header><h2>${title}</h2>${actions && html`<div class="row">${actions}</div>`}</header>`}${children}
  </section>`;

// Asks before something is destroyed. `useConfirm` returns the dialog to draw and a function that asks.
export function useConfirm() {
  const [question, setQuestion] = useState(null);
  const dialog = useRef(null);
  useEffect(() => {
    if (question && !dialog.current.open) dialog.current.showModal();
  }, [question]);
  const answer = (isSure) => {
    dialog.current.close();
    if (isSure) question.run();
    setQuestion(null);
  };
  const id = useRef(makeId("dialog")).current;
  const drawn =
    question &&
    html`<dialog ref=${dialog} aria-labelledby=${id} onCancel=${(event) => (event.preventDefault(), answer(false))}>
      <h2 id=${id}>${question.title}</h2>
      <p>${question.text}</p>
      <div class="row end">
        <${Button} onClick=${() => answer(false)} autofocus>Keep it<//>
        <${Button} kind="danger solid" onClick=${() => answer(true)}>${question.action}<//>
      </div>
    </dialog>`;
  return [drawn, setQuestion];
}
