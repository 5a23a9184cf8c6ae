// What kind of head it is, in five numbers: means over its queries.

/// Bits of the weights' entropy: 0 where one key has all, log2(keys) where all have the same.
/** @param {Matrix} matrix */
function entropy(matrix) {
  let sum = 0;
  for (const weight of matrix.weights)
    if (weight > 0) sum -= weight * Math.log2(weight);
  return sum / matrix.queries;
}

/// The key that stands where the query does: the same position, or the same share of the way in
/// cross-attention.
/** @param {Matrix} matrix @param {Stack} stack @param {number} query */
function diagonalKey(matrix, stack, query) {
  if (stack !== "cross" || matrix.queries < 2) return query;
  return (query * (matrix.keys - 1)) / (matrix.queries - 1);
}

/** @param {Matrix} matrix @param {(query: number, key: number) => number} measure */
function meanOver(matrix, measure) {
  let sum = 0;
  for (let query = 0; query < matrix.queries; ++query) {
    for (let key = 0; key < matrix.keys; ++key) sum += matrix.at(query, key) * measure(query, key);
  }
  return sum / matrix.queries;
}

const kPunctuation = /^[\p{P}\p{S}]+$/u;

/** @type {MetricName[]} */
export const kMetrics = ["entropy", "distance", "diagonal", "ends", "punctuation"];

/// The five numbers of a head of a trace.
/** @param {Trace} trace @param {Stack} stack @param {number} layer @param {number} head */
function headMetrics(trace, stack, layer, head) {
  const matrix = trace.matrix(stack, layer, head);
  if (!matrix) return null;
  const punctuation = trace.keyLabels(stack).map((label) => !label.special && kPunctuation.test(label.text));
  const ends = trace.keyLabels(stack).map((label) => label.special);
  return {
    entropy: entropy(matrix),
    distance: meanOver(matrix, (query, key) => Math.abs(key - diagonalKey(matrix, stack, query))),
    diagonal:
        meanOver(matrix, (query, key) => (Math.abs(key - diagonalKey(matrix, stack, query)) <= 0.5 ? 1 : 0)),
    ends: meanOver(matrix, (query, key) => (ends[key] ? 1 : 0)),
    punctuation: meanOver(matrix, (query, key) => (punctuation[key] ? 1 : 0)),
  };
}

/// All heads of a trace with their numbers.
/** @param {Trace} trace */
export function allHeads(trace) {
  if (trace.measured) return trace.measured;
  /** @type {MeasuredHead[]} */
  const heads = trace.measured = [];
  for (const stack of trace.stackNames) {
    for (let layer = 1; layer <= trace.layers(stack); ++layer) {
      for (let head = 1; head <= trace.heads(stack, layer); ++head) {
        const metrics = headMetrics(trace, stack, layer, head);
        if (metrics) heads.push({stack, layer, head, metrics});
      }
    }
  }
  return heads;
}
