// Patch: which heads, sub-layers or positions carry what a second sentence, which differs in a word, changes
// (include/heed/patching.h). The model reads the second sentence, and one part at a time gives what it gave
// in the first.

import {createQuestion, modelOf, patch, readingOf} from "../../connection/api.js";
import {choice, element, hasFocus, select} from "../../page/dom.js";
import {differingFrom} from "../../page/examples.js";
import {hasKey, keysOf} from "../../page/keys.js";
import {kindOf} from "../../page/outcome.js";
import {createProgress} from "../../page/progress.js";
import {createPicture, kArrows, numberTable} from "../../picture/picture.js";
import {Scene} from "../../picture/scene.js";
import {strings} from "../../strings.js";
import {createInstead} from "../instead.js";

import {boxOf, drawMaps, layOutMaps, PatchedText} from "./maps.js";

const kPause = 300;  // milliseconds after a key, until the model is asked

/// What the state asks. `token` from 1; 0: all of the target.
/** @param {App} app @returns {{other: string, what: PatchedPart, token: number, instead: string}} */
function asked(app) {
  const state = app.store.get(), trace = app.trace(), pinned = app.pinned();
  const isRecurrent = modelOf(state)?.type === "heed_rnn";
  const named = hasKey(strings.patched, state.part) ? state.part : "heads";
  const translates = kindOf(trace) === "translation";
  const chosen = translates && pinned?.side === "target" && pinned.index < trace.targetTokens.length;
  return {
    other: (state.beside || differingFrom(state.text)).trim(),
    what: isRecurrent && named === "heads" ? "layers" : named,
    token: chosen ? pinned.index + 1 : 0,
    instead: chosen || !translates ? state.instead : ""
  };
}

/// The second sentence: what is typed is asked for after a pause.
/** @param {App} app */
function createOther(app) {
  const field = element("input", {type: "text", class: "wide", id: "beside", spellcheck: "false"});
  let timer = 0, shown = "";
  const set = () => {
    clearTimeout(timer);
    timer = 0;
    app.store.set({beside: field.value.trim() === app.store.get().text.trim() ? "" : field.value}, true);
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(set, kPause);
  });
  field.addEventListener("change", set);
  field.addEventListener("blur", () => {
    if (!field.value.trim()) field.value = shown;
  });
  return {
    element: element("label", {class: "field other"}, element("span", {}, strings.besideLabel), field),
    /** @param {string} text */
    show(text) {
      shown = text;
      const isCleared = hasFocus(field) && !field.value.trim();  // for another sentence
      if (!timer && !isCleared && field.value.trim() !== text) field.value = text;
    },
  };
}

/// The nearest box from another one in a direction, or -1.
/**
 * @param {{x: number, y: number, width: number, height: number}[]} boxes @param {number} from
 * @param {readonly number[]} direction rows down, columns to the right
 */
function nearest(boxes, from, [down, right]) {
  const own = boxes[from];
  let best = -1, least = Infinity;
  boxes.forEach((box, n) => {
    const x = box.x + box.width / 2 - own.x - own.width / 2, y = box.y - own.y;
    const along = x * right + y * down, across = Math.abs(x * down) + Math.abs(y * right);
    if (along <= 1 || along + 4 * across >= least) return;
    best = n;
    least = along + 4 * across;
  });
  return best;
}

