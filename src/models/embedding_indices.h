// Index tensors for embeddings: token ids and positions.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/sequences.h"
#include "heed/tensor.h"

namespace heed::models {

inline Tensor id_tensor(const std::vector<int32_t>& ids) {
  return Tensor::from(ids, {static_cast<int64_t>(ids.size())});
}

/// 0, 1, 2, ... for each sequence. Throws kUsage for a sequence longer than `max_length`.
inline std::vector<int32_t> positions_in(const Sequences& sequences, int64_t max_length) {
  std::vector<int32_t> positions(sequences.ids.size());
  for (int b = 0; b < sequences.count(); ++b) {
    const int32_t begin = sequences.offsets[b], end = sequences.offsets[b + 1];
    if (end - begin > max_length) {
      fail(ErrorKind::kUsage, "a sequence of {} tokens exceeds the model's maximum length of {}", end - begin,
           max_length);
    }
    std::iota(positions.begin() + begin, positions.begin() + end, 0);
  }
  return positions;
}

}  // namespace heed::models
