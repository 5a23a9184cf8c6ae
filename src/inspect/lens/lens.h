// The way of each token through the layers of a model, for heed/lens.h.
#pragma once

#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "heed/lens.h"
#include "inspect/reading/reading.h"

namespace heed {

/// Runs the model over a reading. Results do not depend on the threads of the pool. `top`: predictions for
/// each token and state; `parts`: also the vectors of which states are made. Throws kNumeric for states that
/// are not finite.
Lens look_through(const InspectedModel& model, const Reading& reading, int top, ThreadPool& pool,
                  bool parts = false);

/// search::log_sums_at() of what the last state of a token predicts; `position`: that of the token in the
/// stack that predicts, from 1. Empty where nothing is predicted, or there is no such token.
std::vector<float> log_sums_at(std::span<const double> temperatures, const InspectedModel& model,
                               const Lens& lens, int position);

/// The stack that predicts tokens: the decoder, if there is one.
const LensStack& predicting_stack(const Lens& lens);

}  // namespace heed
