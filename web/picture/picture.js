// A picture on the page: a canvas, a second one above it for what is marked, a caption, and a table with the
// same numbers for whoever does not see it.

import {contextOf, element, fadeEdges} from "../page/dom.js";
import {strings} from "../strings.js";

import {paint} from "./scene.js";

/// Rows and columns that an arrow key goes down and to the right.
export const kArrows = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1]
};

/// Pictures grow with the letters of the page, which are larger on very large screens.
function readZoom() { return parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; }

/** @param {HTMLCanvasElement} canvas @param {Scene} scene @param {number} zoom */
function fit(canvas, scene, zoom) {
  const ratio = Math.min((window.devicePixelRatio || 1) * zoom, 16384 / Math.max(scene.width, scene.height));
  canvas.width = Math.round(scene.width * ratio);
  canvas.height = Math.round(scene.height * ratio);
  canvas.style.width = `${scene.width * zoom}px`;
  canvas.style.height = `${scene.height * zoom}px`;
  const context = contextOf(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/// `point(x, y, event)` is called where the pointer is, `leave()` when it goes, `press(x, y)` for clicks, and
/// `key(event)` for the keyboard, which the picture takes part in once it has the focus.
/**
 * @param {{point?: (x: number, y: number, event: PointerEvent) => void, leave?: () => void,
 *     press?: (x: number, y: number) => void, key?: (event: KeyboardEvent) => void}} handlers
 */
export function createPicture({point, leave, press, key}) {
  const base = element("canvas", {"aria-hidden": "true"});
  const overlay = element("canvas", {class: "overlay", tabindex: "0", role: "img"});
  const status = element("p", {class: "reading", "aria-live": "polite"});
  const summary = element("summary", {}, strings.table);
  const table = element("details", {class: "numbers"}, summary);
  const frame =
      fadeEdges(element("div", {class: "frame"}, element("div", {class: "canvases"}, base, overlay)));
  const figure = element("figure", {class: "picture"}, frame, status, table);
  /** @param {MouseEvent} event @returns {[number, number]} */
  const place = (event) => {
    const box = overlay.getBoundingClientRect();
    return [(event.clientX - box.left) / zoom, (event.clientY - box.top) / zoom];
  };
  overlay.addEventListener("pointermove", (event) => point?.(...place(event), event));
  overlay.addEventListener("pointerleave", () => leave?.());
  overlay.addEventListener("blur", () => leave?.());
  overlay.addEventListener("click", (event) => press?.(...place(event)));
  overlay.addEventListener("keydown", (event) => key?.(event));

  /** @type {CanvasRenderingContext2D | null} */
  let context = null;
  /** @type {(() => HTMLElement) | null | undefined} */
  let makeTable = null;
  let zoom = 1;
  table.addEventListener("toggle", () => {
    if (table.open && makeTable) {
      table.replaceChildren(summary, element("div", {class: "scroll"}, makeTable()));
    }
  });

  return {
    element: figure,
    /** @type {Scene | null} */
    scene: null,
    label: "",
    /// The width that a picture may have without a scroll bar.
    room: () => Math.max(280, Math.floor(((frame.clientWidth || 608) - 8) / readZoom())),
    /** @param {Scene} scene @param {string} label @param {() => HTMLElement} [numbers] its table */
    show(scene, label, numbers) {
      this.scene = scene;
      this.label = label;
      zoom = readZoom();
      paint(scene, fit(base, scene, zoom));
      context = fit(overlay, scene, zoom);
      overlay.setAttribute("aria-label", label);
      makeTable = numbers;
      if (table.open) table.dispatchEvent(new Event("toggle"));
    },
    /// Paints a scene of marks above the picture.
    /** @param {Scene | null} scene */
    mark(scene) {
      if (!context) return;
      context.clearRect(0, 0, overlay.width, overlay.height);
      if (scene) paint(scene, context);
    },
    /** @param {string} text */
    say: (text) => {
      status.textContent = text;
    },
  };
}

/// A table with a head row and a head column.
/** @param {string} caption @param {string[]} columns @param {Content[][]} rows */
export function numberTable(caption, columns, rows) {
  return element(
      "table", {}, element("caption", {}, caption),
      element("thead", {}, element("tr", {}, columns.map((name) => element("th", {scope: "col"}, name)))),
      element(
          "tbody", {},
          rows.map(
              (row) => element(
                  "tr", {},
                  row.map(
                      (cell, n) =>
                          n === 0 ? element("th", {scope: "row"}, cell) : element("td", {}, cell))))));
}
