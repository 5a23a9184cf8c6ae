// Rules that the explorer's JavaScript and C++ both know, by the cases that both test: run with node.

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";

import {tokenLabels, wordIndices} from "../../web/picture/labels.js";
import {scoreSteps} from "../../web/picture/packed.js";
import {kStacks, Trace} from "../../web/picture/trace.js";
import {explainQuery, scoreColumns} from "../../web/views/one_query.js";
import {drawToken, isWritable, kTemperatures, reshape} from "../../web/views/temperature.js";

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

/// The steps of every pair are those of the exact vectors and scores.
const assertSteps = (detail, {width, scale, cap = 0, query, key, bias, scores, visible}, tolerance = 0) => {
  const products = query.map((q) => key.map((k) => q.reduce((sum, number, n) => sum + number * k[n], 0)));
  // A score from a weight of float16 is within 2^-11; other products within half a step of their corrections,
  // which are at most as large as the rounding of both vectors makes them.
  const largest = Math.max(...[...query, ...key].flat().map(Math.abs));
  const near = tolerance || Math.max(2 ** -11 / scale, width * largest * largest / 127 / 254) + 1e-5;
  products.flat().forEach((product, at) => {
    const steps = scoreSteps(detail, at), row = Math.floor(at / key.length), column = at % key.length;
    const capped = cap ? cap * Math.tanh(scale * product / cap) : scale * product;
    const says = `of pair ${row}, ${column}: ${JSON.stringify(steps)}`;
    assert.ok(Math.abs(steps.product - product) <= near, `${product} ${says}`);
    assert.ok(Math.abs(steps.scaled - scale * product) <= scale * near, `${scale * product} ${says}`);
    assert.ok(Math.abs(steps.capped - capped) <= scale * near, `${capped} ${says}`);
    const more = 2 ** -11 * Math.abs(bias?.[row][column] ?? 0);  // float16
    assert.ok(
        Math.abs(steps.biased - scores[row][column]) <= scale * near + more,
        `${scores[row][column]} ${says}`);
    assert.equal(steps.masked, visible?.[row][column] === 0 ? -Infinity : steps.biased);
  });
};

for (const {name, trace, packed} of casesOf("packed_traces.json")) {
  test(`packed: ${name}`, () => {
    const {attention, details, ...rest} = trace;
    const read = Trace.fromJson({...rest, packed});
    assertMatrices(read, attention, (weight) => weight / 2048 + 3e-8);
    const expected = details?.cross[0][0], detail = read.detail("cross", 1, 1);
    assert.equal(detail === null, expected === undefined);
    if (!detail) return;
    // Vectors are within half a step of int8.
    for (const part of ["query", "key", "value"]) {
      expected[part].forEach((row, n) => {
        const most = Math.max(...row.map(Math.abs));
        const found = detail[part].subarray(n * detail.width, (n + 1) * detail.width);
        assertNear(found, row, () => 0.5001 * most / 127);
      });
    }
    assert.deepEqual(
        Array.from(detail.hidden ?? []), (expected.visible ?? []).flat().map((each) => 1 - each));
    assertNear(Array.from(detail.bias ?? []), (expected.bias ?? []).flat(), (bias) => Math.abs(bias) / 2048);
    assertSteps(detail, expected);
    assert.equal(read.detail("cross", 1, 2), null);
  });

  if (!trace.details) continue;
  test(`details of JSON: ${name}`, () => {
    assertSteps(Trace.fromJson(trace).detail("cross", 1, 1), trace.details.cross[0][0], 1e-6);
  });

  test(`one query: ${name}`, () => {
    const read = Trace.fromJson({...trace, packed}), {scale, cap, bias, visible} = trace.details.cross[0][0];
    trace.target_tokens.forEach((_, query) => {
      const steps = explainQuery(read, "cross", 1, 1, query);
      steps.keys.forEach(({masked}, key) => assert.equal(masked === -Infinity, visible?.[query][key] === 0));
      // Softmax of the last column is the weights.
      const sum = steps.keys.reduce((all, {masked}) => all + Math.exp(masked), 0);
      for (const {masked, weight} of steps.keys) assert.ok(Math.abs(Math.exp(masked) / sum - weight) < 2e-3);
      const columns = scoreColumns(steps);
      assert.deepEqual(columns.map((column) => column.name), [
        "q · k", ...(scale === 1 ? [] : [`÷ √${1 / scale ** 2}`]), ...(cap ? [`Cap ${cap}`] : []),
        ...(bias ? ["+ position"] : []), ...(visible ? ["Mask"] : [])
      ]);
    });
  });
}

test("a scale that is no root has its number", () => {
  const names = (scale) =>
      scoreColumns({scale, cap: 0, hasBias: false, hasMask: false}).map(({name}) => name);
  assert.deepEqual(names(Math.fround(1 / Math.sqrt(96))), ["q · k", "÷ √96"]);
  assert.deepEqual(names(0.3), ["q · k", "× 0.3"]);
  assert.deepEqual(names(2), ["q · k", "× 2"]);
  assert.deepEqual(names(1), ["q · k"]);
});

