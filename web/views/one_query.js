// One query step by step: its dot product with every key, scaled, masked, softmax, and the values that it
// mixes.
//
//   scores = q K^T / sqrt(d),   weights = softmax(scores + mask),   output = sum of weight_j v_j
//
// The picture is a table, so that it reads the same without eyes.

import {element, fadeEdges, select} from "../page/dom.js";
import {dot} from "../picture/packed.js";
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
    const score = detail.scores[query * matrix.keys + key];
    const shared = value.map((number) => weight * number);
    return {
      key: row(detail.key, key),
      value,
      weight,
      scaled: score,
      product: score / detail.scale,
      plain: dot(detail, query, key),
      hidden: stack === "decoder" && key > query,
      shared,
      contribution: shared.reduce((sum, number, n) => sum + number * output[n], 0) / square,
    };
  });
  return {width, scale: detail.scale, query: row(detail.query, query), keys, output};
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
 * @param {App} app @param {NonNullable<ReturnType<typeof explainQuery>>} steps @param {Place} place
 * @param {number} query
 */
export function queryTable(app, steps, place, query) {
  const trace = app.shown(), colours = app.colours(), labels = trace.queryLabels(place.stack);
  const mostKey = largestOf(steps.keys.flatMap((each) => [...each.key]));
  const mostValue = largestOf(steps.keys.flatMap((each) => [...each.value]));
  const names = strings.steps;
  const rows = steps.keys.map(
      (each, key) => element(
          "tr", {
            class: each.hidden ? "hidden-key" : null,
            onpointerenter: () => app.marks.hover(trace.keySpot(place.stack, key)),
            onpointerleave: () => app.marks.hover(null),
          },
          element("th", {scope: "row"}, trace.keyLabels(place.stack)[key].text),
          element("td", {}, strip(each.key, mostKey, colours)),
          element("td", {class: "number"}, each.product.toFixed(1)),
          element("td", {class: "number"}, each.scaled.toFixed(2)),
          element("td", {class: "number"}, each.hidden ? "−∞" : each.scaled.toFixed(2)),
          element("td", {}, bar(each.weight, each.weight.toFixed(3))),
          element("td", {}, strip(each.value, mostValue, colours)),
          element("td", {}, strip(each.shared, mostValue, colours)),
          element(
              "td", {},
              bar(each.contribution, `${(100 * each.contribution).toFixed(1).replace("-0.0", "0.0")} %`))));
  const hasMask = place.stack === "decoder";
  const table = element(
      "table", {class: hasMask ? "steps" : "steps no-mask"},
      element("caption", {}, strings.headName(place.stack, place.layer, place.head)),
      element(
          "thead", {},
          element(
              "tr", {class: "vector"}, element("th", {scope: "row"}, "q"),
              element(
                  "td", {colspan: "8"}, strip(steps.query, largestOf(steps.query), colours, 18),
                  element("span", {class: "note"}, strings.queryVector(labels[query].text, steps.width)))),
          element(
              "tr", {},
              [
                names.key, names.vector, names.product,
                `${names.scaled.replace("√d", `√${Math.round(1 / (steps.scale * steps.scale))}`)}`,
                names.masked, names.weight, names.value, names.share, names.contribution
              ]
                  .map(
                      (name, n) => element(
                          "th", {
                            scope: "col",
                            class: n >= 2 && n <= 4 ? "number" : null,
                            title: n === 8 ? strings.contributionHelp : null
                          },
                          name)))),
      element("tbody", {}, rows),
      element(
          "tfoot", {},
          element(
              "tr", {class: "vector"}, element("th", {scope: "row"}, "Σ"),
              element(
                  "td", {colspan: "8"}, strip(steps.output, largestOf(steps.output), colours, 18),
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

  const mark = () => {
    const trace = app.shown(), spot = app.marks.get();
    if (!here) return;
    const key = trace.keyAt(here.stack, spot?.other ?? spot);
    rows.forEach((row, n) => row.classList.toggle("marked", n === key));
    const next = trace.queryAt(here.stack, app.pinned());
    if (next >= 0 && next !== query) update();
  };

  const update = () => {
    const state = app.store.get();
    const place = here = app.place();
    if (state.words) return app.store.set({words: false}, true);
    const trace = app.shown();
    const head = place.head || 1;
    const labels = trace.queryLabels(place.stack);
    query = trace.queryAt(place.stack, app.pinned());
    if (query < 0 || query >= labels.length) query = 0;
    queryBox.show(labels.map((label, n) => [String(n), `${n + 1}  ${label.text}`]), String(query));
    const steps = explainQuery(trace, place.stack, place.layer, head, query);
    if (!steps) {
      body.replaceChildren(element("p", {class: "needs"}, strings.noDetail));
      rows = [];
      return;
    }
    const {table, rows: made} = queryTable(app, steps, {...place, head}, query);
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
