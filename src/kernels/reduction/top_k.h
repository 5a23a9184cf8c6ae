// The largest elements of each row and the log of its sum of exponentials: all that search needs of logits.
#pragma once

#include <cstdint>

namespace heed {

/// Rows of logits z (rows, classes) -> the k largest, and log(sum_c exp(z_c)).
template <typename T>
struct TopKArguments {
  int64_t rows = 0, classes = 0;
  const T* logits = nullptr;  ///< (rows, classes)
  int64_t k = 0;              ///< how many to find; may be 0, and larger than there are
  /// (rows, k), in descending order, ties by lower index. If a row has fewer than k elements
  /// that are above -infinity (which is how a search forbids a token), the rest is -infinity and index -1.
  T* values = nullptr;
  int32_t* indices = nullptr;  ///< (rows, k)
  /// (rows), or null. NaN or infinity if a logit is NaN or plus infinity; -infinity if all logits are
  /// -infinity.
  T* log_sums = nullptr;
};

/// Passes over a row, in whole vectors: one for a number that the k largest reach, one for them, where an
/// element below that number costs one comparison, and one for the sum. A large k sorts instead.
void top_k(const TopKArguments<float>& arguments);
void top_k(const TopKArguments<double>& arguments);

}  // namespace heed
