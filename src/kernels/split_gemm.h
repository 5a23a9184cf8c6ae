// Matrix products in float32 on matrix registers that multiply bfloat16: gemm.h for processors with AMX.
// Both factors are split into parts on their way (bfloat16_parts-inl.h).
#pragma once

#include "kernels/gemm.h"

namespace heed {

/// Whether this processor can, and may, and the sizes are worth it.
bool worth_splitting(const GemmArguments<float>& arguments);

void split_gemm(const GemmArguments<float>& arguments, ProductPrecision precision);

}  // namespace heed
