// The way of each token through the layers of a model, for heed/lens.h.
#pragma once

#include "base/thread_pool.h"
#include "heed/lens.h"
#include "inspect/reading/reading.h"

namespace heed {

/// Runs the model over a reading. Results do not depend on the threads of the pool. `top`: predictions for
/// each token and state; `parts`: also the vectors of which states are made. Throws kNumeric for states that
/// are not finite.
Lens look_through(const InspectedModel& model, const Reading& reading, int top, ThreadPool& pool,
                  bool parts = false);

/// The stack that predicts tokens: the decoder, if there is one.
const LensStack& predicting_stack(const Lens& lens);

}  // namespace heed
