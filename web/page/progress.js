// Says on the page that something is being computed, and for how long.

import {strings} from "../strings.js";

import {element} from "./dom.js";

/// A line that is shown from half a second after begin() on, until end().
export function createProgress() {
  const text = element("span", {}), bar = element("progress", {"aria-label": strings.computing(0)});
  const line = element("p", {class: "note-line progress", role: "status", hidden: true}, bar, text);
  let timer = 0, begun = 0;
  return {
    element: line,
    begin() {
      clearInterval(timer);
      begun = performance.now();
      timer = setInterval(() => {
        line.hidden = false;
        text.textContent = strings.computing(Math.floor((performance.now() - begun) / 1000));
      }, 500);
    },
    end() {
      clearInterval(timer);
      timer = 0;
      line.hidden = true;
    },
  };
}
