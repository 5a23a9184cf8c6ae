// What a model attended to: the numbers of one sentence pair, from the JSON of `heed attend --json` or
// packed.
//
// A stack is "encoder", "cross" or "decoder". `matrix(stack, layer, head)` counts layers and heads from 1;
// head 0 is the mean over the heads of a layer.

import {strings} from "../strings.js";

import {isSpecial, joinWords, tokenLabels, wordIndices} from "./labels.js";
import {detailFromJson, readDetail, readHalves} from "./packed.js";

/** @type {Stack[]} */
export const kStacks = ["encoder", "cross", "decoder"];

/// Weights of one head: `at(query, key)`; each row sums to 1.
export class Matrix {
  /** @param {number} queries @param {number} keys @param {Float32Array} weights row by row */
  constructor(queries, keys, weights) {
    this.queries = queries;
    this.keys = keys;
    this.weights = weights;
  }

  /** @param {number} query @param {number} key */
  at(query, key) { return this.weights[query * this.keys + key]; }
}

/// Sums over the keys of each word, averages over the queries of each word (Clark et al., 2019).
/** @param {Matrix | null} matrix @param {number[]} queryWords @param {number[]} keyWords */
function groupMatrix(matrix, queryWords, keyWords) {
  if (!matrix) return null;
  const queries = queryWords[queryWords.length - 1] + 1, keys = keyWords[keyWords.length - 1] + 1;
  const sums = new Float32Array(queries * keys), counts = new Array(queries).fill(0);
  for (const word of queryWords) ++counts[word];
  for (let query = 0; query < matrix.queries; ++query) {
    for (let key = 0; key < matrix.keys; ++key) {
      const word = queryWords[query];
      sums[word * keys + keyWords[key]] += matrix.at(query, key) / counts[word];
    }
  }
  return new Matrix(queries, keys, sums);
}

/** @param {Matrix[]} matrices */
function meanOf(matrices) {
  const first = matrices[0];
  const mean = new Float32Array(first.weights.length);
  for (const matrix of matrices) {
    for (let n = 0; n < mean.length; ++n) mean[n] += matrix.weights[n] / matrices.length;
  }
  return new Matrix(first.queries, first.keys, mean);
}

/// Of the translation, or of a text: without the token that is predicted after it. Under the model alone,
/// also where the search was constrained.
/** @param {TraceJson} json */
function logProbabilityOf(json) {
  const all = json.log_probabilities;
  if (!all?.length) return json.log_probability ?? json.score ?? null;
  const counted = json.source_tokens.length > 0 ? all : all.slice(0, -1);
  return counted.reduce((sum, each) => sum + each, 0);
}

/// The matrices of a stack, by layer and head.
/** @param {TraceJson} json @param {Stack} stack @param {number} queries @param {number} keys */
function matricesOf(json, stack, queries, keys) {
  const packed = json.packed?.[stack];
  if (packed) {
    return packed.map(
        (layer) => layer.map((head) => head && new Matrix(queries, keys, readHalves(head.weights))));
  }
  /** @param {number[][]} rows */
  const matrixOf = (rows) =>
      rows.length === 0 ? null : new Matrix(queries, keys, Float32Array.from(rows.flat()));
  return (json.attention?.[stack] ?? []).map((layer) => layer.map(matrixOf));
}

/// Vectors of a head and what makes its scores, or null where the JSON has none.
/**
 * @param {TraceJson} json @param {Stack} stack @param {number} layer @param {number} head @param {Matrix |
 *     null} matrix
 */
function detailOf(json, stack, layer, head, matrix) {
  const packed = json.packed?.[stack]?.[layer - 1]?.[head - 1];
  if (packed && matrix) return readDetail(packed, matrix);
  const plain = json.details?.[stack]?.[layer - 1]?.[head - 1];
  return plain ? detailFromJson(plain) : null;
}

/**
 * @typedef TraceFields
 * @property {string} model
 * @property {string} source
 * @property {string} target
 * @property {number | null} score ln P of the target
 * @property {string[]} warnings values that source and target say differently, in words
 * @property {number[] | null} wordConfidence of each word of the target
 * @property {number[] | null} logProbabilities of each target token
 * @property {string[]} sourceTokens
 * @property {string[]} targetTokens what the decoder produces
 * @property {string[]} decoderTokens what it reads
 * @property {Pick<TraceJson, "source_words" | "decoder_words" | "word_pieces">} known the words of tokens,
 *     where their marks do not say them
 * @property {boolean} averaged whether there is one matrix a layer, the mean over its heads
 * @property {boolean} isWords
 * @property {Record<Stack, (Matrix | null)[][]>} stacks by layer and head
 * @property {Record<Stack, (layer: number, head: number) => Detail | null>} details
 */

