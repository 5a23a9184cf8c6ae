#include "kernels/gemm/float_product.h"

#include <algorithm>

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/float_product.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/panel_tile-inl.h"
#include "kernels/gemm/write_sums-inl.h"
#include "kernels/simd/fma_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// As many sums as there are registers for, beside a row of weights and one number of x.
struct FloatLanes {
  using Value = float;
  using Weight = float;
  using Total = float;
  static constexpr int kInputs = 1, kGroup = 1;
#if HWY_TARGET == HWY_SCALAR
  // Vectors of the compiler's, of which every processor of the architecture has at least these.
  using Sum = float __attribute__((vector_size(16), aligned(4), may_alias));
  static constexpr int kRows = 4, kColumns = 4, kVectors = 2;
  static HWY_INLINE Sum zero() {
    return Sum{};
  }
  static HWY_INLINE Sum weights(const float* p) {
    return *reinterpret_cast<const Sum*>(p);
  }
  static HWY_INLINE Sum group(const float* p) {
    return Sum{*p, *p, *p, *p};
  }
  static HWY_INLINE void add(Sum& sum, Sum x, Sum w) {
    sum += x * w;
  }
  static HWY_INLINE Sum load(const float* p) {
    return weights(p);
  }
  static HWY_INLINE void store(Sum sum, float* p) {
    *reinterpret_cast<Sum*>(p) = sum;
  }
#else
  using D = hn::ScalableTag<float>;
  using Sum = hn::Vec<D>;
  static constexpr int kRows = kFmaMr, kVectors = kFmaNrVectors;
  static constexpr int kColumns = static_cast<int>(hn::MaxLanes(D()));
  static HWY_INLINE Sum zero() {
    return hn::Zero(D());
  }
  static HWY_INLINE Sum weights(const float* p) {
    return hn::LoadU(D(), p);
  }
  static HWY_INLINE Sum group(const float* p) {
    return hn::Set(D(), *p);
  }
  static HWY_INLINE void add(Sum& sum, Sum x, Sum w) {
    sum = hn::MulAdd(x, w, sum);
  }
  static HWY_INLINE Sum load(const float* p) {
    return hn::LoadU(D(), p);
  }
  static HWY_INLINE void store(Sum sum, float* p) {
    hn::StoreU(sum, D(), p);
  }
#endif
  using Weights = Sum;
  using Group = Sum;
};

void float_product(const FloatProductArguments& a) {
  for (int64_t begin = 0; begin < a.rows; begin += kBlockRows) {
    multiply_panels<FloatLanes>({.rows = std::min(kBlockRows, a.rows - begin),
                                 .out = a.out,
                                 .in = a.in,
                                 .values = a.x + begin * a.in,
                                 .stride = a.in,
                                 .panels = a.panels},
                                [&](int64_t row, int64_t count, int64_t first, const float* sums) {
                                  write_sums(sums, count, first, a.out, a.bias, a.y + (begin + row) * a.out);
                                });
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {

HEED_EXPORT(float_product);

void float_product(const FloatProductArguments& arguments) {
  HEED_SELECT(float_product)(arguments);
}

void pack_float_panels(const float* weights, int64_t out, int64_t in, float* panels) {
  constexpr int64_t kInputsAtATime = 16;  // what is written of them fits the nearest cache
  for (int64_t first = 0; first < out; first += kPanelColumns, panels += kPanelColumns * in) {
    const int64_t columns = std::min(kPanelColumns, out - first);
    if (columns < kPanelColumns) std::fill_n(panels, kPanelColumns * in, 0.0f);
    for (int64_t begin = 0; begin < in; begin += kInputsAtATime) {
      const int64_t end = std::min(begin + kInputsAtATime, in);
      for (int64_t column = 0; column < columns; ++column) {
        const float* row = weights + (first + column) * in;
        for (int64_t i = begin; i < end; ++i) panels[i * kPanelColumns + column] = row[i];
      }
    }
  }
}

}  // namespace heed
#endif
