// Batches of texts of similar lengths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace heed::search {

/// The indices of texts with these lengths in tokens, longest first for load balancing, in batches of at most
/// `batch_tokens` tokens; a longer text is a batch of its own.
inline std::vector<std::vector<size_t>> length_batches(const std::vector<int64_t>& lengths,
                                                       int64_t batch_tokens) {
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<size_t>> batches;
  int64_t tokens = 0;
  for (const size_t n : order) {
    if (batches.empty() || tokens + lengths[n] > batch_tokens) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(n);
    tokens += lengths[n];
  }
  return batches;
}

}  // namespace heed::search
