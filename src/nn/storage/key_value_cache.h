// The KV cache: keys and values of positions that are decoded already.
//
// Rows are never moved: a hypothesis is a list of the rows of its tokens, and reordering beams changes only
// these lists, which all layers share.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/tensor.h"
#include "kernels/attention/attention.h"

namespace heed::nn {

struct Context;

/// The type of the cache: float16 with int8 weights, since a step is bound by reading the cache; otherwise
/// float32.
DType cached_type(const Context& context);
/// A tensor of `count` rows that begins with those of `rows`, which may be undefined.
Tensor grown(const Tensor& rows, int64_t count, int64_t width, DType dtype = DType::kFloat32);
/// Writes a row, converted to the type of `rows`.
void put_row(const float* row, Tensor& rows, int64_t to);
/// Reads a row.
void take_row(const Tensor& rows, int64_t from, float* row);

/// One layer's keys and values, a row for each decoded position of each hypothesis.
struct KeyValueCache {
  Tensor keys, values;  ///< (rows, D)
  /// Grows to at least this many rows and keeps those there are.
  void reserve(int64_t rows, int64_t width, DType dtype = DType::kFloat32);
};

/// The rows that the queries of a step attend to: one query for each live hypothesis.
struct StepLayout {
  std::vector<AttentionSpan> spans;  ///< query r sees key_rows[key_begin .. key_end)
  std::vector<int32_t> key_rows;
  std::vector<int32_t> new_rows;  ///< self-attention: the row for the key and value of query r
};

}  // namespace heed::nn
