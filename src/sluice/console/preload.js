// The preload page: sign in, choose a zone, see its state and control it.
import { signIn } from "./api.js";
import { banner, byId, fill, h, tabs } from "./dom.js";
import { batchesPanel } from "./preload-batches.js";
import { failedPanel } from "./preload-failed.js";
import { overviewPanel } from "./preload-overview.js";
import { pagesPanel } from "./preload-pages.js";
import { settingsPanel } from "./preload-settings.js";
import { signInForm } from "./preload-sign-in.js";
import { newZoneForm, zoneChooser } from "./preload-zones.js";
import { showShell } from "./shell.js";

showShell("edge-preload");
const place = h("div", { class: "panel" });
let stop = () => {};
let isSignedIn = false;
byId("main").append(
  h("div", {}, h("h1", {}, "Cache preload"), h("p", { class: "lead" }, "Fetches pages before visitors ask for them: after a purge, on a schedule, from a sitemap, or by hand.")),
  place,
);

function askForToken(message) {
  stop();
  isSignedIn = false;
  signIn("");
  fill(place, message && banner(message), signInForm(showZones));
}

function showZones(ids) {
  isSignedIn = true;
  const content = h("div", { class: "panel" });
  const chooser = zoneChooser(ids, { onChoose: (id) => showZone(content, id, chooser), onLeave: () => askForToken() });
  fill(place, chooser.card, content);
  chooser.begin();
}

function showZone(content, id, chooser) {
  stop();
  if (!id) {
    stop = () => {};
    return fill(content, newZoneForm(chooser.add));
  }
  const zone = (name) => `/api/v1/zones/${encodeURIComponent(id)}/${name}`;
  const parts = { Overview: overviewPanel(zone), Batches: batchesPanel(zone), Failed: failedPanel(zone), Pages: pagesPanel(zone), Settings: settingsPanel(zone, () => chooser.remove(id)) };
  stop = () => Object.values(parts).forEach((part) => part.stop?.());
  const strip = tabs(
    `Parts of ${id}`,
    Object.entries(parts).map(([title, { panel, refresh }]) => [title, panel, refresh]),
  );
  fill(content, strip, Object.values(parts).map(({ panel }) => panel));
}

addEventListener("refused", () => isSignedIn && askForToken("The service no longer accepts this token. Sign in again."));
askForToken();
