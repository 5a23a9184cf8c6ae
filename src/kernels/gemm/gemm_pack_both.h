// Products of gemm() that pack both operands at each call: on AMX, and in bf16 on AVX512-BF16.
#pragma once

#include "kernels/gemm/gemm.h"

namespace heed {

/// float32 as int8 slices (gemm/amx/int8_slices-inl.h). K > 0.
void gemm_amx_int8_slices(const GemmArguments<float>& arguments);

/// float32 rounded to bf16, accumulated in float32. K > 0.
void gemm_amx_bf16(const GemmArguments<float>& arguments);
/// The same in vectors.
void gemm_vector_bf16(const GemmArguments<float>& arguments);

}  // namespace heed
