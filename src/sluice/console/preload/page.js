// The preload page: sign in, choose a zone, see how warm its site is, and control it.
import { html, render, useState } from "../ui/draw.js";
import { Button, Select } from "../ui/controls.js";
import { Loaded } from "../ui/feedback.js";
import { Card, TabPanel, Tabs } from "../ui/layout.js";
import { showShell } from "../ui/shell.js";
import { SignIn, SignedIn } from "../ui/sign-in.js";
import { useHash, usePolling, useStored, useToken } from "../ui/state.js";
import { Batches } from "./batches.js";
import { Failed } from "./failed.js";
import { Guide } from "./guide.js";
import { NewZone } from "./new-zone.js";
import { Overview } from "./overview.js";
import { Pages } from "./pages.js";
import { Rules } from "./rules.js";
import { Settings } from "./settings.js";
import { listZones, openZone } from "./zone-api.js";

const PARTS = { overview: ["Overview", Overview], pages: ["Pages", Pages], batches: ["Batches", Batches], failed: ["Failed", Failed], rules: ["Rules", Rules], settings: ["Settings", Settings], guide: ["Set up", Guide] };
const TABS = Object.entries(PARTS).map(([key, [title]]) => [key, title]);

function PreloadPage() {
  const token = useToken();
  if (!token) return html`<${SignIn} why="This page shows and controls sites, so it needs the operator's token." check=${listZones} />`;
  return html`<${Zones} key=${token} />`;
}

function Zones() {
  const zones = usePolling(() => listZones(), 0);
  const [stored, setStored] = useStored("sluice-zone", "");
  const [isNew, setNew] = useState(false);
  const choose = (id) => {
    setNew(false);
    setStored(id);
    zones.refresh();
  };
  return html`<${Loaded} state=${zones}>
    ${(ids) => {
      const id = ids.includes(stored) ? stored : (ids[0] ?? "");
      return html`<${Card}>
          <div class="row">
            <div class="grow"><${Select} label="Zone" value=${isNew ? "" : id} options=${[...(isNew || !id ? [["", id || ids.length ? "Choose a zone …" : "No zone yet"]] : []), ...ids.map((each) => [each, each])]} onInput=${choose} /></div>
            <${Button} icon="plus" onClick=${() => setNew(true)}>New zone<//>
            <${SignedIn} />
          </div>
        <//>
        ${isNew || !id ? html`<${NewZone} onDone=${choose} />` : html`<${Zone} key=${id} id=${id} onRemoved=${() => choose("")} />`}`;
    }}
  <//>`;
}

function Zone({ id, onRemoved }) {
  const [hash, go] = useHash();
  const place = hash.split("?")[0];
  const chosen = place in PARTS ? place : "overview";
  const [, Part] = PARTS[chosen];
  return html`<${Tabs} label="Parts of ${id}" tabs=${TABS} chosen=${chosen} onChoose=${(key) => go(key === "overview" ? "" : key)} />
    <${TabPanel} chosen=${chosen}><${Part} key=${chosen} zone=${openZone(id)} go=${go} onRemoved=${onRemoved} /><//>`;
}

showShell("edge-preload");
render(html`<${PreloadPage} />`, document.getElementById("app"));
