// Matrix products: the one doorway to oneDNN.
//
// oneDNN's generated code keeps numbers far below the stack pointer: a signal handler must not run on the
// stack of a thread that multiplies, but on one of its own (SA_ONSTACK), or in a thread that does not.
//
// Products run on the calling thread alone; work is divided above this level. float64 is a plain loop of our
// own, for gradient checks.
#pragma once

#include <cstdint>
#include <memory>

namespace heed {

/// C (M x N) = op(A) (M x K) op(B) (K x N) + beta C, with beta 0 or 1, where op may transpose. Row-major; the
/// strides are those of the matrices as stored.
template <typename T>
struct GemmArguments {
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  int64_t a_stride = 0;
  const T* b = nullptr;
  int64_t b_stride = 0;
  bool accumulate = false;  ///< beta
  T* c = nullptr;
  int64_t c_stride = 0;
};
void gemm(const GemmArguments<float>& arguments);
void gemm(const GemmArguments<double>& arguments);

/// A weight matrix laid out once for the products of inference, y = x W^T + b.
///
/// A row of the result depends on its own row of x alone, to the last bit: however many rows there are and
/// whichever they are. That is what lets a sentence have the same translation in any company.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// W is (out, in), row-major; bias has `out` elements or is null. Both are copied.
  PackedMatrix(const float* weight, int64_t out, int64_t in, const float* bias);
  /// The same of quantised weights: W_oi = scales[o] weight[o][i]. Rows of x are quantised too, see
  /// int8_product.h.
  PackedMatrix(const int8_t* weight, const float* scales, int64_t out, int64_t in, const float* bias);

  bool defined() const { return layout_ != nullptr; }
  int64_t out() const;
  int64_t in() const;
  /// x is (rows, in), y is (rows, out), both without gaps. Thread-safe.
  void multiply(const float* x, int64_t rows, float* y) const;

 private:
  struct Layout;
  struct FloatLayout;
  struct Int8Layout;
  std::shared_ptr<const Layout> layout_;
};

/// "oneDNN 2.6.3"
const char* gemm_library();

}  // namespace heed
