// From a registered zone to a warm site: what to do at Cloudflare and in WordPress.
import { html } from "../ui/draw.js";
import { CopyButton } from "../ui/controls.js";
import { Loaded } from "../ui/feedback.js";
import { Card } from "../ui/layout.js";
import { usePolling } from "../ui/state.js";

export function Guide({ zone }) {
  const state = usePolling(() => zone.get("config"), 0, zone.id);
  return html`<${Loaded} state=${state}>${({ config }) => html`<${CloudflareGuide} config=${config} /><${WordPressGuide} zone=${zone} /><${CheckGuide} config=${config} /><${OtherGuide} />`}<//>`;
}

const Code = ({ text, what }) => html`<div class="address"><code class="grow pre">${text}</code><${CopyButton} text=${text} what=${what} /></div>`;

const isLocal = (host) => /^[\d.]+$|^\[|(^|\.)(localhost|test)$/.test(host);

function CloudflareGuide({ config }) {
  const hosts = [new URL(config.site_url).hostname, ...config.hosts];
  if (hosts.every(isLocal)) return html`<${LocalGuide} host=${hosts[0]} />`;
  const routes = `routes = [\n${hosts.map((host) => `  { pattern = "${host}/*", zone_name = "${host.split(".").slice(-2).join(".")}" },`).join("\n")}\n]`;
  return html`<${Card} title="1. Put the Worker in front of the site">
    <ol class="plain">
      <li>The site's host must be proxied by Cloudflare (the orange cloud).</li>
      <li>Add the routes to wrangler.preload.toml and deploy:</li>
    </ol>
    <${Code} text=${routes} what="the routes" />
    <p class="hint">The Worker then fetches pages from the site's origin. If the origin has another address, set origin_url under Settings. To see first what would be cached, set cache_enabled to observe.</p>
  <//>`;
}

const LocalGuide = ({ host }) =>
  html`<${Card} title="1. Put the Worker in front of the site">
    <p>This site is on your own machine. Route its host to the Worker when you start it; the demo has done so already:</p>
    <${Code} text=${`./scripts/run --route ${host}=edge-preload`} what="the route" />
    <p class="hint">At Cloudflare, a route in wrangler.preload.toml does the same for a host that Cloudflare proxies.</p>
  <//>`;

function WordPressGuide({ zone }) {
  const constants = `define( 'SLUICE_WORKER_URL', '${location.origin}' );\ndefine( 'SLUICE_ZONE_ID', '${zone.id}' );\ndefine( 'SLUICE_SIGNING_KEY', '…' );`;
  return html`<${Card} title="2. WordPress: install the plugin">
    <ol class="plain">
      <li>Copy the two PHP files of src/wordpress in the repository to wp-content/plugins/sluice-preload, and activate the plugin.</li>
      <li>Under Settings → Sluice Preload enter this Worker's address, the zone and its signing key, or put them into wp-config.php:</li>
    </ol>
    <${Code} text=${constants} what="the constants" />
    <ol class="plain" start="3"><li>Press Test connection. From then on every change purges and warms the right pages.</li></ol>
  <//>`;
}

const CheckGuide = ({ config }) =>
  html`<${Card} title="3. See that pages are warm">
    <p>Ask for a page as a visitor does. X-Cache-Layer says who answered: EDGE or R2 is a stored copy, ORIGIN is the site itself. Cache-Status says why.</p>
    <${Code} text=${`curl -sI ${config.site_url.replace(/\/$/, "")}/ | grep -i cache`} what="the command" />
  <//>`;

const OtherGuide = () =>
  html`<${Card} title="Other sites">
    <p>Send a signed POST /api/v1/purge when something changes. <a href="/docs">The API</a> has an example, and a form that signs requests in your browser.</p>
  <//>`;
