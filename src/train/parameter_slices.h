// Which rank updates which parameters.
#pragma once

#include "distributed/communicator.h"
#include "distributed/slices.h"
#include "nn/parameters.h"

namespace heed::train {

/// The optimizer works on the flat array of parameters in chunks of this many elements. Sums over all
/// elements add up one number for each chunk, so chunks are not divided between ranks.
constexpr int64_t kOptimizerChunk = 1 << 16;

/// The elements whose gradients a rank sums, whose optimizer state it has, and which it updates.
inline distributed::Slices parameter_slices(const nn::ParameterTable& table,
                                            const distributed::Communicator& ranks) {
  return {table.elements(), ranks.size(), kOptimizerChunk};
}

}  // namespace heed::train
