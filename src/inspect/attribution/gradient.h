// Gradient x input, and integrated gradients.
#pragma once

#include "base/thread_pool.h"
#include "inspect/attribution/explained.h"

namespace heed {

/// x . df/dx of the embedding of each token.
TokenAttribution gradient_times_input(const InspectedModel& model, const Explained& explained);

/// Where the path of integrated gradients begins.
struct PathBaseline {
  int32_t source_id = -1;  ///< the token in place of each one of the encoder; -1: zeros
  int32_t target_id = -1;  ///< likewise of the decoder
};

/// Of several predictions, on the threads of a pool; each is independent of the others, bit for bit. An
/// interval of the path is divided while its quadrature differs from what f changes on it.
std::vector<TokenAttribution> integrated_gradients(const InspectedModel& model,
                                                   const std::vector<Explained>& all,
                                                   const PathBaseline& baseline, double tolerance,
                                                   ThreadPool& pool);

}  // namespace heed
