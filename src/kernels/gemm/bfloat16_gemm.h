// Matrix products of float32 numbers that are rounded to bfloat16, on matrix registers: gemm.h for processors
// with AMX, where so much is allowed.
#pragma once

#include "kernels/gemm/gemm.h"

namespace heed {

/// There are inputs: k > 0.
void bfloat16_gemm(const GemmArguments<float>& arguments);

}  // namespace heed
