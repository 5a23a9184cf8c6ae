// Attribution by leaving tokens out: f(x) - f(x without the token).
#pragma once

#include "base/thread_pool.h"
#include "inspect/attribution/explained.h"

namespace heed {

/// Of several predictions, on the threads of a pool; each is independent of the others, bit for bit. Special
/// tokens around a text stay, with the value 0, and so do mask tokens. Throws kUsage for a text of a single
/// token, without which nothing would be left.
std::vector<TokenAttribution> leave_tokens_out(const InspectedModel& model, const std::vector<Explained>& all,
                                               ThreadPool& pool);

}  // namespace heed
