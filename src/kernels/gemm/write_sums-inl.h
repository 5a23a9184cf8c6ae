// What becomes of the sums of a panel in float32. Included once for each instruction set.

#if defined(HEED_KERNELS_WRITE_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_WRITE_SUMS_INL_H_
#undef HEED_KERNELS_WRITE_SUMS_INL_H_
#else
#define HEED_KERNELS_WRITE_SUMS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm/panel.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// y[row][first + n] = sums[row][n] + bias[first + n], of `rows` rows and up to kPanelColumns of `out`
/// columns; bias may be null.
HWY_INLINE void write_sums(const float* sums, int64_t rows, int64_t first, int64_t out, const float* bias,
                           float* y) {
  const hn::ScalableTag<float> d;
  const int64_t columns = std::min(kPanelColumns, out - first);
  for (int64_t row = 0; row < rows; ++row) {
    float* const to = y + row * out + first;
    for_each_vector(d, columns, [&](auto at, auto load, auto store) {
      auto sum = load(sums + row * kPanelColumns + at);
      if (bias != nullptr) sum = hn::Add(sum, load(bias + first + at));
      store(sum, to + at);
    });
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
