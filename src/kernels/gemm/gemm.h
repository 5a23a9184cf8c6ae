// Matrix products: the one doorway to oneDNN; and, where the processor has matrix registers and the sizes are
// worth it, to fixed_gemm.h or bfloat16_gemm.h.
//
// oneDNN's generated code keeps numbers far below the stack pointer: a signal handler must not run on the
// stack of a thread that multiplies, but on one of its own (SA_ONSTACK), or in a thread that does not.
//
// Products run on the calling thread alone; work is divided above this level. float64 is a plain loop of our
// own, for gradient checks.
#pragma once

#include <cstdint>

namespace heed {

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
};
void gemm(const GemmArguments<float>& arguments);
void gemm(const GemmArguments<double>& arguments);

/// How exactly products are made on matrix registers. The names are those of PyTorch's
/// torch.set_float32_matmul_precision(). Sums are of 24 bits in all of them.
enum class ProductPrecision {
  kHighest,  ///< of float32: 24 bits, counted from the largest number of a row or column (fixed_point-inl.h)
  kHigh,     ///< 16 bits, counted in the same way
  kMedium,   ///< each number is rounded to bfloat16: 8 bits
};

/// While it lives, gemm() of this thread may be so inexact where that is faster; where not, it is exact.
class AllowedPrecision {
 public:
  explicit AllowedPrecision(ProductPrecision precision);
  ~AllowedPrecision();
  AllowedPrecision(const AllowedPrecision&) = delete;
  AllowedPrecision& operator=(const AllowedPrecision&) = delete;

 private:
  ProductPrecision before_;
};

/// "oneDNN 2.6.3"
const char* gemm_library();

}  // namespace heed
