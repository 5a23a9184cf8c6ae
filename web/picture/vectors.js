// Vectors as pictures.

import {contextOf, element} from "../page/dom.js";

/// A vector as a strip of coloured cells.
/** @param {number[] | Float32Array} vector @param {number} most @param {Colours} colours */
export function strip(vector, most, colours, height = 14) {
  const canvas =
      element("canvas", {class: "strip", width: String(vector.length), height: "1", "aria-hidden": "true"});
  canvas.style.height = `${height}px`;
  const context = contextOf(canvas);
  vector.forEach((number, n) => {
    context.fillStyle = colours.signed(number, most);
    context.fillRect(n, 0, 1, 1);
  });
  return canvas;
}

/** @param {number[] | Float32Array} numbers */
export function largestOf(numbers) {
  let largest = 0;
  for (const number of numbers) largest = Math.max(largest, Math.abs(number));
  return largest;
}
