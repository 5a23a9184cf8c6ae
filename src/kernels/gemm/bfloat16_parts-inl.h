// Numbers in float32 as sums of numbers in bfloat16, of 8 significant bits, which is what matrix registers
// multiply, adding up in float32.
//
// A number of 24 significant bits is exactly the sum of three of 8, each of them what the earlier ones have
// left, rounded: x = x0 + x1 + x2, w = w0 + w1 + w2. What is added up of x w is x0 w0 + x0 w1 + x1 w0 + x1 w1
// + x2 w0 + x0 w2; the rest is less than 2^-25 of it, half of what float32 rounds anyway. Henry, Tang and
// Heinecke, "Leveraging the bfloat16 artificial intelligence datatype for higher-precision computations"
// (2019). Included once for each instruction set.

#if defined(HEED_KERNELS_BFLOAT16_PARTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_BFLOAT16_PARTS_INL_H_
#undef HEED_KERNELS_BFLOAT16_PARTS_INL_H_
#else
#define HEED_KERNELS_BFLOAT16_PARTS_INL_H_
#endif

#include <array>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm/amx_tile-inl.h"
#include "kernels/gemm/factor-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Which parts are multiplied, of both factors: small products before large ones, and from one to the next
/// only one of both parts changes, if that can be.
template <int kParts>
inline constexpr std::array<PartPair, 0> kPartPairs{};
template <>
inline constexpr std::array<PartPair, 6> kPartPairs<3>{{{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}}};
template <>
inline constexpr std::array<PartPair, 1> kPartPairs<1>{{{0, 0}}};

/// For multiply_registers().
template <int kParts>
struct SplitNumbers {
  using Total = float;
  static constexpr int kPairs = static_cast<int>(kPartPairs<kParts>.size());
  template <int n>
  static constexpr PartPair pair() {
    return kPartPairs<kParts>[n];
  }
  template <int kSum, int kX, int kW>
  static HWY_INLINE void add() {
    amx::add_bfloat16<kSum, kX, kW>();
  }
};

/// The inputs of one row of a register.
constexpr int64_t kStepInputs = 32;

/// The bits of the nearest number in bfloat16; of two as near, the one further from zero.
HWY_INLINE hn::Vec<Groups> round_to_bfloat16(hn::Vec<Floats> x) {
  const Groups d;
  return hn::And(hn::Add(hn::BitCast(d, x), hn::Set(d, 0x8000u)), hn::Set(d, 0xFFFF0000u));
}

/// The same, or what is no number.
HWY_INLINE hn::Vec<Groups> round_or_keep(hn::Vec<Floats> x) {
  const Groups d;
  const auto none = hn::And(hn::BitCast(d, x), hn::Set(d, 0xFFFF0000u));
  const auto quiet = hn::Or(none, hn::Set(d, 0x00400000u));
  return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(x)), quiet, round_to_bfloat16(x));
}

/// Group i of part n, of a register each: that of low_i and, behind it, that of high_i.
template <int kParts>
HWY_INLINE void split(hn::Vec<Floats> low, hn::Vec<Floats> high, uint32_t* parts) {
  const Groups d;
  for (int n = 0; n < kParts; ++n) {
    const auto part_of = [&](hn::Vec<Floats> x) {
      if (n == 2) return hn::And(hn::BitCast(d, x), hn::Set(d, 0xFFFF0000u));  // there is nothing to round
      return n == kParts - 1 ? round_or_keep(x) : round_to_bfloat16(x);
    };
    const auto low_part = part_of(low), high_part = part_of(high);
    hn::StoreU(hn::Or(hn::ShiftRight<16>(low_part), high_part), d, parts + n * kRegisterGroups);
    low = hn::Sub(low, hn::BitCast(Floats(), low_part));
    high = hn::Sub(high, hn::BitCast(Floats(), high_part));
  }
}

/// A register, in kParts parts, one after the other: 16 lines from `line` and 32 inputs from `k` on. A group
/// has the inputs k and k + 16 for each k, of both factors alike.
template <int kParts>
HWY_INLINE void pack_register(const Factor& f, int64_t line, int64_t k, uint32_t* groups) {
  alignas(64) float copy[amx::kTileRows * kStepInputs];
  const FloatBlock block = block_of<kStepInputs>(f, line, k, copy);
  const int64_t half = f.is_left ? kRowGroups : kRowGroups * block.stride;
  const Floats d;
  for (int64_t r = 0; r < amx::kTileRows; ++r) {
    const float* const from = block.rows + r * block.stride;
    split<kParts>(hn::LoadU(d, from), hn::LoadU(d, from + half), groups + r * kRowGroups);
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
