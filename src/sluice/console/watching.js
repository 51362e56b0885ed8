// Updates a part of the page every few seconds while it is visible, and redraws it only if the data changed.
import { repeat } from "./api.js";
import { banner, fill } from "./dom.js";

// `fetchData` returns the data, and `draw` returns its elements. An error is shown above the last data.
export function watch(seconds, panel, place, fetchData, draw) {
  let before = "";
  let end = () => {};
  const notice = document.createElement("div");
  place.before(notice);

  async function update() {
    try {
      const data = await fetchData();
      fill(notice);
      const text = JSON.stringify(data);
      if (text === before) return;
      before = text;
      fill(place, draw(data));
    } catch (error) {
      if (notice.textContent !== error.message) fill(notice, banner(error.message));
      if (!before) fill(place);
    }
  }

  const stop = () => end();
  const refresh = () => {
    end();
    end = repeat(seconds, () => (panel.hidden ? undefined : update()));
  };
  return { update, refresh, stop };
}