export class Trace {
  /** @param {TraceFields} fields */
  constructor(fields) {
    this.model = fields.model;
    this.source = fields.source;
    this.target = fields.target;
    this.score = fields.score;
    this.warnings = fields.warnings;
    this.wordConfidence = fields.wordConfidence;
    this.logProbabilities = fields.logProbabilities;
    this.sourceTokens = fields.sourceTokens;
    this.targetTokens = fields.targetTokens;
    this.decoderTokens = fields.decoderTokens;
    this.known = fields.known;
    this.averaged = fields.averaged;
    this.isWords = fields.isWords;
    this.stacks = fields.stacks;
    this.details = fields.details;
    this.sourceLabels = tokenLabels(this.sourceTokens);
    this.readLabels = tokenLabels(this.decoderTokens);
    // The queries of a language model are the tokens that it reads (src/inspect/trace/trace.h).
    this.readsText = this.sourceTokens.length === 0 && this.decoderTokens.length > 0;
    this.targetLabels = tokenLabels(this.targetTokens);
    // Marian's decoder begins with the padding token.
    if (this.sourceTokens.length > 0 && this.readLabels[0]?.special)
      this.readLabels[0].text = strings.startToken;
    /** @type {Map<string, Matrix>} */
    this.means = new Map();
    /** @type {Trace | null} */
    this.grouped = null;  // words()
    /** @type {MeasuredHead[] | null} */
    this.measured = null;  // allHeads()
  }

  /** @param {TraceJson} json */
  static fromJson(json) {
    /** @type {TraceFields} */
    const fields = {
      model: json.model,
      source: json.source,
      target: json.target,
      score: logProbabilityOf(json),
      warnings: json.warnings ?? [],
      wordConfidence: json.word_confidence ?? null,
      logProbabilities: json.log_probabilities ?? null,
      sourceTokens: json.source_tokens,
      targetTokens: json.target_tokens,
      decoderTokens: json.decoder_tokens ?? [],
      known: json,
      averaged: json.heads === "mean",
      isWords: false,
      stacks: {encoder: [], cross: [], decoder: []},
      details: {encoder: () => null, cross: () => null, decoder: () => null},
    };
    for (const stack of kStacks) {
      const queries = (stack === "encoder" ? fields.sourceTokens : fields.targetTokens).length;
      const keys = (stack === "decoder" ? fields.decoderTokens : fields.sourceTokens).length;
      const matrices = fields.stacks[stack] = matricesOf(json, stack, queries, keys);
      fields.details[stack] = (layer, head) =>
          detailOf(json, stack, layer, head, matrices[layer - 1]?.[head - 1] ?? null);
    }
    return new Trace(fields);
  }

  /// The same between words instead of tokens, as group_by_words() in src/inspect/terminal/words.h; the tests
  /// of both read tests/data/word_groups.json.
  words() {
    if (this.isWords) return this;
    if (this.grouped) return this.grouped;
    const source = this.known.source_words ?? wordIndices(this.sourceTokens);
    const target = wordIndices(this.targetTokens);
    const read = this.known.decoder_words ?? wordIndices(this.decoderTokens);
    /** @param {Stack} stack @param {number[]} queries @param {number[]} keys */
    const group = (stack, queries, keys) =>
        this.stacks[stack].map((layer) => layer.map((head) => groupMatrix(head, queries, keys)));
    this.grouped = new Trace({
      ...this,
      isWords: true,
      known: {},
      sourceTokens: joinWords(this.sourceTokens, source, this.known.word_pieces),
      targetTokens: joinWords(this.targetTokens, target),
      decoderTokens: joinWords(this.decoderTokens, read),
      stacks: {
        encoder: group("encoder", source, source),
        cross: group("cross", target, source),
        decoder: group("decoder", this.readsText ? read : target, read)
      },
      details: {encoder: () => null, cross: () => null, decoder: () => null},
    });
    for (const label
             of [...this.grouped.sourceLabels, ...this.grouped.targetLabels, ...this.grouped.readLabels])
      label.begins = true;
    return this.grouped;
  }

  /// The stacks of which anything was recorded.
  get stackNames() {
    return kStacks.filter((stack) => this.stacks[stack].some((layer) => layer.some((head) => head)));
  }

  /** @param {Stack} stack */
  layers(stack) { return this.stacks[stack].length; }