/** @param {App} app @returns {View} */
export function createPatch(app) {
  const question = createQuestion(patch), progress = createProgress();
  const other = createOther(app), alternatives = createInstead(app, strings.againstLabel);
  const parts = choice(
      strings.patchedLabel, keysOf(strings.patched).map((name) => [name, strings.patched[name]]),
      (value) => app.store.set({part: value}));
  const watched = select(strings.watchedLabel, (value) => app.store.set({token: value, instead: ""}));
  const note = element("p", {class: "note-line", role: "status"});
  const summary = element("p", {class: "note-line sum"});
  /** @type {PatchedText | null} */
  let patched = null;
  /** @type {PatchLayout | null} */
  let layout = null;
  /** @type {PatchCell[]} */
  let cells = [];
  let cursor = 0;
  let isPointed = false;

  /// The token that a column of a stack is.
  /** @param {PatchCell} cell @returns {Spot | null} */
  const spotOf = ({stack, column}) =>
      patched?.json.what === "positions" ? app.trace().keySpot(stack, column) : null;
  /** @param {number} x @param {number} y */
  const cellAt = (x, y) => cells.findIndex((cell) => {
    if (!layout) return false;
    const box = boxOf(layout, cell);
    return x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
  });
  /** @param {number} index -1: no cell */
  const point = (index) => {
    isPointed = index >= 0;
    if (isPointed) cursor = index;
    app.marks.hover(isPointed ? spotOf(cells[index]) : null);
    mark();
  };
  /// Shows the attention of a head, or keeps a token of the text marked. A token of a translation is what is
  /// watched: it is chosen above.
  /** @param {number} index */
  const press = (index) => {
    const cell = cells[index];
    if (!cell || !patched) return;
    const {what, rows, columns} = patched.json, {stack, row, column} = cell;
    if (what === "heads")
      app.store.set(
          {view: "head", stack, layer: Number(rows[stack][row]), head: Number(columns[stack][column])});
    if (what === "positions" && (stack === "encoder" || patched.kind === "text")) app.pin(spotOf(cell));
  };
  const picture = createPicture({
    point: (x, y) => point(cellAt(x, y)),
    leave: () => point(-1),
    press: (x, y) => press(cellAt(x, y)),
    key(event) {
      const there = layout;
      if (!there || cells.length === 0) return;
      if (event.key === "Enter") {
        press(cursor);
      } else if (hasKey(kArrows, event.key)) {
        const next = nearest(cells.map((cell) => boxOf(there, cell)), cursor, kArrows[event.key]);
        point(next >= 0 && isPointed ? next : cursor);
      } else {
        return;
      }
      event.preventDefault();
    },
  });

  picture.element.hidden = true;  // until there is one

  const mark = () => {
    if (!layout || !patched) return;
    const scene = new Scene(layout.width, layout.height), colours = app.colours(), spot = app.marks.get();
    if (patched.json.what === "positions") {
      for (const map of layout.maps) {
        const column = app.trace().keyAt(map.stack, spot);
        if (column < 0 || column >= map.columns.length) continue;
        scene.rect(
            map.left + column * map.cellWidth, map.top - 20, map.cellWidth,
            map.names.length * layout.cellHeight + 22, null, {stroke: colours.accent, line: 1.5, radius: 4});
      }
    }
    if (isPointed) {
      const {x, y, width, height} = boxOf(layout, cells[cursor]);
      scene.rect(x, y, width, height, null, {stroke: colours.ink, line: 2, radius: 3});
    }
    picture.mark(scene);
    picture.say(
        isPointed                         ? patched.describe(cells[cursor]) :
            patched.json.what === "heads" ? strings.patchedHeadHint :
                                            strings.patchedHint);
  };

  const draw = () => {
    picture.element.hidden = !patched;
    summary.textContent = "";
    if (!patched) return app.pictureChanged();
    const {json, what} = patched, there = layout = layOutMaps(patched, picture.room());
    cells = patched.cells();
    cursor = Math.min(cursor, cells.length - 1);
    isPointed = false;
    const strongest = patched.strongest();
    summary.textContent = [
      strings.patchedDifference(what, json.clean, json.corrupted),
      strongest ? strings.mostComesBack(patched.nameOf(strongest), strongest.effect ?? 0) :
                  strings.nothingComesBack,
      json.source_tokens.length === json.other_tokens.length ? "" : strings.otherLength
    ].join(" ");
    picture.show(
        drawMaps(patched, there, app.colours()),
        app.describePicture(strings.pictureOfPatch(what, json.other)),
        () => numberTable(
            what, strings.columnsOfPatch,
            cells.map(
                (cell) =>
                    [patched?.nameOf(cell) ?? "", cell.effect === null ? "" : cell.effect.toFixed(3)])));
    mark();
    app.pictureChanged();
  };

  /// Shows no picture, and says why.
  /** @param {string} why */
  const showNone = (why) => {
    question.drop();
    progress.end();
    note.textContent = why;
    patched = null;
    draw();
  };

  /// The target tokens that can be watched.
  /** @param {Trace} trace @param {number} token */
  const showWatched = (trace, token) => {
    watched.element.hidden = kindOf(trace) !== "translation";
    watched.show(
        [
          ["", strings.watchAll],
          ...trace.targetLabels.map(
              ({text}, n) => /** @type {[string, string]} */ ([`t${n + 1}`, `${n + 1}  ${text}`]))
        ],
        token ? `t${token}` : "");
  };

  return {
    element: element(
        "div", {}, element("div", {class: "row above"}, other.element),
        element("div", {class: "row above"}, parts.element, watched.element), alternatives.element,
        progress.element, note, summary, picture.element),
    picture,
    mark,
    leave() {
      question.drop();
      progress.end();
    },
    takeaway() {
      const {other: text, what, token, instead} = asked(app);
      return {
        name: `patch-${what}${token ? `-${token}` : ""}`,
        json: patched && JSON.stringify(patched.json, null, 1),
        csv: patched && patched.csv(),
        command: "patch",
        texts: [text],
        options: [
          "--what", what, ...(token ? ["--token", String(token)] : []),
          ...(instead ? ["--instead", instead] : [])
        ]
      };
    },
    async update() {
      const state = app.store.get(), trace = app.trace();
      if (app.file) return note.replaceChildren(app.needsModel());
      if (state.words) return app.store.set({words: false}, true);
      if (app.models().length === 0) return;  // it is not known yet whether the model has heads
      const {other: text, what, token, instead} = asked(app);
      other.show(text);
      const heads = parts.buttons.get("heads");
      if (heads) heads.disabled = modelOf(state)?.type === "heed_rnn";
      parts.show(what);
      app.lead(strings.leadOfPatch[what]);
      showWatched(trace, token);
      alternatives.update(kindOf(trace) === "translation" && !token ? null : token - 1);
      if (text === state.text.trim()) return showNone(strings.changeAWord);
      const answering = question.ask({
        ...readingOf(state, trace),
        other: text,
        what,
        ...(token ? {token} : {}),
        ...(instead ? {instead} : {})
      });
      progress.begin();
      picture.element.classList.add("stale");
      const answer = await answering;
      if (!answer) return;
      progress.end();
      picture.element.classList.remove("stale");
      note.textContent = answer.failure ?? (state.off ? strings.withAllHeads : "");
      patched = answer.result ? new PatchedText(answer.result, trace) : null;
      draw();
    },
  };
}
