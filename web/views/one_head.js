// One head large: queries down, keys across.

import {hasKey} from "../page/keys.js";
import {createPicture, kArrows} from "../picture/picture.js";
import {Scene, shorten, textWidth} from "../picture/scene.js";
import {strings} from "../strings.js";

import {weightTable} from "./lines.js";

const kLargestCell = 46, kSmallestCell = 9, kLongestLabel = 120;

/** @param {Label[]} labels @param {number} size */
function widestLabel(labels, size) {
  return Math.min(kLongestLabel, Math.max(...labels.map((label) => textWidth(label.text, size)))) + 10;
}

/// The heat map of a matrix, at an offset: used for comparisons too. `colour(query, key)` gives [red, green,
/// blue].
/** @param {Label[]} queries @param {Label[]} keys @param {number} room @returns {MapLayout} */
export function layOutMap(queries, keys, room) {
  let size = 14;
  let left = widestLabel(queries, size);
  const cell = Math.max(
      kSmallestCell,
      Math.min(
          kLargestCell, Math.floor((room - left - 4) / keys.length),
          Math.max(16, Math.floor((0.72 * innerHeight - 60) / queries.length))));
  size = Math.max(8, Math.min(14, cell - 1));
  left = widestLabel(queries, size);
  const flat = keys.every((label) => textWidth(label.text, size) < cell - 4);
  const top = flat ? size + 10 : widestLabel(keys, size);
  return {
    left,
    top,
    cell,
    size,
    flat,
    width: left + cell * keys.length + 4,
    height: top + cell * queries.length + 4
  };
}

/**
 * @param {Scene} scene
 * @param {MapLayout} layout
 * @param {number} x
 * @param {Label[]} queries
 * @param {Label[]} keys
 * @param {(query: number, key: number) => number[]} parts
 * @param {Colours} colours
 */
export function addMap(scene, layout, x, queries, keys, parts, colours) {
  const {left, top, cell, size, flat} = layout;
  keys.forEach((label, n) => {
    const middle = x + left + cell * (n + 0.5), fill = label.special ? colours.faint : colours.ink;
    if (flat)
      scene.text(middle, top - 7, label.text, {size, fill, align: "middle"});
    else
      scene.text(
          middle + size * 0.36, top - 5, shorten(label.text, size, kLongestLabel),
          {size, fill, upward: true});
  });
  queries.forEach((label, n) => {
    scene.text(
        x + left - 6, top + cell * (n + 0.5) + size * 0.36, shorten(label.text, size, kLongestLabel),
        {size, fill: label.special ? colours.faint : colours.ink, align: "end"});
  });
  scene.map(x + left, top, cell * keys.length, cell * queries.length, queries.length, keys.length, parts);
  scene.rect(x + left, top, cell * keys.length, cell * queries.length, null, {stroke: colours.rule});
}

/// Marks a query and a key, -1 for none, in a map that lies at (x, y).
/**
 * @param {Scene} scene @param {MapLayout} layout @param {number} x @param {number} y @param {number} query
 * @param {number} key @param {Matrix} matrix @param {Colours} colours
 */
export function markMap(scene, layout, x, y, query, key, matrix, colours) {
  const {left, top, cell} = layout, right = cell * matrix.keys, bottom = cell * matrix.queries;
  if (query >= 0 && query < matrix.queries) {
    scene.rect(
        x + left - 0.5, y + top + cell * query - 0.5, right + 1, cell + 1, null,
        {stroke: colours.accent, line: 1.5});
    scene.rect(x, y + top + cell * query, left - 2, cell, colours.accent, {opacity: 0.22, radius: 3});
  }
  if (key >= 0 && key < matrix.keys) {
    scene.rect(
        x + left + cell * key - 0.5, y + top - 0.5, cell + 1, bottom + 1, null,
        {stroke: colours.accent, line: 1.5});
    scene.rect(x + left + cell * key, y, cell, top - 2, colours.accent, {opacity: 0.22, radius: 3});
  }
}