  /** @param {Stack} stack @param {number} layer */
  heads(stack, layer) { return this.stacks[stack][layer - 1]?.length ?? 0; }

  /** @param {Stack} stack @param {number} layer @param {number} head @returns {Matrix | null} */
  matrix(stack, layer, head) {
    const heads = this.stacks[stack][layer - 1] ?? [];
    if (head > 0) return heads[head - 1] ?? null;
    const there = /** @type {Matrix[]} */ (heads.filter((each) => each));
    if (there.length === 0) return null;
    const name = `${stack} ${layer}`, known = this.means.get(name);
    if (known) return known;
    const mean = meanOf(there);
    this.means.set(name, mean);
    return mean;
  }

  /// The same for a head of which something was recorded.
  /** @param {Head} head */
  matrixOf({stack, layer, head}) { return /** @type {Matrix} */ (this.matrix(stack, layer, head)); }

  /// The layer that is shown where none is chosen: the last one of an encoder and of a decoder that
  /// translates. Of cross-attention and of language models the one that points most clearly at words: with
  /// the largest weights on single keys, averaged over queries. Keys that only take what is left over do not
  /// count: the end token in cross-attention, and in a language model the first token and the query's own.
  /// The same rule as default_layer() in src/inspect/trace/trace.h; the tests of both read
  /// tests/data/default_layers.json.
  /** @param {Stack} stack */
  defaultLayer(stack) {
    const layers = this.layers(stack);
    const isText = stack === "decoder" && this.sourceTokens.length === 0;
    if (stack !== "cross" && !isText) return layers;
    /** @param {number} layer */
    const clearness = (layer) => {
      const mean = this.matrix(stack, layer, 0);
      if (!mean) return 0;
      /** @param {number} query @param {number} key */
      const counts = (query, key) => (isText ? key > 0 && key !== query : key + 1 < mean.keys);
      let sum = 0;
      for (let query = 0; query < mean.queries; ++query) {
        let largest = 0;
        for (let key = 0; key < mean.keys; ++key)
          if (counts(query, key)) largest = Math.max(largest, mean.at(query, key));
        sum += largest;
      }
      return sum;
    };
    let best = layers;
    for (let layer = layers - 1; layer >= 1; --layer) {
      if (clearness(layer) > clearness(best)) best = layer;
    }
    return best;
  }

  /// Queries, keys and values of a head, and what makes its scores, or null where the trace has none.
  /** @param {Stack} stack @param {number} layer @param {number} head */
  detail(stack, layer, head) { return this.details[stack](layer, head); }

  /** @param {Stack} stack */
  queryLabels(stack) {
    if (stack === "encoder") return this.sourceLabels;
    return this.readsText ? this.readLabels : this.targetLabels;
  }

  /** @param {Stack} stack */
  keyLabels(stack) { return stack === "decoder" ? this.readLabels : this.sourceLabels; }

  /// How many tokens the keys of the decoder are behind its queries.
  get keysBehind() { return this.readsText ? 0 : 1; }

  /// The place in the sentences that a query or a key is: {side: "source" | "target", index}. The keys of the
  /// decoder are what it had read, one token behind what it produces; the start token is index -1. A language
  /// model has one row of tokens.
  /** @param {Stack} stack @param {number} index @returns {Spot} */
  querySpot(stack, index) { return {side: stack === "encoder" ? "source" : "target", index}; }

  /** @param {Stack} stack @param {number} index @returns {Spot} */
  keySpot(stack, index) {
    return stack === "decoder" ? {side: "target", index: index - this.keysBehind} : {side: "source", index};
  }

  /// The query, or the key, of a stack that a place is; -1 for none.
  /** @param {Stack} stack @param {Spot | null} spot */
  queryAt(stack, spot) {
    return spot && spot.side === this.querySpot(stack, 0).side && spot.index >= 0 ? spot.index : -1;
  }

  /** @param {Stack} stack @param {Spot | null} spot */
  keyAt(stack, spot) {
    if (!spot || spot.side !== this.keySpot(stack, 0).side) return -1;
    return stack === "decoder" ? spot.index + this.keysBehind : spot.index;
  }

  /** @param {Stack} stack @param {number} key */
  tokenIsSpecial(stack, key) {
    return isSpecial((stack === "decoder" ? this.decoderTokens : this.sourceTokens)[key]);
  }

  /** @param {Stack} stack @param {number} key */
  tokenText(stack, key) { return (stack === "decoder" ? this.readLabels : this.sourceLabels)[key].text; }
}
