// Checks of what an Inspector finds, before it is written or drawn: a caller may have made or changed it.
#pragma once

#include "heed/attribution.h"
#include "heed/lens.h"
#include "heed/patching.h"

namespace heed {

// All throw kShape for lists whose lengths do not match and for indices that are not there, and kNumeric for
// numbers that can be neither written nor drawn. They return what they are given.

const Lens& checked(const Lens& lens);
const Attribution& checked(const Attribution& attribution);
const Patching& checked(const Patching& patching);

}  // namespace heed
