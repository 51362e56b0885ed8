// What would happen with an address, and why.
import { html, useState } from "../ui/draw.js";
import { TextArea, TextField } from "../ui/controls.js";
import { Badge, ErrorBanner } from "../ui/feedback.js";
import { Card, Table } from "../ui/layout.js";
import { useHash } from "../ui/state.js";

const parseHeaders = (text) => Object.fromEntries(text.split("\n").map((line) => line.split(/:(.*)/s)).filter(([name, value]) => name.trim() && value !== undefined).map(([name, value]) => [name.trim(), value.trim()]));

export function Rules({ zone }) {
  const [hash] = useHash();
  const [url, setUrl] = useState(hash.includes("?") ? hash.slice(hash.indexOf("?") + 1) : "");
  const [headers, setHeaders] = useState("");
  const [replied, setReplied] = useState("");
  const [answer, setAnswer] = useState(null);
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    try {
      setError(null);
      setAnswer(await zone.send("rules/test", { url: url.trim(), ...(headers.trim() ? { headers: parseHeaders(headers) } : {}), ...(replied.trim() ? { response_headers: parseHeaders(replied) } : {}) }));
    } catch (failure) {
      setAnswer(null);
      setError(failure);
    }
  };
  return html`<${Card} title="Test the rules">
    <p class="hint">The rules themselves are under <a href="#settings">Settings</a>, in the group Cache.</p>
    <form class="fields" onSubmit=${submit}>
      <${TextField} label="Address" type="url" value=${url} onInput=${setUrl} placeholder="https://www.example.com/cart/" />
      <div class="columns">
        <${TextArea} label="Headers of the visitor" rows="3" value=${headers} onInput=${setHeaders} placeholder="Cookie: theme=dark" hint="One per line; may be empty" />
        <${TextArea} label="Headers of the origin's answer" rows="3" value=${replied} onInput=${setReplied} placeholder="Cache-Control: max-age=60" hint="One per line; may be empty" />
      </div>
      <div><button type="submit" class="primary" disabled=${!url.trim()}>Explain</button></div>
    </form>
    <${ErrorBanner} error=${error} />
    ${answer && html`<div role="status"><${Table} caption="What would happen" columns=${[["", ([name]) => describeKey(name)], ["", ([, value]) => show(value), "wrap"]]} rows=${Object.entries(answer).filter(([, value]) => value !== null)} /></div>`}
  <//>`;
}

const describeKey = (name) => `${name[0].toUpperCase()}${name.slice(1).replaceAll("_", " ")}`;

const show = (value) => {
  if (typeof value === "boolean") return html`<${Badge} kind=${value ? "good" : ""}>${value ? "yes" : "no"}<//>`;
  if (Array.isArray(value)) return value.length ? html`<ul class="plain">${value.map((each) => html`<li>${show(each)}</li>`)}</ul>` : "none";
  return typeof value === "object" ? html`<code>${JSON.stringify(value)}</code>` : String(value);
};
