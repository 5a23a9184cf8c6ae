// A picture as a list of shapes, which is painted on a canvas or written as SVG: what is on the screen and
// what is taken away are the same.

import {contextOf} from "../page/dom.js";

import {visibleText} from "./labels.js";

const kFont = "system-ui, sans-serif";  // as in style.css

const measuring = contextOf(document.createElement("canvas"));

/** @param {string} text @param {number} size */
export function textWidth(text, size, bold = false) {
  measuring.font = `${bold ? "600 " : ""}${size}px ${kFont}`;
  return measuring.measureText(text).width;
}

/// The text, or as much of it as has room, with "…".
/** @param {string} text @param {number} size @param {number} room */
export function shorten(text, size, room) {
  if (textWidth(text, size) <= room) return text;
  const letters = [...text];
  while (letters.length > 1 && textWidth(letters.join("") + "…", size) > room) letters.pop();
  return letters.join("") + "…";
}

export class Scene {
  /** @param {number} width @param {number} height */
  constructor(width, height) {
    this.width = Math.ceil(width);
    this.height = Math.ceil(height);
    /** @type {Shape[]} */
    this.shapes = [];
  }

  /**
   * @param {number} x @param {number} y @param {number} width @param {number} height @param {string | null}
   *     fill @param {Partial<RectShape>} more
   */
  rect(x, y, width, height, fill, more = {}) {
    this.shapes.push({kind: "rect", x, y, width, height, fill, ...more});
  }

  /// `align`: start, middle or end; `upward`: turned by 90 degrees to the left.
  /** @param {number} x @param {number} y @param {string} text @param {Partial<TextShape>} more */
  text(x, y, text, more = {}) {
    this.shapes.push({kind: "text", x, y, text, size: 13, fill: "#000", align: "start", ...more});
  }

  /// A line between two points that leaves them along `along`.
  /**
   * @param {Point} from @param {Point} to @param {"x" | "y"} along @param {string} stroke
   * @param {Partial<CurveShape>} more
   */
  curve(from, to, along, stroke, more = {}) {
    this.shapes.push({kind: "curve", from, to, along, stroke, width: 1, opacity: 1, ...more});
  }

  /// A matrix of weights in a box.
  /**
   * @param {number} x @param {number} y @param {number} width @param {number} height @param {number} rows
   * @param {number} columns @param {CellColour} parts
   */
  map(x, y, width, height, rows, columns, parts) {
    this.shapes.push({kind: "map", x, y, width, height, rows, columns, parts});
  }

  /// The shapes of another scene, moved.
  /** @param {Scene} other @param {number} x @param {number} y */
  add(other, x, y) {
    /** @param {Point} point */
    const moved = (point) => ({x: point.x + x, y: point.y + y});
    for (const shape of other.shapes) {
      this.shapes.push(
          shape.kind === "curve" ? {...shape, from: moved(shape.from), to: moved(shape.to)} :
                                   {...shape, ...moved(shape)});
    }
  }
}

/** @param {CurveShape} shape @returns {[number, number, number, number, number, number]} */
function bend({from, to, along}) {
  const middle = along === "x" ? (from.x + to.x) / 2 : (from.y + to.y) / 2;
  return along === "x" ? [middle, from.y, middle, to.y, to.x, to.y] :
                         [from.x, middle, to.x, middle, to.x, to.y];
}

/** @param {CanvasRenderingContext2D} context @param {MapShape} shape */
function paintMap(context, shape) {
  const image = new ImageData(shape.columns, shape.rows);
  for (let row = 0, at = 0; row < shape.rows; ++row) {
    for (let column = 0; column < shape.columns; ++column) {
      const [red, green, blue] = shape.parts(row, column);
      image.data[at++] = red;
      image.data[at++] = green;
      image.data[at++] = blue;
      image.data[at++] = 255;
    }
  }
  const small = document.createElement("canvas");
  small.width = shape.columns;
  small.height = shape.rows;
  contextOf(small).putImageData(image, 0, 0);
  // Where cells are smaller than pixels, they are averaged; where they are larger, they keep their edges.
  context.imageSmoothingEnabled = shape.width < shape.columns;
  context.drawImage(small, shape.x, shape.y, shape.width, shape.height);
}

