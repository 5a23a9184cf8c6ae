// How many attention weights a trace has: each head has one for each query and key, so that their number
// grows with the square of a text.
#pragma once

#include <cstdint>

#include "models/model.h"

namespace heed {

/// Numbers of tokens that the stacks read; 0 for one that a model does not have.
struct TraceLengths {
  int64_t encoder = 0, decoder = 0;
};

/// The weights of all heads.
int64_t count_weights(const models::Model& model, const TraceLengths& lengths);

/// Throws kUsage if there are more weights than `most`; 0: no limit.
void require_few_weights(const models::Model& model, const TraceLengths& lengths, int64_t most);

}  // namespace heed
