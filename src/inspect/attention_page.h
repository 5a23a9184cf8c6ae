// Attention as one HTML page that needs nothing else: every matrix as a drawing, whose cells tell query, key
// and weight when one points at them.
#pragma once

#include <string>

#include "inspect/trace.h"

namespace heed {

/// Throws as check_trace does, and kUsage for more cells than a page can hold.
std::string attention_page(const Trace& trace);

}  // namespace heed
