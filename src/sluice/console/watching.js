// A part of a page that looks again every few seconds while it is seen, and draws only what changed.
import { every } from "./api.js";
import { banner, fill } from "./dom.js";

// `ask` gets what is to be shown, `draw` makes the elements of it; a failure is said above what was known before.
export function watched(seconds, panel, place, ask, draw) {
  let before = "";
  let end = () => {};
  const said = document.createElement("div");
  place.before(said);

  async function look() {
    try {
      const told = await ask();
      fill(said);
      const text = JSON.stringify(told);
      if (text === before) return;
      before = text;
      fill(place, draw(told));
    } catch (error) {
      if (said.textContent !== error.message) fill(said, banner(error.message));
      if (!before) fill(place);
    }
  }

  const stop = () => end();
  const refresh = () => {
    end();
    end = every(seconds, () => (panel.hidden ? undefined : look()));
  };
  return { look, refresh, stop };
}
