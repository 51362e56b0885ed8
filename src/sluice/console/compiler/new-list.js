// Publishes the form's list under a name, with a schedule and formats.
import { countOf, html, useState } from "../ui/draw.js";
import { getJson, request } from "../ui/api.js";
import { Button, Check, Select, TextField } from "../ui/controls.js";
import { Banner, ErrorBanner } from "../ui/feedback.js";
import { Card } from "../ui/layout.js";
import { SignIn } from "../ui/sign-in.js";
import { usePolling, useToken } from "../ui/state.js";
import { toConfiguration, toRequest } from "./form-state.js";
import { checkToken } from "./job-store.js";
import { isListName, suggestListName } from "./list-name.js";

export const FORMATS = [
  ["pihole", "Pi-hole", "rules that Pi-hole accepts"],
  ["hosts", "Hosts file", "0.0.0.0 name: routers, /etc/hosts"],
  ["domains", "Plain domains", "one name a line"],
  ["dnsmasq", "dnsmasq", "address=/name/, also for OpenWrt"],
  ["unbound", "unbound", "local-zone lines"],
  ["rpz", "RPZ", "response policy zone, for BIND and PowerDNS"],
  ["wildcard", "Wildcards", "*.name, one a line"],
  ["dnscrypt", "dnscrypt-proxy", "blocked names"],
  ["technitium", "Technitium", "block list"],
  ["mihomo", "mihomo / Clash", "rule provider as text"],
  ["sing-box", "sing-box", "rule set as JSON"],
  ["surge", "Surge", "domain set"],
];
const SCHEDULES = [
  ["0 */6 * * *", "Every 6 hours"],
  ["0 * * * *", "Every hour"],
  ["0 4 * * *", "Every day at about 4:00 UTC"],
  ["0 4 * * 1", "Every Monday at about 4:00 UTC"],
];
export const describeSchedule = (schedule) => SCHEDULES.find(([each]) => each === schedule)?.[1].replace("Every", "every") ?? schedule;
export function NewList({ form, onDone }) {
  const token = useToken();
  if (!token) return html`<${SignIn} why="Publishing a list needs the operator's token." check=${checkToken} />`;
  return html`<${NewListForm} form=${form} onDone=${onDone} />`;
}

function NewListForm({ form, onDone }) {
  const [name, setName] = useState(() => suggestListName(form.name));
  const [description, setDescription] = useState("");
  const [schedule, setSchedule] = useState(SCHEDULES[0][0]);
  const [formats, setFormats] = useState(form.audience === "dns" ? ["pihole", "hosts", "dnsmasq", "unbound"] : []);
  const [error, setError] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const configuration = toConfiguration(form);
  const own = Object.keys(toRequest(form).preFetchedContent ?? {});
  const isEmpty = configuration.sources.length === 0;
  const nameProblem = isListName(name) ? "" : `${name ? "" : "Choose a name for the address. "}Small letters, digits and hyphens inside; at most 64.`;
  const known = usePolling((options) => getJson("/lists", options), 0);
  const isKnown = known.data?.lists.some((each) => each.name === name);
  const publish = async () => {
    setBusy(true);
    try {
      await request(`/lists/${name}`, { method: "PUT", body: { configuration, schedule, ...(description ? { description } : {}), ...(formats.length ? { formats } : {}) }, timeout_ms: 60000 });
      onDone(name);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return html`<${Card} title="New list">
    ${isEmpty
      ? html`<${Banner} kind="warn">The form under <a href="#">Compile</a> has no address yet. A published list is built from addresses.<//>`
      : html`<p>From the form under <a href="#">Compile</a>: <strong>${configuration.name}</strong>, ${countOf(configuration.sources.length, "source")}.</p>`}
    ${own.length > 0 && html`<${Banner} kind="warn">Own rules and attached files (${own.join(", ")}) are not part of a published list: put them on a web server and add the address.<//>`}
    <${TextField} label="Name in the address" value=${name} maxlength="64" onInput=${setName} hint="${location.origin}/lists/${name || "…"}.txt" error=${nameProblem} />
    ${isKnown && html`<${Banner} kind="warn">There is a list of this name. Publishing replaces what it is built from; its addresses and versions stay.<//>`}
    <${TextField} label="Description" value=${description} onInput=${setDescription} />
    <${Select} label="Rebuild" value=${schedule} options=${SCHEDULES} onInput=${setSchedule} />
    <fieldset class="field">
      <legend>Formats beside .txt (adblock rules)</legend>
      <div class="choices">
        ${FORMATS.map(([key, title, hint]) => html`<${Check} key=${key} label=${title} hint=${hint} checked=${formats.includes(key)} onChange=${(isOn) => setFormats(isOn ? [...formats, key] : formats.filter((each) => each !== key))} />`)}
      </div>
    </fieldset>
    <${ErrorBanner} error=${error} />
    <div class="row">
      <${Button} kind="primary" disabled=${isEmpty || Boolean(nameProblem) || isBusy} onClick=${publish}>Publish<//>
      <${Button} onClick=${() => onDone("")}>Back<//>
    </div>
  <//>`;
}
