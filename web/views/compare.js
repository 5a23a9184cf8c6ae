// Two traces side by side at the same stack, layer and head, and their difference where they have the same
// tokens.

import {createQuestion, languagesOf, modelOf, trace, tracingOf} from "../connection/api.js";
import {element, select, showValue} from "../page/dom.js";
import {otherExample} from "../page/examples.js";
import {parseColour} from "../picture/colours.js";
import {createPicture, numberTable} from "../picture/picture.js";
import {Scene, shorten} from "../picture/scene.js";
import {Trace} from "../picture/trace.js";
import {parseHeads} from "../state.js";
import {strings} from "../strings.js";

import {addMap, layOutMap, markMap} from "./one_head.js";

const kGap = 36, kHeading = 54;

/// state.other: "text:another sentence", "model:NAME", "target:another translation", "precision:int8" or, in
/// a file, "sentence:2". Where nothing is chosen: the next sentence of the file, or an example.
/** @param {App} app */
function otherOf(app) {
  const state = app.store.get(), colon = state.other.indexOf(":");
  if (colon >= 0) return {kind: state.other.slice(0, colon), value: state.other.slice(colon + 1)};
  if (!app.file) return {kind: "text", value: otherExample(state)};
  return app.file.traces.length > 1 ? {kind: "sentence", value: otherSentence(state)} : {kind: "", value: ""};
}

/// The request for the other trace: with the same heads switched off, but for another model, which has
/// others.
/** @param {State} state @param {string} kind @param {string} value */
function otherBody(state, kind, value) {
  const asking = kind === "text" ? {...state, text: value} :
      kind === "model"           ? {...state, model: value, pair: "", ...languagesOf(state)} :
      kind === "precision"       ? {...state, precision: value} :
                                   state;
  return tracingOf(asking, {
    ...(kind === "target" ? {target: value} : {}),
    ...(state.off && kind !== "model" ? {ablate: parseHeads(state.off)} : {})
  });
}

/// The first sentence of a file that is not shown.
/** @param {State} state */
function otherSentence(state) { return state.sentence === 1 ? "2" : "1"; }

/// A sentence of a file, counted from 1; where there is no such, the nearest or the first one.
/** @param {TraceFile} file @param {number} number */
function sentenceOf({traces}, number) {
  const at = Math.min(traces.length, Math.max(1, Math.trunc(number) || 1));
  return Trace.fromJson(traces[at - 1]);
}

