// Numbers in base64, as src/inspect/trace/trace_pack.h writes them; the tests of both read
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

/// Query, key and value vectors of a head, and its scores, from their packed form; null where it has none.
/** @param {PackedHead} head @param {Matrix} matrix @returns {Detail | null} */
export function readDetail(head, matrix) {
  const {width, scale} = head, {queries, keys, weights} = matrix;
  if (!head.rows || !head.vectors || !width || scale === undefined) return null;
  const rows = new Float32Array(bytesOf(head.rows).buffer);
  const codes = new Int8Array(bytesOf(head.vectors).buffer);
  const vectors = new Float32Array(codes.length);
  for (let n = 0; n < codes.length; ++n) vectors[n] = codes[n] * rows[queries + Math.floor(n / width)];
  const detail = {
    width,
    scale,
    query: vectors.subarray(0, queries * width),
    key: vectors.subarray(queries * width, (queries + keys) * width),
    value: vectors.subarray((queries + keys) * width),
    scores: new Float32Array(queries * keys),
  };
  for (let query = 0; query < queries; ++query) {
    for (let key = 0; key < keys; ++key) {
      const weight = weights[query * keys + key];
      // A weight that float16 still tells well gives the score; of others the rounded vectors do.
      detail.scores[query * keys + key] =
          weight > 1e-4 ? Math.log(weight) + rows[query] : scale * dot(detail, query, key);
    }
  }
  return detail;
}

/// Query times key of a head's detail, unscaled.
/** @param {Detail} detail @param {number} query @param {number} key */
export function dot(detail, query, key) {
  let sum = 0;
  for (let n = 0; n < detail.width; ++n) {
    sum += detail.query[query * detail.width + n] * detail.key[key * detail.width + n];
  }
  return sum;
}
