// Attribution of predictions to tokens, for heed/attribution.h.
#pragma once

#include "base/text/named_values.h"
#include "base/thread_pool.h"
#include "heed/attribution.h"
#include "inspect/reading/reading.h"

namespace heed {

constexpr NamedValues<AttributionMethod, 4> kAttributionMethods{
    {{AttributionMethod::kIntegrated, "integrated"},
     {AttributionMethod::kGradient, "gradient"},
     {AttributionMethod::kRollout, "rollout"},
     {AttributionMethod::kLeaveOut, "leave-out"}}};

/// Explains the predictions of a reading; `options.target` has been read. Results do not depend on the
/// threads of the pool, nor on which other tokens are explained. Throws kUsage for a token that does not
/// exist, an alternative that is no single token, options that do not fit the method, and a text without
/// predictions; kNumeric for values that are not finite.
Attribution attribute(const InspectedModel& model, const Reading& reading, const AttributionOptions& options,
                      ThreadPool& pool);

}  // namespace heed
