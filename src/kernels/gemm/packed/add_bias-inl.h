// The epilogue of products whose sums are float32. Included once for each instruction set.

#if defined(HEED_KERNELS_ADD_BIAS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ADD_BIAS_INL_H_
#undef HEED_KERNELS_ADD_BIAS_INL_H_
#else
#define HEED_KERNELS_ADD_BIAS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm/blocking.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// y = C + b for `rows` rows from `m` and up to kPanelWidth columns from `n` on. Arguments:
/// PackedF32Arguments, PackedBf16Arguments or PackedInt4Arguments.
template <class Arguments>
HWY_INLINE void add_bias(const Arguments& a, int64_t m, int64_t rows, int64_t n, const float* c) {
  const hn::ScalableTag<float> d;
  const int64_t columns = std::min(kPanelWidth, a.out - n);
  for (int64_t row = 0; row < rows; ++row) {
    float* const y = a.y + (m + row) * a.y_stride + n;
    for_each_vector(d, columns, [&](auto at, auto load, auto store) {
      auto sum = load(c + row * kPanelWidth + at);
      if (a.bias != nullptr) sum = hn::Add(sum, load(a.bias + n + at));
      store(sum, y + at);
    });
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
