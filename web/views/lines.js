// Lines between the two sentences, heads as colours. Keys stand above and queries below; where there is no
// room for that, keys stand on the left and queries on the right.

import {headColour} from "../picture/colours.js";
import {createPicture, numberTable} from "../picture/picture.js";
import {Scene, shorten, textWidth} from "../picture/scene.js";
import {strings} from "../strings.js";

const kLeast = 0.02;                 // fainter lines are not drawn
const kWordGap = 16, kPieceGap = 2;  // for letters of 18 pixels

/// Where tokens stand side by side: {begin, width} of each.
/** @param {Label[]} labels @param {number} size */
function placeInRow(labels, size) {
  let x = 0;
  const places = labels.map((label, n) => {
    x += n === 0 ? 0 : (label.begins ? kWordGap : kPieceGap) * (size / 18);
    const width = textWidth(label.text, size) + 8;
    const place = {begin: x, width, middle: x + width / 2};
    x += width;
    return place;
  });
  return {places, length: x};
}

/** @param {Label[]} keys @param {Label[]} queries @param {number} room @returns {LinesLayout | null} */
function layOutRows(keys, queries, room) {
  for (const size of [26, 23, 20, 18, 16, 14, 13]) {
    const above = placeInRow(keys, size), below = placeInRow(queries, size);
    const length = Math.max(above.length, below.length);
    if (length > room * (size > 20 ? 0.75 : 1)) continue;
    const height = Math.round(Math.max(190, Math.min(300, length * 0.34)));
    /** @param {ReturnType<typeof placeInRow>} row */
    const shift = (row) => row.places.map((place) => ({
                                            x: place.begin + (room - row.length) / 2,
                                            width: place.width,
                                            center: place.middle + (room - row.length) / 2,
                                          }));
    return {
      along: "y",
      size,
      width: room,
      height: height + 2 * size + 34,
      keys: shift(above).map((p) => ({...p, y: 6, height: size + 10, join: {x: p.center, y: size + 19}})),
      queries: shift(below).map(
          (p) =>
              ({...p, y: height + size + 18, height: size + 10, join: {x: p.center, y: height + size + 15}})),
    };
  }
  return null;
}

/** @param {Label[]} keys @param {Label[]} queries @param {number} room @returns {LinesLayout} */
function layOutColumns(keys, queries, room) {
  const size = 14, line = Math.max(keys.length, queries.length) > 60 ? 19 : 24;
  const column = Math.min(220, Math.floor(room * 0.32));
  /** @param {Label[]} labels */
  const widest = (labels) =>
      Math.min(column, Math.max(...labels.map((label) => textWidth(label.text, size) + 10)));
  const left = widest(keys), right = widest(queries);
  const width = Math.min(room, left + right + 460), begin = (room - width) / 2;
  const height = Math.max(keys.length, queries.length) * line;
  /** @param {Label[]} labels @param {boolean} isKey */
  const place = (labels, isKey) => labels.map((label, n) => {
    const y = n * line + (height - labels.length * line) / 2;
    const own = Math.min(column, textWidth(label.text, size) + 10);
    const x = isKey ? begin + left - own : begin + width - right;
    return {
      x,
      y,
      width: own,
      height: line - 2,
      room: column,
      join: {x: isKey ? begin + left + 4 : x - 4, y: y + line / 2 - 1}
    };
  });
  return {
    along: "x",
    size,
    width: room,
    height: height + 4,
    keys: place(keys, true),
    queries: place(queries, false)
  };
}

