// The API's documentation, drawn from /openapi.json in the browser.
import { html, render, useEffect, useState } from "../ui/draw.js";
import { getJson, readToken, signIn } from "../ui/api.js";
import { Button, SearchField, TextField } from "../ui/controls.js";
import { Badge, Banner, Empty, Loading } from "../ui/feedback.js";
import { showShell } from "../ui/shell.js";
import { Operation } from "./operation.js";
import { SigningForm } from "./signing-form.js";

function DocsPage() {
  const [api, setApi] = useState(null);
  const [error, setError] = useState(null);
  const load = async () => {
    setError(null);
    try {
      setApi(await getJson("/openapi.json"));
    } catch (failure) {
      setError(failure);
    }
  };
  useEffect(() => void load(), []);
  if (error) return html`<${Banner}>The description of the API cannot be loaded. ${error.message}<//><div><${Button} icon="refresh" onClick=${load}>Try again<//></div>`;
  return api ? html`<${Reference} api=${api} />` : html`<${Loading} />`;
}

function Reference({ api }) {
  const [query, setQuery] = useState("");
  const [linked, setLinked] = useState(location.hash.slice(1));
  useEffect(() => {
    document.title = `${api.info.title} · API · Sluice`;
    const update = () => setLinked(location.hash.slice(1));
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = groupByTag(api)
    .map(([tag, entries]) => [tag, entries.filter(({ text }) => words.every((word) => text.includes(word)))])
    .filter(([, entries]) => entries.length);
  return html`<div class="row"><h2>${api.info.title}</h2><${Badge}>version ${api.info.version}<//><a href="/openapi.json">openapi.json</a></div>
    ${api.info.description && html`<p class="lead">${api.info.description}</p>`}
    <section class="card" aria-label="Tools">
      <div class="columns"><${SearchField} label="Find" placeholder="Find: words of a path or a description" value=${query} onInput=${setQuery} />${api.components?.securitySchemes?.admin && html`<${TokenField} />`}</div>
    </section>
    ${api.components?.securitySchemes?.signature && html`<${SigningForm} />`}
    <div class="docs-layout">
      <${Contents} groups=${groups} />
      <div class="operations">
        ${groups.map(([tag, entries]) => html`<section class="group" aria-label=${tag} key=${tag}><h2>${tag}</h2>${entries.map((each) => html`<${Operation} key=${each.operation.operationId} ...${each} api=${api} isLinked=${linked === each.operation.operationId} />`)}</section>`)}
        ${!groups.length && html`<${Empty} title="No operation contains these words.">Try fewer or other words.<//>`}
      </div>
    </div>`;
}

function TokenField() {
  const [token, setToken] = useState(readToken);
  const update = (value) => {
    setToken(value);
    signIn(value.trim());
  };
  return html`<form autocomplete="off" onSubmit=${(event) => event.preventDefault()}>
    <${TextField} label="Operator token" type="password" value=${token} onInput=${update} hint="Sent with requests that need it. It stays in this tab." />
  </form>`;
}

// Operations by their first tag, in the order of the document's tags.
function groupByTag(api) {
  const groups = new Map((api.tags ?? []).map(({ name }) => [name, []]));
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [name, operation] of Object.entries(methods)) {
      const method = name.toUpperCase();
      const tag = operation.tags?.[0] ?? "Other";
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push({ method, path, operation, text: `${method} ${path} ${operation.summary ?? ""} ${operation.description ?? ""}`.toLowerCase() });
    }
  }
  return [...groups];
}

const Contents = ({ groups }) =>
  html`<nav class="contents card" aria-label="On this page">
    <details open=${matchMedia("(min-width: 1100px)").matches}>
      <summary>On this page</summary>
      ${groups.map(([tag, entries]) => html`<h2>${tag}</h2><ul>${entries.map(({ method, path, operation }) => html`<li><a href="#${operation.operationId}">${method} ${path}</a></li>`)}</ul>`)}
    </details>
  </nav>`;

showShell("");
render(html`<${DocsPage} />`, document.getElementById("app"));
