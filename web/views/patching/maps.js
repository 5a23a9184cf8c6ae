// The maps of Patch: how much of a difference each head, sub-layer or position brings back, by layer.

import {kindOf} from "../../page/outcome.js";
import {tokenLabels} from "../../picture/labels.js";
import {Scene, shorten, textWidth} from "../../picture/scene.js";
import {kStacks} from "../../picture/trace.js";
import {strings} from "../../strings.js";

const kLetters = 13, kNumbers = 12, kCellHeight = 28, kTitle = 26, kColumnNames = 22, kGap = 28;
const kWidest = 104, kHead = 44;
const kNarrowest = {
  heads: 16,
  layers: 44,
  positions: 44
};
const kSmall = 0.05;      // effects below are faint
const kLeastScale = 0.5;  // of colours, so that small effects look small
// Full colours are for marks: numbers stay legible on these.
const kStrongest = 0.6;

/// The answer of /v1/patch with the names of its maps, rows and columns.
export class PatchedText {
  /** @param {PatchingJson} json @param {Trace} trace of the first text */
  constructor(json, trace) {
    this.json = json;
    this.kind = kindOf(trace);
    this.readsText = trace.readsText;
    this.stacks = kStacks.filter((stack) => json.rows[stack].length > 0);
    const target = json.tokens.length === 1 ? json.target_tokens[json.tokens[0] - 1] : json.target;
    const isName = json.tokens.length !== 1 || this.kind === "classification";
    /** @param {string} token */
    const labelled = (token) => isName ? token : tokenLabels([token])[0].text;
    /// What the maps are of.
    this.what =
        strings.whatIsExplained(labelled(target), json.instead === null ? null : labelled(json.instead));
    this.largest = Math.max(kLeastScale, ...this.cells().map(({effect}) => Math.abs(effect ?? 0)));
  }

  /// How the tokens of the columns of a stack are written.
  /** @param {Stack} stack */
  columnLabels(stack) {
    const {columns, what} = this.json;
    if (what !== "positions") return columns[stack].map((text) => ({text, special: false, begins: true}));
    const labels = tokenLabels(columns[stack]);
    if (stack === "decoder" && !this.readsText && labels[0]?.special) labels[0].text = strings.startToken;
    return labels;
  }

  /// All cells, map by map and row by row.
  /** @returns {PatchCell[]} */
  cells() {
    return this.stacks.flatMap(
        (stack) => this.json.effects[stack].flatMap(
            (effects, row) => effects.map((effect, column) => ({stack, row, column, effect}))));
  }

  /// The cell with the largest effect, whole layers left out, if any brings something back.
  strongest() {
    const found = this.cells()
                      .filter(({stack, column}) => this.json.columns[stack][column] !== "layer")
                      .reduce((a, b) => (b.effect ?? 0) > (a.effect ?? 0) ? b : a);
    return (found.effect ?? 0) > 0.005 ? found : null;
  }

  /// A cell's place in the model, in words.
  /** @param {PatchCell} cell */
  nameOf({stack, row, column}) {
    const {rows, columns, what} = this.json, layer = rows[stack][row];
    switch (what) {
      case "heads":
        return strings.headName(stack, Number(layer), Number(columns[stack][column]));
      case "layers":
        return strings.subLayerName(stack, layer, /** @type {LensPart | "layer"} */ (columns[stack][column]));
      default:
        return strings.positionName(stack, layer, this.columnLabels(stack)[column].text);
    }
  }

  /// What a cell says, in words.
  /** @param {PatchCell} cell */
  describe(cell) {
    return cell.effect === null ? strings.noCounterpart(this.nameOf(cell)) :
                                  strings.bringsBack(this.nameOf(cell), cell.effect);
  }

  csv() {
    const {rows, columns, what} = this.json;
    const lines = this.cells().map(
        ({stack, row, column, effect}) => [stack, rows[stack][row], column + 1,
                                           `"${columns[stack][column].replace(/"/g, "\"\"")}"`, effect]
                                              .join(","));
    return [
      `stack,layer,column,${{heads: "head", layers: "part", positions: "token"}[what]},effect`, ...lines
    ].join("\n") +
        "\n";
  }
}