/** @param {App} app */
export function createOneHead(app) {
  /** @type {{layout: MapLayout, here: Place, offset: number} | null} */
  let drawn = null;
  let cursor = {query: 0, key: 0};

  /** @param {number} x @param {number} y */
  const cellAt = (x, y) => {
    if (!drawn) return null;
    const {layout, here, offset} = drawn;
    const key = Math.floor((x - offset - layout.left) / layout.cell),
          query = Math.floor((y - layout.top) / layout.cell);
    const matrix = app.shown().matrixOf(here);
    const inside = query >= 0 && query < matrix.queries && key < matrix.keys && x >= offset;
    return inside ? {query, key: Math.max(-1, key)} : null;
  };
  /** @param {{query: number, key: number} | null} cell @returns {Spot | null} */
  const spotOf = (cell) => {
    if (!cell || !drawn) return null;
    const {here} = drawn;
    const trace = app.shown();
    return {
      ...trace.querySpot(here.stack, cell.query),
      ...(cell.key >= 0 ? {other: trace.keySpot(here.stack, cell.key)} : {})
    };
  };
  /** @param {KeyboardEvent} event */
  const move = (event) => {
    if (!drawn) return;
    const matrix = app.shown().matrixOf(drawn.here);
    const [down, right] = hasKey(kArrows, event.key) ? kArrows[event.key] : [0, 0];
    if (event.key === "Enter")
      app.pin(spotOf(cursor));
    else if (event.key === "Escape")
      app.pin(null);
    else if (!down && !right)
      return;
    event.preventDefault();
    cursor = {
      query: Math.max(0, Math.min(matrix.queries - 1, cursor.query + down)),
      key: Math.max(0, Math.min(matrix.keys - 1, cursor.key + right)),
    };
    app.marks.hover(event.key === "Escape" ? null : spotOf(cursor));
  };

  const picture = createPicture({
    point: (x, y) => app.marks.hover(spotOf(cellAt(x, y))),
    leave: () => app.marks.hover(null),
    press: (x, y) => app.pin(spotOf(cellAt(x, y))),
    key: move,
  });

  const mark = () => {
    if (!drawn) return;
    const {layout, here, offset} = drawn;
    const spot = app.marks.get(), trace = app.shown(), colours = app.colours();
    const query = trace.queryAt(here.stack, spot);
    const key = trace.keyAt(here.stack, spot?.other ?? spot);
    const matrix = trace.matrixOf(here);
    const scene = new Scene(layout.width, layout.height);
    const asQuery = query >= 0 && query < matrix.queries,
          asKey = key >= 0 && key < matrix.keys && (here.stack !== "encoder" || spot?.other || !asQuery);
    markMap(scene, layout, offset, 0, asQuery ? query : -1, asKey ? key : -1, matrix, colours);
    picture.mark(asQuery || asKey ? scene : null);
    if (asQuery && asKey && layout.size) {
      picture.say(strings.weightOf(
          trace.queryLabels(here.stack)[query].text, trace.keyLabels(here.stack)[key].text,
          matrix.at(query, key)));
    } else {
      picture.say(
          asQuery   ? app.describeQuery(matrix, query) :
              asKey ? app.describeKey(matrix, key) :
                      strings.readingHint);
    }
  };

  return {
    element: picture.element,
    picture,
    mark,
    update() {
      const trace = app.shown();
      const here = app.place();
      const matrix = trace.matrixOf(here);
      if (!matrix) return;
      const queries = trace.queryLabels(here.stack), keys = trace.keyLabels(here.stack),
            colours = app.colours();
      const layout = layOutMap(queries, keys, picture.room());
      const offset = Math.max(0, Math.floor((picture.room() - layout.width) / 2));
      layout.width += offset;
      drawn = {layout, here, offset};
      const scene = new Scene(layout.width, layout.height);
      addMap(
          scene, layout, offset, queries, keys, (query, key) => colours.weightParts(matrix.at(query, key)),
          colours);
      if (layout.cell >= 34) {
        for (let query = 0; query < matrix.queries; ++query) {
          for (let key = 0; key < matrix.keys; ++key) {
            const weight = matrix.at(query, key);
            if (weight < 0.05) continue;
            scene.text(
                offset + layout.left + layout.cell * (key + 0.5),
                layout.top + layout.cell * (query + 0.5) + 4, String(Math.round(100 * weight)),
                {size: 11, align: "middle", fill: colours.on(weight)});
          }
        }
      }
      cursor = {
        query: Math.min(cursor.query, matrix.queries - 1),
        key: Math.min(cursor.key, matrix.keys - 1)
      };
      picture.show(scene, app.describePicture(), () => weightTable(app));
      mark();
    },
  };
}
