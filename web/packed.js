// Numbers in base64, as src/inspect/trace_pack.h writes them.

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; ++n) bytes[n] = text.charCodeAt(n);
  return bytes;
}

let halves = null;

/// The value of each of the 65,536 float16 numbers.
function halfTable() {
  if (halves) return halves;
  halves = new Float32Array(65536);
  for (let bits = 0; bits < 65536; ++bits) {
    const exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const size = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
    halves[bits] = bits & 0x8000 ? -size : size;
  }
  return halves;
}

export function readHalves(base64) {
  const table = halfTable();
  const codes = new Uint16Array(bytesOf(base64).buffer);
  return Float32Array.from(codes, (code) => table[code]);
}

/// Query, key and value vectors of a head, and its scores, from their packed form.
export function readDetail(head, weights, queries, keys) {
  const rows = new Float32Array(bytesOf(head.rows).buffer);
  const codes = new Int8Array(bytesOf(head.vectors).buffer);
  const {width, scale} = head;
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
export function dot(detail, query, key) {
  let sum = 0;
  for (let n = 0; n < detail.width; ++n) {
    sum += detail.query[query * detail.width + n] * detail.key[key * detail.width + n];
  }
  return sum;
}
