// Gradient x input, and integrated gradients.
#pragma once

#include "base/thread_pool.h"
#include "inspect/attribution/embedding_path.h"

namespace heed {

/// x . df/dx of the embedding of each token.
TokenAttribution gradient_times_input(const DifferentiableModel& model, const Explained& explained);

/// Which predictions of a reading, and how.
struct IntegratedOptions {
  std::vector<size_t> chosen{};  ///< indices of Reading::target_ids
  int32_t other = -1;            ///< the alternative to all of them; -1: none
  PathBaseline baseline{};
  double tolerance = 0;  ///< AttributionOptions::tolerance
};

/// Of several predictions, on the threads of a pool; each is independent of the others, bit for bit.
std::vector<TokenAttribution> integrated_gradients(const DifferentiableModel& model, const Reading& reading,
                                                   const IntegratedOptions& options, ThreadPool& pool);

}  // namespace heed