/** @param {App} app */
export function createCompare(app) {
  const question = createQuestion(trace);
  const kind = select(strings.other, (value) => {
    const first = value === "sentence" ? otherSentence(app.store.get()) :
        value === "model"              ? app.models()[0]?.id ?? "" :
        value === "target"             ? app.trace().target :
        value === "precision"          ? otherPrecision(app.store.get()) :
                                         otherExample(app.store.get());
    app.store.set({other: `${value}:${first}`});
  });
  /// The precision that is shown, and one that is not.
  /** @param {State} state */
  const ownPrecision = (state) => state.precision || (modelOf(state)?.precisions[0] ?? "");
  /** @param {State} state */
  const otherPrecision = (state) =>
      modelOf(state)?.precisions.find((each) => each !== ownPrecision(state)) ?? ownPrecision(state);
  const text = element("input", {
    type: "text",
    class: "wide",
    "aria-label": strings.other,
    onchange: () => {
      app.store.set({other: `${otherOf(app).kind}:${text.value}`});
    }
  });
  const choice = select(
      "", (value) => app.store.set({other: `${otherOf(app).kind}:${value}`}), {"aria-label": strings.other});
  const note = element("p", {class: "note-line"});
  const picture = createPicture({});
  /** @type {Trace | null} */
  let other = null;
  /** @type {ComparedMap[]} */
  let maps = [];  // what is drawn

  /// A token is marked in the second map too if that has the same token, or one to compare it with.
  const mark = () => {
    const spot = app.marks.get(), {stack} = app.place(), [first] = maps;
    if (!picture.scene || !first) return;
    const scene = new Scene(picture.scene.width, picture.scene.height), colours = app.colours();
    const query = first.trace.queryAt(stack, spot);
    const key = stack === "encoder" && !spot?.other && query >= 0 ?
        -1 :
        first.trace.keyAt(stack, spot?.other ?? spot);
    for (const {trace, matrix, layout, x, y, comparable} of maps) {
      /** @param {(of: Trace) => Label[]} labels @param {number} at */
      const same = (labels, at) =>
          comparable || labels(trace)[at]?.text === labels(first.trace)[at]?.text ? at : -1;
      markMap(
          scene, layout, x, y, same((each) => each.queryLabels(stack), query),
          same((each) => each.keyLabels(stack), key), matrix, colours);
    }
    picture.mark(scene);
  };

  const draw = () => {
    const state = app.store.get(), first = app.shown(),
          second = other && (state.words ? other.words() : other);
    const {stack, layer, head} = app.place();
    const one = first.matrix(stack, layer, head);
    // A model that has fewer layers is compared by its last one, one that has fewer heads by their mean.
    const layers = second?.layers(stack) ?? 0, otherLayer = Math.min(layer, layers);
    const two = second && layers > 0 ?
        second.matrix(stack, otherLayer, second.heads(stack, otherLayer) >= head ? head : 0) :
        null;
    if (!one) return;
    note.textContent = "";
    const colours = app.colours();
    /** @param {Trace} trace @param {Matrix} matrix @returns {[string, string, number, number][]} */
    const cells = (trace, {queries, keys}) => Array.from({length: queries * keys}, (_, n) => {
      const q = Math.floor(n / keys), k = n % keys;
      return [trace.queryLabels(stack)[q].text, trace.keyLabels(stack)[k].text, q, k];
    });
    /** @param {Trace} trace */
    const tokens = (trace) => JSON.stringify([trace.queryLabels(stack), trace.keyLabels(stack)]);
    const comparable = two !== null && two.queries === one.queries && two.keys === one.keys;
    const beside = picture.room() > 900;
    const columns = beside ? (comparable ? 3 : 2) : 1;
    const width = (picture.room() - kGap * (columns - 1)) / columns;
    const {kind: which, value: wanted} = otherOf(app);
    /** @param {Trace} trace @param {string} precision */
    const named = (trace, precision) => which === "precision" ? `${trace.model} ${precision}` : trace.model;
    /** @type {{trace: Trace, matrix: Matrix, parts: CellColour, title: string}[]} */
    const panels = [{
      trace: first,
      matrix: one,
      parts: (q, k) => colours.weightParts(one.at(q, k)),
      title: `${named(first, ownPrecision(state))}: ${first.target}`
    }];
    if (second && two)
      panels.push({
        trace: second,
        matrix: two,
        parts: (q, k) => colours.weightParts(two.at(q, k)),
        title: `${named(second, wanted)}: ${second.target}`
      });
    if (two && comparable) {
      const most = one.weights.reduce((so, weight, n) => Math.max(so, Math.abs(two.weights[n] - weight)), 0);
      /** @param {number} value */
      const signed = (value) => parseColour(colours.signed(value, Math.max(most, 0.001)));
      panels.push({
        trace: first,
        matrix: one,
        parts: (q, k) => signed(two.at(q, k) - one.at(q, k)),
        title: strings.differenceMap(most)
      });
    }
    const layouts =
        panels.map(({trace}) => layOutMap(trace.queryLabels(stack), trace.keyLabels(stack), width));
    const height = beside ? Math.max(...layouts.map((each) => each.height)) + kHeading :
                            layouts.reduce((sum, each) => sum + each.height + kHeading, 0);
    const scene = new Scene(picture.room(), height);
    let y = 0;
    maps = [];
    panels.forEach(({trace, matrix, parts, title}, n) => {
      const x = beside ? n * (width + kGap) : 0;
      scene.text(x, y + 16, shorten(title, 13, width - 4), {size: 13, fill: colours.ink});
      // Maps are drawn from their own top: a scene of their own, moved below the heading.
      const own = new Scene(width, layouts[n].height);
      addMap(own, layouts[n], 0, trace.queryLabels(stack), trace.keyLabels(stack), parts, colours);
      scene.add(own, x, y + kHeading - 18);
      maps.push({trace, matrix, layout: layouts[n], x, y: y + kHeading - 18, comparable});
      if (!beside) y += layouts[n].height + kHeading;
    });
    picture.show(
        scene, app.describePicture(strings.views.compare),
        () => two && comparable ?
            numberTable(
                strings.views.compare,
                [strings.query, strings.key, first.model, second?.model ?? "", strings.differenceColumn],
                cells(first, one)
                    .map(
                        ([query, key, q, k]) =>
                            [query, key, one.at(q, k).toFixed(3), two.at(q, k).toFixed(3),
                             (two.at(q, k) - one.at(q, k)).toFixed(3)])) :
            numberTable(
                strings.views.compare, [strings.target, strings.query, strings.key, strings.weight],
                maps.flatMap(
                    ({trace, matrix}) =>
                        cells(trace, matrix)
                            .map(([query, key, q,
                                   k]) => [trace.target, query, key, matrix.at(q, k).toFixed(3)]))));
    mark();
    if (!second || !two) return;
    const scores =
        first.score !== null && second.score !== null ? strings.scores(first.score, second.score) : "";
    note.textContent = [
      !comparable                          ? strings.notComparable :
          tokens(first) !== tokens(second) ? strings.comparedByPlace :
                                             scores,
      state.off && which === "model" ? strings.otherWithAllHeads : ""
    ].join(" ").trim();
  };

  return {
    element: element(
        "div", {}, element("div", {class: "row above"}, kind.element, text, choice.element), note,
        picture.element),
    picture,
    mark,
    leave: () => question.drop(),
    async update() {
      const state = app.store.get(), {kind: which, value} = otherOf(app);
      /** @type {[string, string][]} */
      const kinds = app.file ? (app.file.traces.length > 1 ? [["sentence", strings.otherText]] : []) : [
        ["text", strings.otherText], ["target", strings.otherTarget], ["model", strings.otherModel],
        ["precision", strings.otherPrecision]
      ];
      kind.show(kinds, which);
      text.hidden = !["text", "target"].includes(which);
      choice.element.hidden = !["model", "sentence", "precision"].includes(which);
      showValue(text, value);
      if (which === "model")
        choice.show(app.models().map((model) => [model.id, strings.modelName(model)]), value);
      if (which === "precision")
        choice.show((modelOf(state)?.precisions ?? [value]).map((each) => [each, each]), value);
      if (which === "sentence" && app.file)
        choice.show(app.file.traces.map((trace, n) => [String(n + 1), trace.source || trace.target]), value);
      if (which === "sentence" && app.file) other = sentenceOf(app.file, Number(value));
      if (!value) other = null;
      const isAsked = !app.file && which !== "" && value !== "";
      const answering = isAsked ? question.ask(otherBody(state, which, value)) : null;
      draw();
      if (app.file && kinds.length === 0) note.replaceChildren(app.needsModel());
      if (!isAsked) return question.drop();
      const answer = await answering;
      if (!answer || answer.result === other) return;
      other = answer.result ?? null;
      draw();
      if (answer.failure) note.textContent = answer.failure;
    },
  };
}