test("probabilities at a temperature are those of the whole vocabulary", () => {
  const logits = Array.from({length: 500}, (_, n) => -Math.sqrt(n));
  const logSumAt = (temperature) => Math.log(logits.reduce((sum, each) => sum + Math.exp(each / temperature), 0));
  const all = logSumAt(1);
  // What the server answers: src/search/scoring.h, log_sums_at().
  const logSums = kTemperatures.map((temperature) => logSumAt(temperature) - all / temperature);
  const likeliest = Object.fromEntries(logits.slice(0, 20).map((each, n) => [`token ${n}`, each - all]));
  for (const temperature of [0.05, 0.5, 1, 1.5, 2]) {
    const rows = reshape(likeliest, logSums, {temperature, top: 1}), others = rows.pop();
    const expected = logits.map((each) => Math.exp(each / temperature - logSumAt(temperature)));
    assertNear(rows.map((row) => row.probability), expected.slice(0, 20), () => 1e-9);
    assert.equal(others.token, null);
    assertNear([others.probability], [expected.slice(20).reduce((sum, each) => sum + each, 0)], () => 1e-9);
  }
  // Top-p cuts off what comes after it, and an address has any number.
  const rows = reshape(likeliest, logSums, {temperature: 0.52, top: 0.5});
  assert.deepEqual(rows, reshape(likeliest, logSums, {temperature: 0.5, top: 0.5}));
  const sumBefore = (n) => rows.slice(0, n).reduce((sum, row) => sum + row.probability, 0);
  assert.deepEqual(rows.map((row) => row.kept), rows.map((_, n) => sumBefore(n) < 0.5));
  for (const temperature of [-1, 0, 99]) {
    for (const {probability} of reshape(likeliest, logSums, {temperature, top: 1})) assert.ok(probability >= 0);
  }
  // A small vocabulary has no others.
  const small = {a: Math.log(0.75), b: Math.log(0.25)};
  const sums = kTemperatures.map((each) => Math.log(0.75 ** (1 / each) + 0.25 ** (1 / each)));
  assert.deepEqual(reshape(small, sums, {temperature: 2, top: 1}).map(({token}) => token), ["a", "b"]);
});

test("what is written after a text", () => {
  /// The tokens that can be drawn of equally likely ones, which are all kept.
  const drawn = (...tokens) => {
    const rows = tokens.map((token) => ({token, probability: 1 / tokens.length, kept: true}));
    const draws = Array.from({length: 100}, (_, n) => drawToken(rows, n / 100));
    return [...new Set(draws)];
  };
  assert.deepEqual(drawn(" a", "b", null), [" a", "b"]);
  assert.deepEqual(drawn("\ufffd", "a", "", " \ufffd"), ["a"]);
  assert.deepEqual(drawn("\ufffd", null), [""]);
  for (const end of ["</s>", "<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<end_of_turn>"]) {
    assert.deepEqual(drawn(end), [""], end);
  }
  assert.deepEqual(drawn("<", "<|", "|>", "<b>"), ["<", "<|", "|>", "<b>"]);
  assert.equal(
      drawToken([{token: "a", probability: 0.9, kept: false}, {token: "b", probability: 0.1, kept: true}], 0),
      "b");
  assert.deepEqual(["a", "\ufffd", ""].map(isWritable), [true, false, false]);
});

test("norms are read a few times, however many cells there are", async () => {
  globalThis.document = {getElementById: () => null, createElement: () => ({getContext: () => null})};
  globalThis.HTMLLinkElement = class {};
  globalThis.location = {protocol: "http:"};
  const {LensView} = await import("../../web/views/layers.js");
  let reads = 0;
  const columns = 40, read = Array.from({length: columns}, () => "▁a");
  const states = Array.from({length: 20}, (_, row) => {
    const count = (numbers) => ({get: () => (++reads, numbers)});
    const norms = read.map((_, column) => 1 + row + column);
    return Object.defineProperties(
        {layer: row, part: "feed-forward"},
        {norms: count(norms), added_norms: count(norms.map((norm) => norm / 2))});
  });
  const json = {tokens: {decoder: read}, states: {decoder: states}, expected_tokens: []};
  const view = new LensView(json, "decoder", {readsText: true});
  for (const shown of ["norms", "added"]) {
    reads = 0;
    const shares = states.flatMap((_, row) => read.map((_, column) => view.cell(shown, row, column).share));
    assert.equal(Math.max(...shares), 1);
    assert.equal(shares[0], 1 / (states.length + columns - 1));
    assert.ok(reads <= 2 * shares.length, `${reads} times`);
  }
});
