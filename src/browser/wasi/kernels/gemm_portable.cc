// Products of float32 matrices where there is no oneDNN: in place of gemm_onednn.cc.
#include <cstdint>

#include "kernels/gemm/gemm_library.h"

namespace heed {

/// Row by row of C, each as a sum of rows of B, which the compiler turns into vectors; B transposed: as inner
/// products.
void multiply_by_library(const GemmArguments<float>& g) {
  for (int64_t row = 0; row < g.m; ++row) {
    float* c = g.c + row * g.c_stride;
    if (!g.accumulate) {
      for (int64_t n = 0; n < g.n; ++n) c[n] = 0;
    }
    for (int64_t k = 0; k < g.k; ++k) {
      const float a = g.transpose_a ? g.a[k * g.a_stride + row] : g.a[row * g.a_stride + k];
      if (g.transpose_b) {
        for (int64_t n = 0; n < g.n; ++n) c[n] += a * g.b[n * g.b_stride + k];
      } else {
        for (int64_t n = 0; n < g.n; ++n) c[n] += a * g.b[k * g.b_stride + n];
      }
    }
  }
}

const char* gemm_library() {
  return "portable";
}

}  // namespace heed
