// The operator's sign-in. The token stays in this tab and goes only to the Worker that serves the page.
import { html, useState } from "./draw.js";
import { signIn } from "./api.js";
import { Button, TextField } from "./controls.js";
import { Icon } from "./icons.js";
import { useToken } from "./state.js";

const isLocal = /(^|\.)localhost$|^127\.|^\[::1\]$/.test(location.hostname);

const Whereabouts = () =>
  isLocal
    ? html`It is the value of ADMIN_TOKEN: in <code>.dev.vars</code> or after <code>--var</code>. The demo's token is <code>demo</code>.`
    : html`It is the secret ADMIN_TOKEN of this Worker.`;

// `check` calls the service with the token, and throws if the service refuses it.
export function SignIn({ why, check }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (!token.trim()) return setError("Enter the token.");
    setBusy(true);
    try {
      await check(token.trim());
      signIn(token.trim());
    } catch (failure) {
      setError(failure.status === 401 ? "The service refuses this token." : failure.message);
    }
    setBusy(false);
  };
  return html`<form class="card narrow" onSubmit=${submit}>
    <h2>Sign in as the operator</h2>
    <p class="hint">${why} <${Whereabouts} /> It stays in this tab.</p>
    <${TextField} label="Operator token" type="password" value=${token} error=${error} onInput=${(value) => (setToken(value), setError(""))} />
    <div><button type="submit" class="primary" disabled=${isBusy}><${Icon} name="lock" />Sign in</button></div>
  </form>`;
}

export function SignedIn() {
  return useToken() ? html`<${Button} icon="lock" onClick=${() => signIn("")}>Sign out<//>` : null;
}
