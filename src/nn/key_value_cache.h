// The keys and values of positions already decoded.
//
// Rows are never moved: a hypothesis is a list of the rows of its words, and when beams are reordered only
// those lists change, which all layers share.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/tensor.h"
#include "kernels/attention/attention.h"

namespace heed::nn {

struct Context;

/// What keys and values are kept in between steps: 16 bits where matrices are in 8, for reading them is what
/// a step waits for; otherwise float32.
DType cached_type(const Context& context);
/// Room for at least `count` rows, with those of `rows` (which may be undefined) in front.
Tensor grown(const Tensor& rows, int64_t count, int64_t width, DType dtype = DType::kFloat32);
/// rows[to] = the numbers from `row` on, in the type of `rows`.
void put_row(const float* row, Tensor& rows, int64_t to);
/// The numbers of rows[from].
void take_row(const Tensor& rows, int64_t from, float* row);

/// One layer's keys and values, a row for each decoded position of each hypothesis.
struct KeyValueCache {
  Tensor keys, values;  ///< (rows, D)
  /// Makes room for `rows` at least, keeping what is there.
  void reserve(int64_t rows, int64_t width, DType dtype = DType::kFloat32);
};

/// Which rows the queries of a step see: one query for each live hypothesis.
struct StepLayout {
  std::vector<AttentionSpan> spans;  ///< query r sees key_rows[key_begin .. key_end)
  std::vector<int32_t> key_rows;
  std::vector<int32_t> new_rows;  ///< self-attention: where the key and value of query r are put
};

}  // namespace heed::nn
