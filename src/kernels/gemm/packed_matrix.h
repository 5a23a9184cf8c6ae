// Products with the weights of a model in use.
#pragma once

#include <cstdint>
#include <memory>

namespace heed {

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
  struct FixedLayout;
  struct Int8Layout;
  std::shared_ptr<const Layout> layout_;
};

}  // namespace heed
