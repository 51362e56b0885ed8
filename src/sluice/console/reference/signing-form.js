// Signs a request in the browser, as a site does. The key is used here and sent nowhere.
import { html, useState } from "../ui/draw.js";
import { CopyButton, Select, TextArea, TextField } from "../ui/controls.js";

const EXAMPLE = { method: "POST", path: "/api/v1/purge", body: '{"zone_id":"abc123xyz","idempotency_key":"purge-7f6c4a3e-5d1b-4c2a-9e8f-0a1b2c3d4e5f","tags":["post-12"]}' };
const METHODS = [["POST", "POST"], ["PUT", "PUT"], ["GET", "GET"]];
const encode = (text) => new TextEncoder().encode(text);
const toHex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export async function sign(key, { method, path, body }, timestamp, nonce) {
  const text = [method, path, timestamp, nonce, toHex(await crypto.subtle.digest("SHA-256", encode(body)))].join("\n");
  const secret = await crypto.subtle.importKey("raw", encode(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return { text, signature: toHex(await crypto.subtle.sign("HMAC", secret, encode(text))) };
}

const shell = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const toCurl = ({ method, path, body }, timestamp, nonce, signature) =>
  ["curl", "--compressed", "-X", method, `-H 'X-Timestamp: ${timestamp}'`, `-H 'X-Nonce: ${nonce}'`, `-H 'X-Signature: ${signature}'`, ...(body ? ["-H 'Content-Type: application/json'", "-d", shell(body)] : []), shell(location.origin + path)].join(" ");

export function SigningForm() {
  const [request, setRequest] = useState(EXAMPLE);
  const [key, setKey] = useState("");
  const [outcome, setOutcome] = useState(null);
  const set = (name) => (value) => (setRequest({ ...request, [name]: value }), setOutcome(null));
  const submit = async (event) => {
    event.preventDefault();
    const timestamp = String(Math.floor(Date.now() / 1000));
    const nonce = crypto.randomUUID();
    const { text, signature } = await sign(key, request, timestamp, nonce);
    setOutcome({ text, signature, command: toCurl(request, timestamp, nonce, signature) });
  };
  return html`<details class="card">
    <summary><h2 class="inline">Sign a request</h2> <span class="hint">a worked example; the key never leaves this page</span></summary>
    <form class="fields" autocomplete="off" onSubmit=${submit}>
      <p class="hint">The signature is the HMAC-SHA256, in lower-case hexadecimal, of five lines: the method, the path with its query, X-Timestamp (Unix seconds), X-Nonce (never used twice) and the SHA-256 of the body. A signature is valid for 300 s.</p>
      <div class="columns">
        <div class="fields"><${Select} label="Method" value=${request.method} options=${METHODS} onInput=${set("method")} /><${TextField} label="Path" value=${request.path} onInput=${set("path")} /></div>
        <${TextArea} label="Body to sign" rows="4" value=${request.body} onInput=${set("body")} />
      </div>
      <${TextField} label="Signing key" type="password" value=${key} onInput=${(value) => (setKey(value), setOutcome(null))} hint="Used in this page only; no request carries it." />
      <div><button type="submit" class="primary" disabled=${!key}>Sign</button></div>
      ${outcome &&
      html`<div class="part" role="status">
        <h3>Signed text</h3>
        <pre class="listing" tabindex="0" role="region" aria-label="Signed text">${outcome.text}</pre>
        <h3>Signature</h3>
        <pre class="listing" tabindex="0" role="region" aria-label="Signature">${outcome.signature}</pre>
        <h3>As a command</h3>
        <pre class="listing" tabindex="0" role="region" aria-label="Signed command">${outcome.command}</pre>
        <div><${CopyButton} text=${outcome.command} what="the command" /></div>
      </div>`}
    </form>
  </details>`;
}
