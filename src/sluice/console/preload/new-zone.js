// Registers a site.
import { html, useState } from "../ui/draw.js";
import { TextField } from "../ui/controls.js";
import { ErrorBanner } from "../ui/feedback.js";
import { openZone } from "./zone-api.js";

const ID = /^[\w-]{1,64}$/;

export function NewZone({ onDone }) {
  const [id, setId] = useState("");
  const [site, setSite] = useState("");
  const [error, setError] = useState(null);
  const [isAsked, setAsked] = useState(false);
  const idProblem = isAsked && !ID.test(id) ? "Use 1 to 64 letters, digits, - and _." : "";
  const siteProblem = error?.fields?.find(({ path }) => path === "site_url")?.reason;
  const submit = async (event) => {
    event.preventDefault();
    setAsked(true);
    if (!ID.test(id)) return;
    try {
      await openZone(id).put("config", { site_url: site.trim() });
      onDone(id);
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<form class="card narrow" novalidate onSubmit=${submit}>
    <h2>New zone</h2>
    <p class="hint">A zone is one site. It starts with careful limits, which you can change under Settings.</p>
    <${TextField} label="Zone id" value=${id} maxlength="64" error=${idProblem} onInput=${setId} hint="Its name in requests, such as shop" />
    <${TextField} label="Address of the site" type="url" value=${site} placeholder="https://www.example.com" error=${siteProblem} onInput=${setSite} hint="Scheme and host only" />
    ${error && !siteProblem && html`<${ErrorBanner} error=${error} />`}
    <div><button type="submit" class="primary">Register</button></div>
  </form>`;
}
