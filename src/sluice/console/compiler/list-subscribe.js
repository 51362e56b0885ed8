// The addresses of a list, and what to do with them in each program.
import { countOf, formatNumber, html, useEffect, useState } from "../ui/draw.js";
import { CopyButton } from "../ui/controls.js";
import { Card, TabPanel, Tabs } from "../ui/layout.js";

// For each program: the formats that it reads, the best first, and the steps. A step is a text, or something to copy.
const CLIENTS = [
  ["adguard-home", "AdGuard Home", ["adblock"], ({ url }) => ["Open Filters → DNS blocklists.", "Press Add blocklist → Add a custom list.", "Enter a name and this address, then press Save:", { copy: url }]],
  ["pihole", "Pi-hole", ["pihole", "hosts", "domains", "adblock"], ({ url }) => ["Open Lists, enter this address and press Add blocklist:", { copy: url }, "Run Tools → Update Gravity, or pihole -g."]],
  ["ublock", "uBlock Origin", ["adblock"], ({ url }) => ["Open the dashboard → Filter lists.", "At the end of the page tick Import …, enter this address, then press Apply changes:", { copy: url }]],
  [
    "dnsmasq",
    "dnsmasq",
    ["dnsmasq"],
    ({ url, name, sample }) => [
      "Try it first, beside whatever answers on this machine: download the list, and start a dnsmasq of its own on port 5300.",
      { copy: `curl -fsS --compressed -o ${name}.conf ${url}\ndnsmasq --no-daemon --no-resolv --no-hosts --bind-interfaces --listen-address=127.0.0.1 --port=5300 --conf-file=${name}.conf` },
      "In a second terminal ask for a name of the list. A blocked name has no address (NXDOMAIN).",
      { copy: `dig @127.0.0.1 -p 5300 ${sample}` },
      "Then save the list where dnsmasq reads it, and restart dnsmasq. In a daily timer, this keeps it fresh:",
      { copy: `sudo curl -fsS --compressed -o /etc/dnsmasq.d/${name}.conf ${url} && sudo systemctl restart dnsmasq` },
    ],
  ],
  [
    "unbound",
    "unbound",
    ["unbound"],
    ({ url, name, sample }) => [
      "Save the list where unbound reads it, and reload unbound. In a daily timer, this keeps it fresh:",
      { copy: `sudo curl -fsS --compressed -o /etc/unbound/unbound.conf.d/${name}.conf ${url} && sudo unbound-control reload` },
      "Ask for a name of the list. A blocked name has no address (NXDOMAIN).",
      { copy: `dig @127.0.0.1 ${sample}` },
    ],
  ],
];
const NO_SAMPLE = "ads.example.com";

const absolute = (url) => new URL(url, location.href).href;

export function Subscribe({ list }) {
  const [chosen, setChosen] = useState("adguard-home");
  const formats = list.formats ?? [];
  const sample = useSample(absolute(list.url), list.version);
  const find = (wanted) => wanted.map((name) => formats.find(({ format }) => format === name)).find(Boolean);
  const clients = CLIENTS.filter(([, , wanted]) => find(wanted));
  const open = clients.find(([key]) => key === chosen) ?? clients[0];
  return html`<${Card} title="Subscribe">
    ${open &&
    html`<${Tabs} label="Programs" prefix="client" tabs=${clients.map(([key, title]) => [key, `Add to ${title}`])} chosen=${open[0]} onChoose=${setChosen} />
      <${TabPanel} chosen=${open[0]} prefix="client"><${Steps} steps=${open[3]({ url: absolute(find(open[2]).url), name: list.name, sample })} /><//>`}
    <h3>All addresses</h3>
    <ul class="rows" aria-label="Addresses">
      ${formats.map(
        ({ format, url, entries, skipped }) =>
          html`<li class="address" key=${format}><span class="format">${format}</span><code class="grow">${absolute(url)}</code
            ><span class="hint">${entries == null ? "" : countOf(entries, "entry", "entries")}${skipped ? `, ${formatNumber(skipped)} not expressible` : ""}</span><${CopyButton} text=${absolute(url)} what="the ${format} address" /></li>`,
      )}
    </ul>
  <//>`;
}

const Steps = ({ steps }) =>
  html`<div class="fields">${steps.map((step) => (step.copy ? html`<div class="address"><code class="grow pre">${step.copy}</code><${CopyButton} text=${step.copy} what=${step.copy.startsWith("http") ? "the address" : "the command"} /></div>` : html`<p>${step}</p>`))}</div>`;

// A domain that the list blocks, from the beginning of its text; the rest is not read.
function useSample(url, version) {
  const [sample, setSample] = useState(NO_SAMPLE);
  useEffect(() => {
    const controller = new AbortController();
    readBeginning(url, controller)
      .then((text) => setSample(/^\|\|([a-z0-9.-]+)\^$/m.exec(text)?.[1] ?? NO_SAMPLE))
      .catch(() => {}); // the example name stays
    return () => controller.abort();
  }, [url, version]);
  return sample;
}

async function readBeginning(url, controller) {
  const reply = await fetch(url, { signal: controller.signal });
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (reply.ok && text.length < 20_000) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
  }
  controller.abort();
  return text;
}
