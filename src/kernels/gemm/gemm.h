// Matrix products of training, where both operands change from call to call: by oneDNN, or by our own kernels
// (gemm_amx.h) on processors with AMX, and in bf16, if the product is large enough. Products with weights
// that stay are in packed_matrix.h; README.md has the table.
//
// oneDNN's generated code stores below the stack pointer, beyond the red zone: a signal handler must not run
// on the stack of a thread that multiplies, but on one of its own (SA_ONSTACK) or in another thread.
//
// A product runs on the calling thread alone; work is divided above this level. float64 is a plain loop, for
// gradient checks.
#pragma once

#include <cstdint>

namespace heed {

/// Precision of products, named as in torch.set_float32_matmul_precision(). Sums are float32 or better.
enum class MatmulPrecision {
  kHighest,  ///< float32: 24 bits, relative to the largest number of a row or column (amx/int8_slices-inl.h)
  kMedium,   ///< on AMX and AVX512-BF16, operands are rounded to bf16: 8 bits; elsewhere as kHighest
};

/// C (M x N) = op(A) (M x K) op(B) (K x N) + beta C, with beta 0 or 1, where op may transpose; or, with a
/// bias, op(A) op(B) + b in every row. Row-major; the strides are those of the matrices as stored.
template <typename T>
struct GemmArguments {
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  int64_t a_stride = 0;
  const T* b = nullptr;
  int64_t b_stride = 0;
  bool accumulate = false;  ///< beta
  const T* bias = nullptr;  ///< (N); not with beta 1
  T* c = nullptr;
  int64_t c_stride = 0;
  MatmulPrecision precision = MatmulPrecision::kHighest;  ///< of float32
};
void gemm(const GemmArguments<float>& arguments);
void gemm(const GemmArguments<double>& arguments);

/// "oneDNN 2.6.3"
const char* gemm_library();

}  // namespace heed
