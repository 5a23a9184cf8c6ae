// Layers: what the output layer would say after each sub-layer (logit lens), and the norms of the residual
// stream and of what is added to it. Columns are the tokens that the stack reads, rows the points between its
// sub-layers, from the embedding to the output.
//
//   softmax(W norm(x) + b) of each vector x, norm the final norm of pre-norm models

import {createQuestion, lens, readingOf} from "../connection/api.js";
import {choice, element} from "../page/dom.js";
import {hasKey, keysOf} from "../page/keys.js";
import {tokenLabels} from "../picture/labels.js";
import {createPicture, kArrows, numberTable} from "../picture/picture.js";
import {Scene, shorten, textWidth} from "../picture/scene.js";
import {strings} from "../strings.js";

const kNarrowest = 62, kWidest = 112, kCellHeight = 26, kLetters = 13;
/** @type {LensStack[]} */
const kLensStacks = ["encoder", "decoder"];
const kTokens = 5;  // likeliest tokens of each vector

/** @typedef {keyof typeof strings.shownOfLayers} Shown */

/// A stack of a lens with labels for its tokens.
export class LensView {
  /** @param {LensJson} json @param {LensStack} stack @param {Trace} trace */
  constructor(json, stack, trace) {
    this.stack = stack;
    this.states = json.states[stack];
    this.read = tokenLabels(json.tokens[stack]);
    if (stack === "decoder" && !trace.readsText && this.read[0]?.special)
      this.read[0].text = strings.startToken;
    this.predicts = this.states.some((state) => state.predictions);
    this.predictsEverywhere = this.states.every((state) => state.predictions);
    this.expectedTokens = this.predicts ? json.expected_tokens : [];
    this.expected = tokenLabels(this.expectedTokens);
    /** @type {Partial<Record<Shown, number>>} */
    this.most = {};  // of the norms; cells have a share of it
  }

  /// What is shown of a vector: its text and its share of the strongest colour; null where there is nothing.
  /** @param {Shown} shown @param {number} row @param {number} column */
  cell(shown, row, column) {
    const state = this.states[row];
    if (shown === "norms" || shown === "added") {
      const value = (shown === "norms" ? state.norms : state.added_norms)?.[column];
      return value === undefined ? null : {text: strings.norm(value), share: value / this.largest(shown)};
    }
    if (!state.predictions || !state.expected) return null;
    if (shown === "expected") {
      const share = state.expected[column];
      return {text: strings.percent(share), share};
    }
    const {token, probability} = state.predictions[column][0];
    return {
      text: tokenLabels([token])[0].text,
      share: probability,
      right: token === this.expectedTokens[column]
    };
  }

  /** @param {Shown} shown */
  largest(shown) {
    return this.most[shown] ??=
               this.states.flatMap((state) => (shown === "norms" ? state.norms : state.added_norms) ?? [])
                   .reduce((most, norm) => Math.max(most, norm), 1e-9);
  }

  /** @param {number} row */
  rowName(row) {
    const {layer, part} = this.states[row];
    return strings.stateName(layer, part);
  }

  /// A vector in words.
  /** @param {number} row @param {number} column */
  describe(row, column) {
    const state = this.states[row];
    return strings.vectorIs(
        this.rowName(row), this.read[column].text, likeliest(state, column), state.norms[column],
        state.added_norms?.[column]);
  }
}

/// The likeliest tokens of a vector as texts.
/** @param {LensStateJson} state @param {number} column */
function likeliest(state, column) {
  return (state.predictions?.[column] ?? [])
      .map(({token, probability}) => strings.tokenShare(tokenLabels([token])[0].text, probability));
}

/// The rows of a table of all vectors.
/** @param {LensView} view */
function tableRows(view) {
  return view.states.flatMap(
      (state, row) => view.read.map(
          (label, column) =>
              [view.rowName(row), `${column + 1} ${label.text}`, strings.norm(state.norms[column]),
               state.added_norms ? strings.norm(state.added_norms[column]) : "",
               view.expected[column]?.text ?? "", state.expected?.[column].toFixed(4) ?? "",
               likeliest(state, column).join(", ")]));
}

/// One line for each vector.
/** @param {LensJson} json */
function csv(json) {
  /** @param {string | number | undefined} value */
  const field = (value) => typeof value === "string" ? `"${value.replace(/"/g, "\"\"")}"` : value ?? "";
  const lines = kLensStacks.flatMap(
      (stack) => json.states[stack].flatMap(
          ({layer, part, norms, added_norms: added, expected, predictions}) => norms.map((norm, n) => {
            const best = predictions?.[n][0];
            return [
              stack, layer, part, n + 1, json.tokens[stack][n], norm, added?.[n],
              expected ? json.expected_tokens[n] : "", expected?.[n], best?.token ?? "", best?.probability
            ].map(field)
                .join(",");
          })));
  return [
    "stack,layer,part,position,token,norm,added,expected,probability,likeliest,its_probability", ...lines
  ].join("\n") +
      "\n";
}

