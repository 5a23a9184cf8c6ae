#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "kernels/gemm/gemm_library.h"
#include "kernels/gemm/gemm_pack_both.h"
#include "kernels/simd/isa.h"
#include "kernels/thresholds.h"

namespace heed {
namespace {

/// Copies the bias to every row of C, to which the product is then added.
template <typename T>
GemmArguments<T> begin_with_bias(GemmArguments<T> g) {
  HEED_CHECK(!g.accumulate);
  for (int64_t row = 0; row < g.m; ++row) std::copy_n(g.bias, g.n, g.c + row * g.c_stride);
  g.bias = nullptr;
  g.accumulate = true;
  return g;
}

}  // namespace

void gemm(const GemmArguments<float>& g) {
  if (g.m == 0 || g.n == 0) return;
  const bool bf16 = g.precision == MatmulPrecision::kMedium;
  if (internal::has_amx() && gemm_pays_on_amx(g.m, g.n, g.k, bf16)) {
    return bf16 ? gemm_amx_bf16(g) : gemm_amx_int8_slices(g);
  }
  if (bf16 && internal::has_avx512_bf16() && gemm_pays_on_amx(g.m, g.n, g.k, bf16)) {
    return gemm_vector_bf16(g);
  }
  if (g.bias != nullptr) return gemm(begin_with_bias(g));
  if (g.k == 0) {  // which multiply_by_library() does not take
    for (int64_t row = 0; row < g.m && !g.accumulate; ++row) std::fill_n(g.c + row * g.c_stride, g.n, 0.0f);
    return;
  }
  multiply_by_library(g);
}

void gemm(const GemmArguments<double>& g) {
  if (g.bias != nullptr) return gemm(begin_with_bias(g));
  std::vector<double> row(static_cast<size_t>(g.k));
  for (int64_t i = 0; i < g.m; ++i) {
    for (int64_t k = 0; k < g.k; ++k)
      row[k] = g.transpose_a ? g.a[k * g.a_stride + i] : g.a[i * g.a_stride + k];
    double* c = g.c + i * g.c_stride;
    if (!g.accumulate) std::fill(c, c + g.n, 0.0);
    if (g.transpose_b) {
      for (int64_t j = 0; j < g.n; ++j) {
        const double* b = g.b + j * g.b_stride;
        double sum = 0;
        for (int64_t k = 0; k < g.k; ++k) sum += row[k] * b[k];
        c[j] += sum;
      }
    } else {
      for (int64_t k = 0; k < g.k; ++k) {
        const double* b = g.b + k * g.b_stride;
        for (int64_t j = 0; j < g.n; ++j) c[j] += row[k] * b[j];
      }
    }
  }
}

}  // namespace heed
