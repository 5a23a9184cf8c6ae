// One query step by step: its dot product with every key, what the head does to it, softmax, and the values
// that it mixes.
//
//   scores = q K^T / sqrt(d),   weights = softmax(scores + mask),   output = sum of weight_j v_j
//
// Some models cap the scores or add a bias for positions, and some do not divide them; a step has a column
// where the head has it.
//
// The picture is a table, so that it reads the same without eyes.

import {element, fadeEdges, select} from "../page/dom.js";
import {scoreSteps} from "../picture/packed.js";
import {largestOf, strip} from "../picture/vectors.js";
import {strings} from "../strings.js";


/// Everything about one row of a head.
/**
 * @param {Trace} trace @param {Stack} stack @param {number} layer @param {number} head @param {number} query
 */
export function explainQuery(trace, stack, layer, head, query) {
  const detail = trace.detail(stack, layer, head);
  const matrix = trace.matrix(stack, layer, head);
  if (!detail || !matrix) return null;
  const {width} = detail;
  /** @param {Float32Array} vectors @param {number} n */
  const row = (vectors, n) => vectors.subarray(n * width, (n + 1) * width);
  const output = new Float32Array(width);
  for (let key = 0; key < matrix.keys; ++key) {
    row(detail.value, key).forEach((number, n) => {
      output[n] += matrix.at(query, key) * number;
    });
  }
  const square = output.reduce((sum, number) => sum + number * number, 0) || 1;
  const keys = Array.from({length: matrix.keys}, (_, key) => {
    const value = row(detail.value, key), weight = matrix.at(query, key);
    const shared = value.map((number) => weight * number);
    return {
      key: row(detail.key, key),
      value,
      weight,
      ...scoreSteps(detail, query * matrix.keys + key),
      shared,
      contribution: shared.reduce((sum, number, n) => sum + number * output[n], 0) / square,
    };
  });
  return {
    width,
    scale: detail.scale,
    cap: detail.cap,
    hasBias: detail.bias !== null,
    hasMask: detail.hidden !== null,
    query: row(detail.query, query),
    keys,
    output
  };
}

/** @typedef {NonNullable<ReturnType<typeof explainQuery>>} Steps */

/// The columns from q k^T to the softmax: a name, a text for each key, and help where it needs any.
/** @param {Steps} steps */
export function scoreColumns({scale, cap, hasBias, hasMask}) {
  const names = strings.steps;
  /** @typedef {Steps["keys"][number]} Key */
  /** @type {{name: string, text: (key: Key) => string, help?: string}[]} */
  const columns = [{name: names.product, text: (key) => key.product.toFixed(scale < 0.5 ? 1 : 2)}];
  if (scale !== 1) columns.push({name: names.scaled(scale), text: (key) => key.scaled.toFixed(2)});
  if (cap !== 0)
    columns.push({name: names.capped(cap), text: (key) => key.capped.toFixed(2), help: strings.capHelp(cap)});
  if (hasBias)
    columns.push({name: names.biased, text: (key) => key.biased.toFixed(2), help: strings.biasHelp});
  if (hasMask) {
    columns.push({
      name: names.masked,
      text: ({masked}) => Number.isFinite(masked) ? masked.toFixed(2) : "−∞",
      help: strings.maskHelp
    });
  }
  return columns;
}

/// A share from 0 to 1 as a bar, with a text.
/** @param {number} share @param {string} text */
function bar(share, text) {
  const fill = element("span", {class: "bar-fill"});
  fill.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  return element(
      "span", {class: "bar"}, element("span", {class: "bar-track"}, fill),
      element("span", {class: "bar-text"}, text));
}

/// The steps of a query as a table, and its rows, one for each key.
/**
 * @param {App} app @param {Steps} steps @param {Head} place
 * @param {number} query
 */
