// Which spans of attention go to matrix registers. Included once for each instruction set.

#if defined(HEED_KERNELS_WORTH_REGISTERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_WORTH_REGISTERS_INL_H_
#undef HEED_KERNELS_WORTH_REGISTERS_INL_H_
#else
#define HEED_KERNELS_WORTH_REGISTERS_INL_H_
#endif

#include <type_traits>

#include "kernels/attention/amx/split_factor-inl.h"
#include "kernels/attention/attention-inl.h"
#include "kernels/simd/isa.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// As many keys as a query sees on average make up for what splitting costs.
constexpr int64_t kKeysWorthRegisters = 96;
constexpr int64_t kQueriesWorthRegisters = 64;

/// Whether a span goes to matrix registers.
template <typename T>
HWY_INLINE bool worth_registers([[maybe_unused]] const AttentionArguments<T>& a,
                                [[maybe_unused]] const AttentionSpan& span) {
#if HEED_AMX && HWY_TARGET == HWY_AVX3
  if constexpr (std::is_same_v<T, float>) {
    const int64_t last = span.queries() - 1;
    const int64_t seen = (visible_keys(span, a.causal, 0) + visible_keys(span, a.causal, last)) / 2;
    return internal::has_amx() && a.key_rows == nullptr && a.key_width % kTile == 0 &&
           a.value_width % kTile == 0 && span.queries() >= kQueriesWorthRegisters &&
           seen >= kKeysWorthRegisters;
  }
#endif
  return false;
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
