// Matrix products in float32 as whole numbers, on matrix registers: gemm.h for processors with AMX. Both
// factors are written in digits on their way (fixed_point-inl.h).
#pragma once

#include "kernels/gemm/gemm.h"

namespace heed {

/// With three digits, or with two. There are inputs: k > 0.
void fixed_gemm(const GemmArguments<float>& arguments, int digits);

}  // namespace heed
