// The whole model: from characters to tokens, to vectors, through each sub-layer of each layer, to logits,
// temperature and the word that is written. Each part opens; closed ones are one line.

import {createQuestion, lens, readingOf} from "../../connection/api.js";
import {element} from "../../page/dom.js";
import {kindOf} from "../../page/outcome.js";
import {tokenLabels} from "../../picture/labels.js";
import {numberTable} from "../../picture/picture.js";
import {largestOf, strip} from "../../picture/vectors.js";
import {writeSpot} from "../../state.js";
import {strings} from "../../strings.js";
import {explainQuery, queryTable} from "../one_query.js";
import {createTemperature, kTemperatures, reshape} from "../temperature.js";
import {usualToken} from "../why.js";

import {createFolds, setChildren} from "./folds.js";

const kLikeliest = 8, kKeys = 3;
const names = strings.wholeModel;

/** @param {number[]} vector */
function normOf(vector) { return Math.sqrt(vector.reduce((sum, each) => sum + each * each, 0)); }

/// a + sign b
/** @param {number[]} a @param {number[]} b */
function sumOf(a, b, sign = 1) { return a.map((each, n) => each + sign * b[n]); }

/// Whether two vectors are the same up to rounding.
/** @param {number[]} a @param {number[]} b */
function isSame(a, b) { return normOf(sumOf(a, b, -1)) <= 1e-4 * Math.max(normOf(a), normOf(b)); }

/// Lines of [what it is, vector, hint].
/** @param {App} app @param {[string, number[], string?][]} lines */
function vectorLines(app, lines) {
  return element(
      "dl", {class: "vectors"},
      ...lines.filter(([, vector]) => vector.length > 0)
          .flatMap(
              ([name, vector, hint]) =>
                  [element("dt", {title: hint ?? null}, name),
                   element(
                       "dd", {}, strip(vector, largestOf(vector), app.colours(), 16),
                       element("span", {class: "some-numbers"}, names.numbers(vector)),
                       element("span", {class: "note"}, names.size(normOf(vector), vector.length)))]));
}

/// One token of one stack on its way.
class Way {
  /** @param {LensJson} json @param {LensStack} stack @param {Trace} trace */
  constructor(json, stack, trace) {
    this.stack = stack;
    this.trace = trace;
    this.states = json.states[stack];
    this.parts = /** @type {LensPartsJson} */ (json.parts?.[stack]);
    this.index = this.parts.position - 1;
    this.tokens = json.tokens[stack];
    this.labels = tokenLabels(this.tokens);
    if (stack === "decoder" && trace.sourceTokens.length > 0 && this.labels[0]?.special)
      this.labels[0].text = strings.startToken;
    this.expected = json.expected_tokens[this.index] ?? null;
  }

  get label() { return this.labels[this.index].text; }

  /// What attention of a state is of the trace: null for other sub-layers.
  /** @param {LensStateJson} state @returns {Stack | null} */
  attentionOf(state) {
    // The decoder of a recurrent network attends within its recurrence.
    const crosses =
        state.part === "cross-attention" || (state.part === "recurrence" && this.stack === "decoder");
    const stack = crosses ? "cross" : state.part === "self-attention" ? this.stack : null;
    return stack && this.trace.layers(stack) >= state.layer ? stack : null;
  }

  /// The keys with the largest weights: of a head, or of the mean.
  /** @param {Stack} stack @param {number} layer @param {number} head */
  keys(stack, layer, head) {
    const matrix = this.trace.matrix(stack, layer, head);
    if (!matrix || this.index >= matrix.queries) return [];
    return this.trace.keyLabels(stack)
        .map(({text}, key) => ({text, weight: matrix.at(this.index, key)}))
        .sort((a, b) => b.weight - a.weight)
        .slice(0, kKeys);
  }

  /// The likeliest token after a state, in words; empty where none is predicted.
  /** @param {LensStateJson} state */
  saying(state) {
    const best = state.predictions?.[this.index]?.[0];
    return best ? strings.tokenShare(tokenLabels([best.token])[0].text, best.probability) : "";
  }

  /// A sub-layer in a line.
  /** @param {number} n of its state */
  line(n) {
    const state = this.states[n], stack = this.attentionOf(state), says = this.saying(state);
    const keys = stack ? this.keys(stack, state.layer, 0) : [], added = state.added_norms?.[this.index];
    return [
      keys.length ? names.looks(keys) : "", added === undefined ? "" : names.adds(added),
      says ? names.says(says) : ""
    ].filter((each) => each)
        .join("; ");
  }
}

