#include "kernels/dropout.h"

#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <typename T>
void dropout(const DropoutArguments<T>& a) {
  DropoutReader<T> reader(a.stream);
  T mask[kDropoutBlock];
  for (int64_t begin = 0; begin < a.size; begin += kDropoutBlock) {
    const int64_t count = std::min(kDropoutBlock, a.size - begin);
    reader.read(begin, count, mask);
    const T* x = a.x + begin;
    T* y = a.y + begin;
    if (a.residual != nullptr) {
      const T* residual = a.residual + begin;
      for (int64_t i = 0; i < count; ++i) y[i] = residual[i] + x[i] * mask[i];
    } else {
      for (int64_t i = 0; i < count; ++i) y[i] = x[i] * mask[i];
    }
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
