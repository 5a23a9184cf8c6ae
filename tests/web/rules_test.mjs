// Rules that the explorer's JavaScript and C++ both know, by the cases that both test: run with node.

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";

import {tokenLabels, wordIndices} from "../../web/picture/labels.js";
import {kStacks, Trace} from "../../web/picture/trace.js";

const casesOf = (name) => JSON.parse(readFileSync(new URL(`../data/${name}`, import.meta.url), "utf-8"));

for (const {name, tokens, labels, words} of casesOf("token_labels.json")) {
  test(`token labels: ${name}`, () => {
    assert.deepEqual(tokenLabels(tokens).map((label) => label.text), labels);
    assert.deepEqual(wordIndices(tokens), words);
  });
}

for (const {name, trace, stack, layer} of casesOf("default_layers.json")) {
  test(`default layer: ${name}`, () => assert.equal(Trace.fromJson(trace).defaultLayer(stack), layer + 1));
}

/// The numbers of two lists are within a tolerance of each other.
const assertNear = (found, expected, tolerance) => {
  assert.equal(found.length, expected.length);
  expected.forEach(
      (number, n) => assert.ok(
          Math.abs(found[n] - number) <= tolerance(number), `${n}: ${found[n]} instead of ${number}`));
};

/// The matrices of a trace, by stack, layer and head, are those of the JSON: lists of rows.
const assertMatrices = (trace, attention, tolerance) => {
  for (const stack of kStacks) {
    assert.equal(trace.layers(stack), attention[stack].length);
    attention[stack].forEach((layer, n) => {
      assert.equal(trace.heads(stack, n + 1), layer.length);
      layer.forEach((rows, head) => {
        const matrix = trace.matrix(stack, n + 1, head + 1);
        assert.equal(matrix === null, rows.length === 0);
        if (matrix) assertNear(matrix.weights, rows.flat(), tolerance);
      });
    });
  }
};

for (const {name, trace, words} of casesOf("word_groups.json")) {
  test(`words: ${name}`, () => {
    const grouped = Trace.fromJson(trace).words();
    assert.deepEqual(grouped.sourceTokens, words.source_tokens);
    assert.deepEqual(grouped.targetTokens, words.target_tokens);
    assert.deepEqual(grouped.decoderTokens, words.decoder_tokens);
    assertMatrices(grouped, words.attention, () => 1e-6);
  });
}

for (const {name, trace, packed} of casesOf("packed_traces.json")) {
  test(`packed: ${name}`, () => {
    const {attention, details, ...rest} = trace;
    const read = Trace.fromJson({...rest, packed});
    assertMatrices(read, attention, (weight) => weight / 2048 + 3e-8);
    const expected = details?.cross[0][0], detail = read.detail("cross", 1, 1);
    assert.equal(detail === null, expected === undefined);
    if (!detail) return;
    for (const part of ["query", "key", "value"]) assertNear(detail[part], expected[part].flat(), () => 0);
    // Of a weight of float16, with 11 bits, or of the vectors, which are exact here.
    assertNear(detail.scores, expected.scores.flat(), (score) => 1 / 2048 + 1e-6 * Math.abs(score));
    assert.equal(read.detail("cross", 1, 2), null);
  });
}
