// The library that multiplies float32 matrices, behind gemm() (gemm.h). gemm_onednn.cc is its only
// implementation here; a target without oneDNN compiles another file in its place.
#pragma once

#include "kernels/gemm/gemm.h"

namespace heed {

/// The product on the calling thread: without a bias, and M, N and K at least 1. Throws std::bad_alloc.
void multiply_by_library(const GemmArguments<float>& arguments);

}  // namespace heed
