// Numbers in base64, as src/inspect/json/trace_pack.h writes them; the tests of both read
// tests/data/packed_traces.json.

/** @param {string} base64 */
function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; ++n) bytes[n] = text.charCodeAt(n);
  return bytes;
}

/// 2^(exponent - 25) for each exponent of a float16: the value of the last of its fraction's ten bits.
const kUnits = Array.from({length: 32}, (_, exponent) => 2 ** (Math.max(1, exponent) - 25));

/// Numbers in float16.
/** @param {string} base64 */
export function readHalves(base64) {
  const codes = new Uint16Array(bytesOf(base64).buffer);
  const numbers = new Float32Array(codes.length);
  for (let n = 0; n < codes.length; ++n) {
    const code = codes[n], exponent = (code >> 10) & 31;
    const size = ((exponent > 0 ? 1024 : 0) + (code & 1023)) * kUnits[exponent];
    numbers[n] = code & 0x8000 ? -size : size;
  }
  return numbers;
}

/// What relative positions add to the scores of a head; null where it has none.
/** @param {PackedHead} head @param {Matrix} matrix */
function readBias(head, {queries, keys}) {
  if (head.bias) return readHalves(head.bias);
  if (!head.distances) return null;
  const distances = new Float32Array(bytesOf(head.distances).buffer);
  return Float32Array.from(
      {length: queries * keys}, (_, at) => distances[at % keys - Math.floor(at / keys) + queries - 1]);
}

/// 1 where the mask of a head hides the key; null where it hides none.
/** @param {PackedHead} head @param {Matrix} matrix */
function readHidden(head, {queries, keys}) {
  if (!head.hidden) return null;
  const bits = bytesOf(head.hidden);
  return Uint8Array.from({length: queries * keys}, (_, at) => bits[at >> 3] >> (at & 7) & 1);
}

/// The least normal number of float16: smaller weights are too coarse to tell a score.
const kLeastNormal = 2 ** -14;

/// Query, key and value vectors of a head, and what makes its scores, from their packed form; null where it
/// has none.
/** @param {PackedHead} head @param {Matrix} matrix @returns {Detail | null} */
export function readDetail(head, matrix) {
  const {width, scale, cap = 0} = head, {queries, keys, weights} = matrix;
  if (!head.rows || !head.vectors || !width || scale === undefined) return null;
  const rows = new Float32Array(bytesOf(head.rows).buffer);
  const codes = new Int8Array(bytesOf(head.vectors).buffer);
  const vectors = new Float32Array(codes.length);
  for (let n = 0; n < codes.length; ++n) vectors[n] = codes[n] * rows[queries + Math.floor(n / width)];
  const detail = {
    width,
    scale,
    cap,
    query: vectors.subarray(0, queries * width),
    key: vectors.subarray(queries * width, (queries + keys) * width),
    value: vectors.subarray((queries + keys) * width),
    products: new Float32Array(queries * keys),
    bias: readBias(head, matrix),
    hidden: readHidden(head, matrix),
  };
  const corrections = new Int8Array(bytesOf(head.corrections ?? "").buffer), step = rows[rows.length - 1];
  let corrected = 0;
  for (let at = 0; at < queries * keys; ++at) {
    const query = Math.floor(at / keys);
    // Without a cap, a weight that float16 tells well gives q k^T; else the vectors and a correction do.
    detail.products[at] = cap === 0 && weights[at] >= kLeastNormal ?
        (Math.log(weights[at]) + rows[query] - (detail.bias?.[at] ?? 0)) / scale :
        dot(detail, query, at % keys) + step * corrections[corrected++];
  }
  return detail;
}

/// The same from JSON.
/** @param {DetailJson} json @returns {Detail} */
export function detailFromJson(json) {
  /** @param {number[][]} rows */
  const flat = (rows) => Float32Array.from(rows.flat());
  const {width, scale, cap = 0} = json, keys = json.key.length;
  const vectors = {width, query: flat(json.query), key: flat(json.key)};
  return {
    ...vectors,
    scale,
    cap,
    value: flat(json.value),
    products: Float32Array.from(
        {length: json.query.length * keys}, (_, at) => dot(vectors, Math.floor(at / keys), at % keys)),
    bias: json.bias ? flat(json.bias) : null,
    hidden: json.visible ? Uint8Array.from(json.visible.flat(), (visible) => 1 - visible) : null
  };
}

/// Query times key, unscaled.
/**
 * @param {{width: number, query: Float32Array, key: Float32Array}} vectors @param {number} query
 * @param {number} key
 */
function dot({width, query: queries, key: keys}, query, key) {
  let sum = 0;
  for (let n = 0; n < width; ++n) sum += queries[query * width + n] * keys[key * width + n];
  return sum;
}

/// How a pair of query and key comes to its score, step by step (include/heed/trace.h): q k^T, scaled, with
/// the soft cap, plus the bias of positions, and -Infinity where the mask hides the key. A step that the head
/// does not have changes nothing.
/** @param {Detail} detail @param {number} at query * keys + key */
export function scoreSteps({scale, cap, products, bias, hidden}, at) {
  const product = products[at];
  const scaled = scale * product;
  const capped = cap === 0 ? scaled : cap * Math.tanh(scaled / cap);
  const biased = capped + (bias?.[at] ?? 0);
  return {product, scaled, capped, biased, masked: hidden?.[at] ? -Infinity : biased};
}
