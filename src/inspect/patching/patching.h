// Activation patching, for heed/patching.h.
#pragma once

#include "base/text/named_values.h"
#include "base/thread_pool.h"
#include "heed/patching.h"
#include "inspect/reading/reading.h"

namespace heed {

constexpr NamedValues<PatchedPart, 3> kPatchedParts{{{PatchedPart::kHeads, "heads"},
                                                     {PatchedPart::kLayers, "layers"},
                                                     {PatchedPart::kPositions, "positions"}}};

/// Puts states of the clean run into the corrupted one; `options.target` has been read, and `corrupted` is of
/// read_another(). Results do not depend on the threads of the pool. Throws kUsage for equal texts, for
/// texts after which the target is equally likely, for heads of a model without attention heads, and like
/// chosen_predictions() and alternative_id(); kNumeric for values that are not finite.
Patching patch(const InspectedModel& model, const Reading& clean, const Reading& corrupted,
               const PatchOptions& options, ThreadPool& pool);

}  // namespace heed
