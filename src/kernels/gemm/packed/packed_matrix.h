// Products with weights that stay: inference. Packs them once, for the kernel of this processor (README.md);
// weights in 8 and 16 bits not before a few products of few rows, so that one sentence can do without.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "kernels/gemm/half/half_weights.h"
#include "kernels/gemm/packed/packed_int4.h"
#include "kernels/pointwise/elementwise.h"

namespace heed {

/// How products with weights in 16 bits are computed. The results are the same, bit for bit.
enum class HalfPacking {
  kOnce,      ///< packed in float32: as fast as float32 weights, in 6 bytes for each weight instead of 8
  kEachCall,  ///< for large models: 2 bytes for each weight
};

/// A float32 matrix (out, in) whose rows are fetched while it is packed.
struct MatrixRows {
  int64_t out = 0, in = 0;
  std::function<void(int64_t begin, int64_t count, float* to)> read;  ///< rows [begin, begin + count)
};

/// A packed weight matrix, y = x W^T + b.
///
/// Batch-invariant: a row of the result depends on its own row of x alone, bit for bit, so a sentence has the
/// same translation in any batch.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// W is (out, in), row-major; bias has `out` elements or is null. Both are copied.
  PackedMatrix(const float* weight, int64_t out, int64_t in, const float* bias);
  /// The same, without the whole matrix in memory but in packed form (with int8 slices: until it is packed).
  PackedMatrix(const MatrixRows& weight, const float* bias);
  /// Quantized weights, which must outlive this: W_oi = scales[o] weight[o][i]. Rows of x are quantized too,
  /// see packed_int8.h.
  PackedMatrix(const int8_t* weight, const float* scales, int64_t out, int64_t in, const float* bias);
  /// Weights in 16 bits, which must outlive this. Products are, bit for bit, those of the same weights in
  /// float32.
  PackedMatrix(const HalfMatrix& weight, const float* bias, HalfPacking packing);

  /// Weights rounded to bfloat16. Rows of x are rounded too, see packed_bf16.h. The instruction set
  /// must have such products (has_bf16_products()).
  static PackedMatrix in_bfloat16(const MatrixRows& weight, const float* bias);

  /// Weights (out, in) in 4 bits. Rows of x are quantized too, see packed_int4.h.
  static PackedMatrix in_int4(const Int4Rows& weight, int64_t out, int64_t in, const float* bias);

  bool defined() const { return layout_ != nullptr; }
  int64_t out() const;
  int64_t in() const;
  /// x is (rows, in), y is (rows, out), both contiguous. Thread-safe.
  void multiply(const float* x, int64_t rows, float* y) const;
  /// y = f(x W^T + b). With int8 weights, GELU is within 5e-5: its results are meant to be quantized, too.
  void multiply(const float* x, int64_t rows, Activation function, float* y) const;

 private:
  struct Layout;
  struct F32Layout;
  struct SlicedLayout;
  struct Int8Layout;
  struct Int4Layout;
  struct HalfLayout;
  struct SlicedHalfLayout;
  struct Bf16Layout;
  std::shared_ptr<const Layout> layout_;
};

}  // namespace heed