/** @param {LensView} view @param {number} room @returns {LayersLayout} */
function layOut(view, room) {
  const columns = view.read.length, rows = view.states.length;
  const names = view.states.map((state) => strings.stateName(state.layer, state.part, room < 640));
  const left =
      Math.ceil(Math.max(...[...names, strings.expectedRow].map((name) => textWidth(name, kLetters)))) + 12;
  const cellWidth = Math.max(kNarrowest, Math.min(kWidest, Math.floor((room - left - 2) / columns)));
  const top = kCellHeight + 4;
  return {
    left,
    top,
    cellWidth,
    cellHeight: kCellHeight,
    columns,
    rows,
    width: left + columns * cellWidth + 2,
    height: top + rows * kCellHeight + (view.predicts ? kCellHeight + 8 : 4)
  };
}

/**
 * @param {LensView} view @param {LayersLayout} layout @param {Shown} shown @param {Colours} colours
 * @param {boolean} short whether names are shortened
 */
function drawLayers(view, layout, shown, colours, short) {
  const {left, top, cellWidth, cellHeight, columns, rows} = layout;
  const scene = new Scene(layout.width, layout.height), baseline = cellHeight / 2 + 4.5;
  /** @param {number} column */
  const middle = (column) => left + (column + 0.5) * cellWidth;
  /** @param {Label} label */
  const colourOf = (label) => label.special ? colours.faint : colours.ink;
  view.read.forEach(
      (label, column) => scene.text(
          middle(column), baseline, shorten(label.text, 14, cellWidth - 6),
          {size: 14, fill: colourOf(label), align: "middle"}));
  for (let row = 0; row < rows; ++row) {
    const y = top + row * cellHeight, {layer, part} = view.states[row];
    scene.text(
        left - 8, y + baseline, strings.stateName(layer, part, short),
        {size: kLetters, fill: colours.faint, align: "end"});
    for (let column = 0; column < columns; ++column) {
      const cell = view.cell(shown, row, column);
      if (!cell) continue;
      scene.rect(left + column * cellWidth, y, cellWidth, cellHeight, colours.weight(cell.share));
      scene.text(
          middle(column), y + baseline, shorten(cell.text, kLetters, cellWidth - 6),
          {size: kLetters, fill: colours.on(cell.share), align: "middle", bold: cell.right});
    }
    const begins = row === 0 || view.states[row - 1].layer !== layer || part === "output";
    if (begins) scene.rect(0, y - 0.5, layout.width, 1, colours.rule);
  }
  const bottom = top + rows * cellHeight;
  scene.rect(0, bottom - 0.5, layout.width, 1, colours.rule);
  view.expected.forEach(
      (label, column) => scene.text(
          middle(column), bottom + baseline + 4, shorten(label.text, 14, cellWidth - 6),
          {size: 14, fill: colourOf(label), align: "middle", bold: true}));
  if (view.predicts)
    scene.text(
        left - 8, bottom + baseline + 4, strings.expectedRow,
        {size: kLetters, fill: colours.faint, align: "end"});
  return scene;
}

/// The way of one token as a table.
/** @param {LensView} view @param {number} column */
function tokenTable(view, column) {
  const names =
      [strings.state, strings.normColumn, strings.addedColumn, ...(view.predicts ? [strings.likeliest] : [])];
  const caption = strings.wayOf(view.read[column].text, view.expected[column]?.text ?? null);
  return numberTable(
      caption, names,
      view.states.map(
          (state, row) =>
              [view.rowName(row), strings.norm(state.norms[column]),
               state.added_norms ? strings.norm(state.added_norms[column]) : "",
               ...(view.predicts ? [likeliest(state, column).join(", ")] : [])]));
}

