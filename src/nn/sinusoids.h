// The table of sinusoidal positions (Vaswani et al., 2017, section 3.5). heed/positions.h has the formulas.
#pragma once

#include <cstdint>

#include "heed/positions.h"
#include "heed/tensor.h"

namespace heed::nn {

/// (length, width), computed in float64. An odd width has one more sine than cosines. Throws kShape for a
/// length below 0 or a width below 1.
Tensor sinusoid_table(int64_t length, int64_t width, SinusoidLayout layout, DType dtype = DType::kFloat32);

}  // namespace heed::nn
