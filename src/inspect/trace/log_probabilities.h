// The log-probabilities that a trace shows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/tensor.h"

namespace heed {

/// ln softmax(logits)[row][ids[row]] for the first ids.size() rows of logits (N, V), summed in double
/// precision. search::log_sums_of() is faster and less exact.
std::vector<float> log_probabilities(const Tensor& logits, std::span<const int32_t> ids);

}  // namespace heed