/** @param {App} app */
export function createLines(app) {
  /** @type {{layout: LinesLayout, here: Place} | null} */
  let drawn = null;

  /** @param {number} x @param {number} y */
  const hit = (x, y) => {
    if (!drawn) return null;
    const {layout, here} = drawn;
    /** @param {TokenBox[]} places */
    const find = (places) => places.findIndex(
        (p) => x >= p.x - 4 && x <= p.x + p.width + 4 && y >= p.y - 3 && y <= p.y + p.height + 3);
    const query = find(layout.queries);
    if (query >= 0) return app.shown().querySpot(here.stack, query);
    const key = find(layout.keys);
    return key >= 0 ? app.shown().keySpot(here.stack, key) : null;
  };

  const picture = createPicture({
    point: (x, y) => app.marks.hover(hit(x, y)),
    leave: () => app.marks.hover(null),
    press: (x, y) => app.pin(hit(x, y)),
    key: (event) => app.moveMark(event),
  });

  /// The heads whose lines are drawn.
  /** @param {Place} here */
  const headsShown = (here) => {
    const trace = app.shown();
    const numbers = here.head > 0 ?
        [here.head] :
        Array.from({length: trace.heads(here.stack, here.layer)}, (_, n) => n + 1);
    return numbers.flatMap((head) => {
      const matrix = trace.matrix(here.stack, here.layer, head);
      return matrix ? [{head, matrix}] : [];
    });
  };

  /// Lines of one query, of one key, or of all where both are -1.
  /** @param {Scene} scene @param {number} strength @param {number} query @param {number} key */
  const addLines = (scene, strength, query, key) => {
    if (!drawn) return;
    const {layout, here} = drawn, colours = app.colours(), heads = headsShown(here);
    heads.forEach(({head, matrix}, n) => {
      // Heads that agree would cover each other: each is a little beside the others.
      const beside = (n - (heads.length - 1) / 2) * Math.min(layout.size / 8, 18 / heads.length);
      /** @param {Point} p */
      const move = (p) =>
          (layout.along === "y" ? {x: p.x + beside, y: p.y} : {x: p.x, y: p.y + beside * 0.8});
      const [firstQuery, lastQuery] = query < 0 ? [0, matrix.queries - 1] : [query, query];
      const [firstKey, lastKey] = key < 0 ? [0, matrix.keys - 1] : [key, key];
      for (let q = firstQuery; q <= lastQuery; ++q) {
        for (let k = firstKey; k <= lastKey; ++k) {
          const weight = matrix.at(q, k);
          if (weight < kLeast) continue;
          scene.curve(
              move(layout.keys[k].join), move(layout.queries[q].join), layout.along,
              headColour(colours, head),
              {width: 0.8 + 1.8 * weight, opacity: Math.min(1, strength * (0.12 + 0.88 * weight))});
        }
      }
    });
  };

  /**
   * @param {Scene} scene @param {LinesLayout} layout @param {Label} label @param {TokenBox}
   *     p @param {string} fill
   */
  const addToken = (scene, layout, label, p, fill) => {
    const text = p.room ? shorten(label.text, layout.size, p.room - 8) : label.text;
    const y = layout.along === "y" ? p.y + p.height - 8 : p.y + p.height / 2 + layout.size * 0.35;
    scene.text(p.x + 4, y, text, {size: layout.size, fill});
  };

  const mark = () => {
    if (!drawn) return;
    const {layout, here} = drawn;
    const spot = app.marks.get(), trace = app.shown(), colours = app.colours();
    const query = trace.queryAt(here.stack, spot), key = trace.keyAt(here.stack, spot);
    const asQuery = query >= 0 && query < layout.queries.length;
    const asKey = key >= 0 && key < layout.keys.length;
    picture.element.classList.toggle("marked", asQuery || asKey);
    if (!asQuery && !asKey) {
      picture.mark(null);
      picture.say(strings.readingHint);
      return;
    }
    const scene = new Scene(layout.width, layout.height);
    if (asQuery) addLines(scene, 1, query, -1);
    if (asKey && !(asQuery && here.stack === "encoder")) addLines(scene, 1, -1, key);
    const matrix = trace.matrixOf(here);
    /** @param {TokenBox[]} places @param {Label[]} labels @param {(index: number) => number} weightOf */
    const tint = (places, labels, weightOf) => places.forEach((p, n) => {
      const weight = weightOf(n);
      if (weight < kLeast) return;
      scene.rect(p.x, p.y, p.width, p.height, colours.accent, {opacity: 0.75 * weight, radius: 4});
      addToken(scene, layout, labels[n], p, colours.ink);
    });
    /** @param {TokenBox} p @param {Label} label */
    const outline = (p, label) => {
      scene.rect(p.x, p.y, p.width, p.height, null, {stroke: colours.accent, line: 2, radius: 4});
      addToken(scene, layout, label, p, colours.ink);
    };
    if (asQuery) {
      tint(layout.keys, trace.keyLabels(here.stack), (n) => matrix.at(query, n));
      outline(layout.queries[query], trace.queryLabels(here.stack)[query]);
    } else {
      tint(layout.queries, trace.queryLabels(here.stack), (n) => matrix.at(n, key));
    }
    if (asKey) outline(layout.keys[key], trace.keyLabels(here.stack)[key]);
    picture.mark(scene);
    picture.say(asQuery ? app.describeQuery(matrix, query) : app.describeKey(matrix, key));
  };

  return {
    element: picture.element,
    picture,
    mark,
    update() {
      const trace = app.shown();
      const here = app.place();
      if (!trace.matrixOf(here)) return;
      const keys = trace.keyLabels(here.stack), queries = trace.queryLabels(here.stack);
      const layout =
          layOutRows(keys, queries, picture.room()) ?? layOutColumns(keys, queries, picture.room());
      drawn = {layout, here};
      app.lead(layout.along === "y" ? strings.lead.lines : strings.leadVertical);
      const scene = new Scene(layout.width, layout.height);
      addLines(scene, 0.85, -1, -1);
      const colours = app.colours();
      /** @param {Label[]} labels @param {TokenBox[]} places */
      const addTokens = (labels, places) => labels.forEach(
          (label, n) =>
              addToken(scene, layout, label, places[n], label.special ? colours.faint : colours.ink));
      addTokens(keys, layout.keys);
      addTokens(queries, layout.queries);
      picture.show(scene, app.describePicture(), () => weightTable(app));
      mark();
    },
  };
}

/// The weights of the chosen head.
/** @param {App} app */
export function weightTable(app) {
  const trace = app.shown(), {stack, layer, head} = app.place();
  const matrix = trace.matrixOf({stack, layer, head});
  return numberTable(
      strings.headName(stack, layer, head),
      [`${strings.query} \\ ${strings.key}`, ...trace.keyLabels(stack).map((label) => label.text)],
      trace.queryLabels(stack).map(
          (label, query) =>
              [label.text,
               ...Array.from({length: matrix.keys}, (_, key) => matrix.at(query, key).toFixed(3))]));
}
