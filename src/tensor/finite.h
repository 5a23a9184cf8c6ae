// Search for infinity and NaN.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed {

/// The index of the first value that is infinite or NaN; `count` if all are finite.
size_t first_not_finite(const float* values, size_t count);
/// The same for IEEE 754 binary16 and for bfloat16.
size_t first_not_finite_half(const uint16_t* halves, size_t count);
size_t first_not_finite_bfloat(const uint16_t* bfloats, size_t count);

}  // namespace heed