/** @param {Scene} scene @param {CanvasRenderingContext2D} context */
export function paint(scene, context) {
  for (const shape of scene.shapes) {
    context.globalAlpha = shape.opacity ?? 1;
    if (shape.kind === "rect") {
      context.beginPath();
      if (shape.radius)
        context.roundRect(shape.x, shape.y, shape.width, shape.height, shape.radius);
      else
        context.rect(shape.x, shape.y, shape.width, shape.height);
      if (shape.fill) {
        context.fillStyle = shape.fill;
        context.fill();
      }
      if (shape.stroke) {
        context.strokeStyle = shape.stroke;
        context.lineWidth = shape.line ?? 1;
        context.stroke();
      }
    } else if (shape.kind === "text") {
      context.save();
      context.font = `${shape.bold ? "600 " : ""}${shape.size}px ${kFont}`;
      context.fillStyle = shape.fill;
      context.textAlign = shape.align === "middle" ? "center" : shape.align;
      context.textBaseline = "alphabetic";
      context.translate(shape.x, shape.y);
      if (shape.upward) context.rotate(-Math.PI / 2);
      context.fillText(shape.text, 0, 0);
      context.restore();
    } else if (shape.kind === "map") {
      paintMap(context, shape);
    } else {
      context.beginPath();
      context.moveTo(shape.from.x, shape.from.y);
      context.bezierCurveTo(...bend(shape));
      context.strokeStyle = shape.stroke;
      context.lineWidth = shape.width;
      context.lineCap = "round";
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

/** @type {Record<string, string>} */
const kEntities = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;"
};

/// A text of XML, which may not have most control characters.
/** @param {string} text */
function escape(text) { return visibleText(String(text)).replace(/[&<>"]/g, (c) => kEntities[c]); }

/** @param {number} value */
const number = (value) => String(Math.round(value * 100) / 100);

/// Cells of the same colour that stand side by side become one rectangle; those of the lightest colour none.
/** @param {MapShape} shape */
function svgMap(shape) {
  const cellWidth = shape.width / shape.columns, cellHeight = shape.height / shape.rows;
  const parts = [];
  for (let row = 0; row < shape.rows; ++row) {
    let begin = 0;
    /** @param {number} column */
    const colourAt = (column) =>
        "#" + shape.parts(row, column).map((c) => Math.round(c).toString(16).padStart(2, "0")).join("");
    for (let column = 1; column <= shape.columns; ++column) {
      const fill = colourAt(begin);
      if (column < shape.columns && colourAt(column) === fill) continue;
      parts.push(
          `<rect x="${number(shape.x + begin * cellWidth)}" y="${number(shape.y + row * cellHeight)}" ` +
          `width="${number((column - begin) * cellWidth)}" height="${number(cellHeight)}" fill="${fill}"/>`);
      begin = column;
    }
  }
  return `<g shape-rendering="crispEdges">${parts.join("")}</g>`;
}

/** @param {Shape} shape */
function svgShape(shape) {
  const opacity =
      shape.opacity === undefined || shape.opacity === 1 ? "" : ` opacity="${number(shape.opacity)}"`;
  if (shape.kind === "rect") {
    return `<rect x="${number(shape.x)}" y="${number(shape.y)}" width="${number(shape.width)}" height="${
               number(shape.height)}"` +
        (shape.radius ? ` rx="${shape.radius}"` : "") + ` fill="${shape.fill ?? "none"}"` +
        (shape.stroke ? ` stroke="${shape.stroke}" stroke-width="${shape.line ?? 1}"` : "") + `${opacity}/>`;
  }
  if (shape.kind === "text") {
    const turn = shape.upward ? ` transform="rotate(-90 ${number(shape.x)} ${number(shape.y)})"` : "";
    return `<text x="${number(shape.x)}" y="${number(shape.y)}" font-size="${shape.size}" fill="${
               shape.fill}"` +
        ` text-anchor="${shape.align}"${shape.bold ? " font-weight=\"600\"" : ""}${turn}${opacity}>${
               escape(shape.text)}</text>`;
  }
  if (shape.kind === "map") return svgMap(shape);
  const path = `M${number(shape.from.x)} ${number(shape.from.y)}C${bend(shape).map(number).join(" ")}`;
  return `<path d="${path}" fill="none" stroke="${shape.stroke}" stroke-width="${
      number(shape.width)}" stroke-linecap="round"${opacity}/>`;
}

/** @param {Scene} scene @param {string} title @param {string} background */
export function toSvg(scene, title, background) {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${scene.width}" height="${scene.height}" ` +
      `viewBox="0 0 ${scene.width} ${scene.height}" font-family="${escape(kFont)}">\n<title>${
             escape(title)}</title>\n` +
      `<rect width="100%" height="100%" fill="${background}"/>\n${
             scene.shapes.map(svgShape).join("\n")}\n</svg>\n`;
}