/** @param {App} app @returns {View} */
export function createWholeModel(app) {
  const question = createQuestion(lens), fold = createFolds(app);
  const note = element("p", {class: "note-line"}), shown = element("p", {class: "note-line"});
  const body = element("div", {class: "whole-model"});
  const temperature = createTemperature(app, strings.temperature);
  const logits = element("div", {class: "scroll"}), lastVector = element("div", {});
  const output =
      [lastVector, element("p", {class: "note-line"}, names.logitsLead), temperature.element, logits];
  /** @type {LensJson | null} */
  let found = null;
  let shownStep = 0;

  /// Scrolls to what a step of the tour is about, once: the innermost part that it opens.
  const showStep = () => {
    const {tour, open} = app.store.get();
    if (tour === shownStep) return;
    shownStep = tour;
    const part = open.split(",").pop();
    if (tour > 0 && part)
      body.querySelector(`[data-part="${CSS.escape(part)}"]`)?.scrollIntoView({block: "nearest"});
  };

  /// Which tokens are followed, from 0; -1 in a stack that the model does not have.
  const places = () => {
    const trace = app.trace(), pinned = app.pinned(), kind = kindOf(trace);
    const decodes = kind === "translation" || kind === "text";
    const target = kind === "text" ? trace.decoderTokens.length - 1 : usualToken(trace);
    const decoder = !decodes      ? -1 :
        pinned?.side === "target" ? Math.min(pinned.index, trace.decoderTokens.length - 1) :
                                    target;
    if (kind === "text") return {encoder: -1, decoder};
    if (pinned?.side === "source")
      return {encoder: Math.min(pinned.index, trace.sourceTokens.length - 1), decoder};
    const cross = trace.layers("cross") > 0 ? trace.matrix("cross", trace.defaultLayer("cross"), 0) : null;
    if (!cross || decoder < 0) return {encoder: 0, decoder};
    const weights = Array.from({length: cross.keys}, (_, key) => cross.at(decoder, key));
    return {encoder: weights.indexOf(Math.max(...weights)), decoder};
  };

  /** @param {Way} way @param {string} text */
  const inputPart = (way, text) => fold(
      `${way.stack}.input`, names.input[way.stack], names.inputLine([...text].length, way.tokens.length),
      () =>
          [element("p", {class: "whole-text"}, text),
           numberTable(
               "", [names.columns.token, names.columns.id, names.columns.characters],
               way.tokens.map((token, n) => [way.labels[n].text, String(way.parts.ids[n]), token]))]);

  /** @param {Way} way */
  const embeddingPart = (way) => {
    const {embedding, ids, states} = way.parts, first = states[0].vector;
    const known = embedding.length === first.length;
    return fold(
        `${way.stack}.0`, names.embedding,
        names.embeddingLine(way.label, ids[way.index], first.length, way.index + 1),
        () => [vectorLines(app, [
          [names.steps.embedding, embedding],
          [names.steps.position, known ? sumOf(first, embedding, -1) : [], names.positionHelp],
          [known ? names.steps.input : names.steps.state, first]
        ])]);
  };

  /// The heads of an attention: queries, keys, values, weights, and what they mix.
  /** @param {Way} way @param {number} n @param {Stack} stack */
  const headParts = (way, n, stack) => {
    const {layer, part} = way.states[n], spot = way.trace.querySpot(stack, way.index);
    return Array.from({length: way.trace.heads(stack, layer)}, (_, at) => {
      const head = at + 1;
      return fold(
          `${way.stack}.${layer}.${part}.${head}`, `${strings.headLabel} ${head}`,
          names.looks(way.keys(stack, layer, head)), () => {
            const steps = explainQuery(way.trace, stack, layer, head, way.index);
            if (!steps) return [element("p", {class: "needs"}, strings.noDetail)];
            const view = {view: "query", stack, layer, head, token: writeSpot(spot)};
            return [
              element(
                  "div", {class: "scroll steps"},
                  queryTable(app, steps, {stack, layer, head}, way.index).table),
              element("button", {type: "button", onclick: () => app.store.set(view)}, names.queryButton)
            ];
          });
    });
  };

  /** @param {Way} way @param {number} n of the state after it */
  const subLayerPart = (way, n) => {
    const {layer, part} = way.states[n], stack = way.attentionOf(way.states[n]);
    const title = part === "feed-forward" ? names.feedForward :
        part === "recurrence"             ? names.recurrence :
                                            names.attention[part === "cross-attention" ? "cross" : way.stack];
    return fold(`${way.stack}.${layer}.${part}`, title, way.line(n), () => {
      const before = way.parts.states[n - 1].vector, {vector, heads, added} = way.parts.states[n];
      const sum = added?.length === before.length ? sumOf(before, added) : [];
      const residual = sum.length > 0 && isSame(sum, vector);
      return [
        ...(part === "feed-forward" ? [element("p", {class: "note-line"}, names.feedForwardHelp)] : []),
        vectorLines(app, [[names.steps.reads, before]]), ...(stack ? headParts(way, n, stack) : []),
        vectorLines(
            app,
            [
              [names.steps.heads, heads ?? []],
              [
                heads?.length ? names.steps.projected : names.steps.added, added ?? [],
                heads ? names.projectionHelp : undefined
              ],
              [names.steps.sum, sum],
              [sum.length ? names.steps.normed : names.steps.state, residual ? [] : vector]
            ])
      ];
    });
  };

  /** @param {Way} way */
  const layerParts = (way) => {
    const layers = Math.max(...way.states.map((state) => state.layer));
    return Array.from({length: layers}, (_, at) => {
      const layer = at + 1;
      const own = way.states.flatMap(
          (state, n) =>
              state.layer === layer && state.part !== "output" && state.part !== "embedding" ? [n] : []);
      const last = way.states[own[own.length - 1]];
      const line = way.saying(last) || strings.vectorNorm(last.norms[way.index]);
      return fold(
          `${way.stack}.${layer}`, names.layer(way.stack, layer), line,
          () => own.map((n) => subLayerPart(way, n)));
    });
  };

  /** @param {Way} way */
  const outputPart = (way) => {
    const n = way.states.length - 1, state = way.states[n], best = state.predictions?.[way.index];
    const last = way.parts.states[n], {target} = way.trace;
    if (!best) {
      return fold(
          "output", names.output, target ? names.classLine(target) : names.vectorLine,
          () => [vectorLines(app, [[names.steps.last, last.vector]])]);
    }
    const written = way.expected;
    const chosen = best.find((each) => each.token === written) ?? best[0];
    const line = names.outputLine(tokenLabels([chosen.token])[0].text, strings.percent(chosen.probability));
    return fold("output", names.output, line, () => {
      const reshaped = reshape(
          Object.fromEntries(best.map((each) => [each.token, Math.log(each.probability)])),
          way.parts.log_sums ?? [], {temperature: app.store.get().temperature, top: 1});
      const rows = reshaped.map(({token, probability}) => {
        const original = best.find((each) => each.token === token);
        const fill = element("span", {class: "bar-fill"});
        fill.style.width = `${100 * probability}%`;
        const text = token === null ? strings.otherTokens : tokenLabels([token])[0].text;
        return [
          token !== null && token === written ? element("strong", {}, `${text} (${names.written})`) : text,
          original && last.log_sum !== undefined ?
              strings.decimal(Math.log(original.probability) + last.log_sum, 2) :
              "",
          original ? strings.percent(original.probability) : "",
          element(
              "span", {class: "bar"}, element("span", {class: "bar-track"}, fill),
              element("span", {class: "bar-text"}, strings.percent(probability)))
        ];
      });
      temperature.update();
      lastVector.replaceChildren(vectorLines(app, [[names.steps.last, last.vector]]));
      logits.replaceChildren(numberTable("", names.logitColumns, rows));
      return output;
    });
  };

  const draw = () => {
    app.pictureChanged();
    body.hidden = !found;
    if (!found) return;
    const json = found, trace = app.trace();
    /** @param {LensStack} stack */
    const wayOf = (stack) => json.parts?.[stack] ? new Way(json, stack, trace) : null;
    const encoder = wayOf("encoder"), decoder = wayOf("decoder"), last = decoder ?? encoder;
    const written = last?.expected ? tokenLabels([last.expected])[0].text : "";
    shown.textContent = names.shown(encoder?.label ?? "", decoder?.label ?? "", written);
    setChildren(body, [
      ...(encoder ? [inputPart(encoder, json.source), embeddingPart(encoder), ...layerParts(encoder)] : []),
      ...(decoder ?
              [
                inputPart(decoder, encoder ? json.target : json.source), embeddingPart(decoder),
                ...layerParts(decoder)
              ] :
              []),
      ...(last ? [outputPart(last)] : [])
    ]);
    showStep();
  };

  return {
    element: element("div", {}, note, shown, body),
    picture: null,
    mark() {},
    leave: () => question.drop(),
    takeaway: () => ({
      name: "model",
      json: found && JSON.stringify(found, null, 1),
      csv: found && vectorsCsv(found),
      command: "lens",
      options: ["--details"],
      extension: "json"
    }),
    async update() {
      const state = app.store.get();
      if (app.file) return note.replaceChildren(app.needsModel());
      if (state.words) return app.store.set({words: false}, true);
      const {encoder, decoder} = places();
      const answer = await question.ask({
        ...readingOf(state, app.trace()),
        top: kLikeliest,
        temperatures: kTemperatures,
        ...(encoder >= 0 ? {encoder_position: encoder + 1} : {}),
        ...(decoder >= 0 ? {decoder_position: decoder + 1} : {})
      });
      if (!answer) return;
      note.textContent = answer.failure ?? (state.off ? strings.nextWithAllHeads : "");
      found = answer.result ?? null;
      draw();
    },
  };
}

/// One line for each number of the vectors.
/** @param {LensJson} json */
function vectorsCsv(json) {
  /** @type {string[]} */
  const lines = ["stack,layer,part,vector,index,value"];
  for (const stack of /** @type {LensStack[]} */ (["encoder", "decoder"])) {
    const parts = json.parts?.[stack];
    if (!parts) continue;
    parts.embedding.forEach((value, n) => lines.push(`${stack},0,tokens,embedding,${n + 1},${value}`));
    parts.states.forEach(({vector, heads, added}, at) => {
      const {layer, part} = json.states[stack][at];
      for (const [name, values] of /** @type {[string, number[]][]} */ (
               [["heads", heads ?? []], ["added", added ?? []], ["vector", vector]]))
        values.forEach((value, n) => lines.push(`${stack},${layer},${part},${name},${n + 1},${value}`));
    });
  }
  return lines.join("\n") + "\n";
}
