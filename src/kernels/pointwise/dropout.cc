#include "kernels/pointwise/dropout.h"

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/dropout.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/pointwise/dropout-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <typename T>
void dropout(const DropoutArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const DropoutSource source(a.stream);
  const auto scale = hn::Set(d, static_cast<T>(a.stream.scale()));
  uint64_t bits[kDropoutBlock / kDropoutWordBits];
  for (int64_t begin = 0; begin < a.size; begin += kDropoutBlock) {
    draw_dropout_block(source, static_cast<uint64_t>(begin / kDropoutBlock), bits);
    for_each_vector(d, std::min(kDropoutBlock, a.size - begin), [&](auto at, auto load, auto store) {
      const auto x = load(a.x + begin + at), mask = dropout_factors(d, bits, at, scale);
      T* y = a.y + begin + at;
      store(a.residual != nullptr ? hn::MulAdd(x, mask, load(a.residual + begin + at)) : hn::Mul(x, mask), y);
    });
  }
}

HEED_KERNEL(dropout, DropoutArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(dropout, DropoutArguments)
}  // namespace heed
#endif
