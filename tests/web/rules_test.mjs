// Rules that the explorer's JavaScript and C++ both know, by the cases that both test: run with node.

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";

import {tokenLabels, wordIndices} from "../../web/labels.js";
import {Trace} from "../../web/trace.js";

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