/** @param {App} app @returns {View} */
export function createLayers(app) {
  const question = createQuestion(lens);
  const note = element("p", {class: "note-line"});
  const stacks = choice(
      strings.stackLabel, kLensStacks.map((name) => [name, strings.stacks[name]]),
      (value) => app.store.set({stack: value}));
  const shown = choice(
      strings.show, keysOf(strings.shownOfLayers).map((name) => [name, strings.shownOfLayers[name]]),
      (value) => app.store.set({show: value}));
  const way = element("div", {class: "scroll way"});
  /** @type {LensJson | null} */
  let found = null;
  /** @type {{view: LensView, layout: LayersLayout} | null} */
  let drawn = null;
  let cursor = {row: 0, column: 0};

  /** @param {LensView} view @param {Spot | null} spot */
  const columnOf = (view, spot) => {
    const column = app.trace().queryAt(view.stack, spot);
    return column < view.read.length ? column : -1;
  };
  /** @param {number} x @param {number} y */
  const cellAt = (x, y) => {
    if (!drawn) return null;
    const {left, top, cellWidth, cellHeight, columns, rows} = drawn.layout;
    const column = Math.floor((x - left) / cellWidth), row = Math.floor((y - top) / cellHeight);
    if (column < 0 || column >= columns || x > drawn.layout.width) return null;
    return {row: Math.max(0, Math.min(rows - 1, row)), column};
  };
  /** @param {{row: number, column: number} | null} cell */
  const point = (cell) => {
    if (cell) cursor = cell;
    app.marks.hover(cell && drawn ? app.trace().querySpot(drawn.view.stack, cell.column) : null);
    mark();  // another row of the same token
  };
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    if (!drawn) return;
    if (event.key === "Enter") app.pin(app.trace().querySpot(drawn.view.stack, cursor.column));
    if (event.key === "Escape") app.pin(null);
    if (hasKey(kArrows, event.key)) {
      const [down, right] = kArrows[event.key], {rows, columns} = drawn.layout;
      point({
        row: Math.max(0, Math.min(rows - 1, cursor.row + down)),
        column: Math.max(0, Math.min(columns - 1, cursor.column + right))
      });
    } else if (event.key !== "Enter") {
      return;
    }
    event.preventDefault();
  };
  const picture = createPicture({
    point: (x, y) => point(cellAt(x, y)),
    leave: () => point(null),
    press: (x, y) => {
      const cell = cellAt(x, y);
      if (cell && drawn) app.pin(app.trace().querySpot(drawn.view.stack, cell.column));
    },
    key,
  });

  picture.element.hidden = true;  // until there is one

  const mark = () => {
    if (!drawn) return;
    const {view, layout} = drawn, {left, top, cellWidth, cellHeight} = layout, colours = app.colours();
    const column = columnOf(view, app.marks.get());
    if (column < 0) {
      picture.mark(null);
      return picture.say(strings.readingHint);
    }
    const scene = new Scene(layout.width, layout.height), x = left + column * cellWidth;
    scene.rect(x, 1, cellWidth, layout.height - 2, null, {stroke: colours.accent, line: 1.5, radius: 4});
    if (cursor.column === column) {
      scene.rect(
          x, top + cursor.row * cellHeight, cellWidth, cellHeight, null, {stroke: colours.accent, line: 2.5});
      picture.say(view.describe(cursor.row, column));
    } else {
      picture.say(view.describe(view.states.length - 1, column));
    }
    picture.mark(scene);
  };

  const draw = () => {
    if (!found) return app.pictureChanged();
    const state = app.store.get(), there = found;
    const stack =
        state.stack === "encoder" && there.states.encoder.length > 0 || there.states.decoder.length === 0 ?
        "encoder" :
        "decoder";
    const view = new LensView(there, stack, app.trace());
    for (const [name, button] of stacks.buttons) button.disabled = there.states[name].length === 0;
    for (const [name, button] of shown.buttons)
      button.disabled = !view.predicts && (name === "predictions" || name === "expected");
    const wanted = hasKey(strings.shownOfLayers, state.show) ? state.show : "predictions";
    const what = shown.buttons.get(wanted)?.disabled ? "norms" : wanted;
    stacks.show(stack);
    shown.show(what);
    app.lead(strings.leadOfLayers[what]);
    note.textContent = [
      state.off ? strings.withAllHeads : "",
      view.predicts && !view.predictsEverywhere ? strings.outputReadsTheLast : ""
    ].join(" ");
    const layout = layOut(view, picture.room());
    drawn = {view, layout};
    cursor = {
      row: Math.min(cursor.row, layout.rows - 1),
      column: Math.min(cursor.column, layout.columns - 1)
    };
    picture.show(
        drawLayers(view, layout, what, app.colours(), picture.room() < 640),
        app.describePicture(strings.views.layers),
        () => numberTable(strings.views.layers, strings.columnsOfLayers, tableRows(view)));
    const pinned = columnOf(view, app.pinned());
    way.replaceChildren(...(pinned < 0 ? [] : [tokenTable(view, pinned)]));
    mark();
    app.pictureChanged();
  };

  return {
    element: element(
        "div", {}, element("div", {class: "row above"}, stacks.element, shown.element), note, picture.element,
        way),
    picture,
    mark,
    leave: () => question.drop(),
    takeaway() {
      const {show} = app.store.get(), stack = drawn?.view.stack ?? "decoder";
      return {
        name: `layers-${stack}`,
        json: found && JSON.stringify(found, null, 1),
        csv: found && csv(found),
        command: "lens",
        options: ["--stack", stack, ...(show === "norms" || show === "added" ? ["--show", show] : [])]
      };
    },
    async update() {
      const state = app.store.get();
      if (app.file) return note.replaceChildren(app.needsModel());
      if (state.words) return app.store.set({words: false}, true);
      const answer = await question.ask({...readingOf(state, app.trace()), top: kTokens});
      if (!answer) return;
      found = answer.result ?? null;
      note.textContent = answer.failure ?? "";
      picture.element.hidden = way.hidden = !found;
      draw();
    },
  };
}