export function queryTable(app, steps, place, query) {
  const trace = app.shown(), colours = app.colours(), labels = trace.queryLabels(place.stack);
  const mostKey = largestOf(steps.keys.flatMap((each) => [...each.key]));
  const mostValue = largestOf(steps.keys.flatMap((each) => [...each.value]));
  const names = strings.steps, scores = scoreColumns(steps);
  const rows = steps.keys.map(
      (each, key) => element(
          "tr", {
            class: Number.isFinite(each.masked) ? null : "hidden-key",
            onpointerenter: () => app.marks.hover(trace.keySpot(place.stack, key)),
            onpointerleave: () => app.marks.hover(null),
          },
          element("th", {scope: "row"}, trace.keyLabels(place.stack)[key].text),
          element("td", {}, strip(each.key, mostKey, colours)),
          scores.map(({text}) => element("td", {class: "number"}, text(each))),
          element("td", {}, bar(each.weight, each.weight.toFixed(3))),
          element("td", {}, strip(each.value, mostValue, colours)),
          element("td", {}, strip(each.shared, mostValue, colours)),
          element(
              "td", {},
              bar(each.contribution, `${(100 * each.contribution).toFixed(1).replace("-0.0", "0.0")} %`))));
  /** @type {{name: string, help?: string, class?: string}[]} */
  const columns = [
    {name: names.key}, {name: names.vector}, ...scores.map((column) => ({...column, class: "number"})),
    {name: names.weight}, {name: names.value}, {name: names.share},
    {name: names.contribution, help: strings.contributionHelp}
  ];
  const behind = String(columns.length - 1);
  const table = element(
      "table", {class: "steps"},
      element("caption", {}, strings.headName(place.stack, place.layer, place.head)),
      element(
          "thead", {},
          element(
              "tr", {class: "vector"}, element("th", {scope: "row"}, "q"),
              element(
                  "td", {colspan: behind}, strip(steps.query, largestOf(steps.query), colours, 18),
                  element("span", {class: "note"}, strings.queryVector(labels[query].text, steps.width)))),
          element(
              "tr", {},
              columns.map(
                  (column) => element(
                      "th", {scope: "col", class: column.class ?? null, title: column.help ?? null},
                      column.name)))),
      element("tbody", {}, rows),
      element(
          "tfoot", {},
          element(
              "tr", {class: "vector"}, element("th", {scope: "row"}, "Σ"),
              element(
                  "td", {colspan: behind}, strip(steps.output, largestOf(steps.output), colours, 18),
                  element("span", {class: "note"}, strings.outputVector)))));
  return {table, rows};
}

/** @param {App} app */
export function createOneQuery(app) {
  const queryBox = select(
      strings.queryChoice,
      (value) =>
          app.pin({side: app.place().stack === "encoder" ? "source" : "target", index: Number(value)}));
  const body = fadeEdges(element("div", {class: "scroll steps"}));
  /** @type {HTMLElement[]} */
  let rows = [];
  /** @type {Place | null} */
  let here = null;
  let query = 0;

  /// The query of the pinned token; the first one where none is pinned, or one that this trace lacks.
  /** @param {Stack} stack */
  const pinnedQuery = (stack) => {
    const trace = app.shown(), pinned = trace.queryAt(stack, app.pinned());
    return pinned >= 0 && pinned < trace.queryLabels(stack).length ? pinned : 0;
  };

  const mark = () => {
    const trace = app.shown(), spot = app.marks.get();
    if (!here) return;
    const key = trace.keyAt(here.stack, spot?.other ?? spot);
    rows.forEach((row, n) => row.classList.toggle("marked", n === key));
    if (pinnedQuery(here.stack) !== query) update();
  };

  const update = () => {
    const state = app.store.get();
    const place = here = app.place();
    if (state.words) return app.store.set({words: false}, true);
    const trace = app.shown();
    const labels = trace.queryLabels(place.stack);
    query = pinnedQuery(place.stack);
    queryBox.show(labels.map((label, n) => [String(n), `${n + 1}  ${label.text}`]), String(query));
    const steps = explainQuery(trace, place.stack, place.layer, place.head, query);
    if (!steps) {
      body.replaceChildren(element("p", {class: "needs"}, strings.noDetail));
      rows = [];
      return;
    }
    const {table, rows: made} = queryTable(app, steps, place, query);
    rows = made;
    body.replaceChildren(table);
    mark();
  };

  return {
    element: element("div", {}, element("div", {class: "row"}, queryBox.element), body),
    picture: null,
    mark,
    update,
  };
}
