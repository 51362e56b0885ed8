// The addresses of a list, and what to do with them in each program.
import { formatNumber, html, useState } from "../ui/draw.js";
import { CopyButton } from "../ui/controls.js";
import { Card, TabPanel, Tabs } from "../ui/layout.js";

const CLIENTS = [
  ["adguard-home", "AdGuard Home", ["adblock"], ["Open Filters → DNS blocklists.", "Press Add blocklist → Add a custom list.", "Enter a name and this address, then press Save:"]],
  ["pihole", "Pi-hole", ["pihole", "hosts", "domains", "adblock"], ["Open Lists.", "Enter this address and press Add blocklist:", "Run Tools → Update Gravity, or pihole -g."]],
  ["ublock", "uBlock Origin", ["adblock"], ["Open the dashboard → Filter lists.", "At the end of the page tick Import…, enter this address, then press Apply changes:"]],
  ["dnsmasq", "dnsmasq", ["dnsmasq"], ["Save the list where dnsmasq reads it, and restart it. A daily timer keeps it fresh:"]],
  ["unbound", "unbound", ["unbound"], ["Save the list, include it from unbound.conf inside server:, and reload:"]],
];

const absolute = (url) => new URL(url, location.href).href;

export function Subscribe({ list }) {
  const [chosen, setChosen] = useState("adguard-home");
  const formats = list.formats ?? [];
  const find = (wanted) => wanted.map((name) => formats.find(({ format }) => format === name)).find(Boolean);
  const clients = CLIENTS.filter(([, , wanted]) => find(wanted));
  const open = clients.find(([key]) => key === chosen) ?? clients[0];
  return html`<${Card} title="Subscribe">
    ${open &&
    html`<${Tabs} label="Programs" prefix="client" tabs=${clients.map(([key, title]) => [key, `Add to ${title}`])} chosen=${open[0]} onChoose=${setChosen} />
      <${TabPanel} chosen=${open[0]} prefix="client"><${Instructions} client=${open} url=${absolute(find(open[2]).url)} name=${list.name} /><//>`}
    <h3>All addresses</h3>
    <ul class="rows" aria-label="Addresses">
      ${formats.map(
        ({ format, url, entries, skipped }) =>
          html`<li class="address" key=${format}><span class="format">${format}</span><code class="grow">${absolute(url)}</code
            ><span class="hint">${entries == null ? "" : `${formatNumber(entries)} entries`}${skipped ? `, ${formatNumber(skipped)} not expressible` : ""}</span><${CopyButton} text=${absolute(url)} what="the ${format} address" /></li>`,
      )}
    </ul>
  <//>`;
}

const COMMANDS = {
  dnsmasq: (url, name) => `curl -fo /etc/dnsmasq.d/${name}.conf ${url} && systemctl restart dnsmasq`,
  unbound: (url, name) => `curl -fo /etc/unbound/${name}.conf ${url} && unbound-control reload`,
};

const Instructions = ({ client: [key, , , steps], url, name }) => {
  const text = COMMANDS[key]?.(url, name) ?? url;
  return html`<ol class="plain">${steps.map((step) => html`<li>${step}</li>`)}</ol>
    <div class="address"><code class="grow">${text}</code><${CopyButton} text=${text} what=${key in COMMANDS ? "the command" : "the address"} /></div>`;
};
