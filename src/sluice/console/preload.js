// The preload page: sign in, choose a zone, see how it stands and steer it.
import { signIn } from "./api.js";
import { banner, byId, fill, h, tabs } from "./dom.js";
import { batchesPanel } from "./preload-batches.js";
import { failedPanel } from "./preload-failed.js";
import { overviewPanel } from "./preload-overview.js";
import { pagesPanel } from "./preload-pages.js";
import { settingsPanel } from "./preload-settings.js";
import { signInForm } from "./preload-sign-in.js";
import { newZoneForm, zoneChooser } from "./preload-zones.js";
import { shell } from "./shell.js";

shell("edge-preload");
const place = h("div", { class: "panel" });
let stop = () => {};
let inside = false;
byId("main").append(
  h("div", {}, h("h1", {}, "Cache preload"), h("p", { class: "lead" }, "Pages are fetched before visitors ask for them: after a purge, by the clock, from a sitemap, or by hand.")),
  place,
);

function askForToken(said) {
  stop();
  inside = false;
  signIn("");
  fill(place, said && banner(said), signInForm(showZones));
}

function showZones(ids) {
  inside = true;
  const shown = h("div", { class: "panel" });
  const chooser = zoneChooser(ids, { onChoose: (id) => showZone(shown, id, chooser), onLeave: () => askForToken() });
  fill(place, chooser.card, shown);
  chooser.begin();
}

function showZone(shown, id, chooser) {
  stop();
  if (!id) {
    stop = () => {};
    return fill(shown, newZoneForm(chooser.add));
  }
  const zone = (name) => `/api/v1/zones/${encodeURIComponent(id)}/${name}`;
  const parts = { Overview: overviewPanel(zone), Batches: batchesPanel(zone), Failed: failedPanel(zone), Pages: pagesPanel(zone), Settings: settingsPanel(zone, () => chooser.remove(id)) };
  stop = () => Object.values(parts).forEach((part) => part.stop?.());
  const strip = tabs(
    `Parts of ${id}`,
    Object.entries(parts).map(([title, { panel, refresh }]) => [title, panel, refresh]),
  );
  fill(shown, strip, Object.values(parts).map(({ panel }) => panel));
}

addEventListener("refused", () => inside && askForToken("The service no longer takes this token. Sign in again."));
askForToken();
