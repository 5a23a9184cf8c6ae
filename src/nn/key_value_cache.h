// The keys and values of positions already decoded.
//
// Rows are never moved: a hypothesis is a list of the rows of its words, and when beams are reordered only
// those lists change, which all layers share.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/tensor.h"
#include "kernels/attention.h"

namespace heed::nn {

/// One layer's keys and values, a row for each decoded position of each hypothesis.
struct KeyValueCache {
  Tensor keys, values;  ///< (rows, D)
  /// Makes room for `rows` at least, keeping what is there.
  void reserve(int64_t rows, int64_t width);
};

/// Which rows the queries of a step see: one query for each live hypothesis.
struct StepLayout {
  std::vector<AttentionSpan> spans;  ///< query r sees key_rows[key_begin .. key_end)
  std::vector<int32_t> key_rows;
  std::vector<int32_t> new_rows;  ///< self-attention: where the key and value of query r are put
};

}  // namespace heed::nn