/// The names of columns, as they are drawn.
/** @param {PatchedText} patched @param {Stack} stack @param {boolean} short @returns {Label[]} */
function columnNames(patched, stack, short) {
  const labels = patched.columnLabels(stack);
  if (patched.json.what !== "layers") return labels;
  return labels.map(
      (label) =>
          ({...label, text: strings.patchedPart(/** @type {LensPart | "layer"} */ (label.text), short)}));
}

/// Where the maps are: side by side as far as there is room.
/** @param {PatchedText} patched @param {number} room @returns {PatchLayout} */
export function layOutMaps(patched, room) {
  const {rows, what} = patched.json, short = room < 640;
  /** @type {PatchMapLayout[]} */
  const maps = [];
  let x = 0, y = 0, bottom = 0, width = 0;
  for (const stack of patched.stacks) {
    const columns = columnNames(patched, stack, short);
    const names =
        rows[stack].map((name) => name === "embedding" && short ? strings.shortParts.embedding : name);
    const left = Math.ceil(Math.max(...names.map((name) => textWidth(name, kLetters)))) + 12;
    const widest = Math.ceil(Math.max(...columns.map(({text}) => textWidth(text, kLetters)))) + 12;
    const fitting = Math.floor((room - left - 2) / columns.length);
    const wanted = what === "heads" ? kHead : Math.max(kHead, Math.min(kWidest, widest));
    const cellWidth = Math.max(kNarrowest[what], Math.min(wanted, fitting));
    const own = left + columns.length * cellWidth + 2;
    const last = maps.at(-1);
    if (last && x + own > room) {
      // Below the last one, which is lower than the encoder's.
      x = last.x;
      y = last.top + last.names.length * kCellHeight + kGap;
    }
    const top = y + kTitle + kColumnNames;
    maps.push({stack, x, y, left: x + left, top, cellWidth, columns, names});
    x += own + kGap;
    width = Math.max(width, x - kGap);
    bottom = Math.max(bottom, top + names.length * kCellHeight);
  }
  return {maps, cellHeight: kCellHeight, width, height: bottom + 3};
}

/// A cell as a box.
/** @param {PatchLayout} layout @param {PatchCell} cell */
export function boxOf({maps, cellHeight}, {stack, row, column}) {
  const map = maps.find((each) => each.stack === stack);
  if (!map) return {x: 0, y: 0, width: 0, height: 0};
  return {
    x: map.left + column * map.cellWidth,
    y: map.top + row * cellHeight,
    width: map.cellWidth,
    height: cellHeight
  };
}

/** @param {PatchedText} patched @param {PatchLayout} layout @param {Colours} colours */
export function drawMaps(patched, layout, colours) {
  const scene = new Scene(layout.width, layout.height), baseline = layout.cellHeight / 2 + 4.5;
  for (const {stack, x, y, left, top, cellWidth, columns, names} of layout.maps) {
    scene.text(x, y + 15, strings.stacks[stack], {size: 15, bold: true, fill: colours.ink});
    columns.forEach(
        ({text, special}, n) => scene.text(
            left + (n + 0.5) * cellWidth, top - 7, shorten(text, kLetters, cellWidth - 4),
            {size: kLetters, align: "middle", fill: special ? colours.faint : colours.ink}));
    names.forEach(
        (name, row) => scene.text(
            left - 8, top + row * layout.cellHeight + baseline, name,
            {size: kLetters, align: "end", fill: colours.faint}));
    scene.rect(
        left, top, columns.length * cellWidth, names.length * layout.cellHeight, null,
        {stroke: colours.rule});
  }
  for (const cell of patched.cells()) {
    const {x, y, width, height} = boxOf(layout, cell);
    const colour =
        cell.effect === null ? colours.masked : colours.signed(cell.effect, patched.largest / kStrongest);
    scene.rect(x + 0.5, y + 0.5, width - 1, height - 1, colour, {radius: 2});
    const text = cell.effect === null ? "" : strings.decimal(cell.effect, 2);
    if (textWidth(text, kNumbers) <= width - 4)
      scene.text(x + width / 2, y + baseline, text, {
        size: kNumbers,
        align: "middle",
        fill: Math.abs(cell.effect ?? 0) < kSmall ? colours.faint : colours.ink
      });
  }
  return scene;
}
