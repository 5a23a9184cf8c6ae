// The products of a group of 4-bit weights, which packed_int4.cc adds up: kInt4Group numbers along K of as
// many columns as a vector has lanes. Included once for each instruction set.

#if defined(HEED_KERNELS_INT4_GROUP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_INT4_GROUP_INL_H_
#undef HEED_KERNELS_INT4_GROUP_INL_H_
#else
#define HEED_KERNELS_INT4_GROUP_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/gemm/blocking.h"
#include "kernels/gemm/packed/int8_numbers-inl.h"
#include "kernels/gemm/packed/packed_int4.h"
#include "kernels/simd/unroll-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Dwords of weights of a group and a column, with 8 numbers each.
constexpr int kInt4Dwords = kInt4Group / (2 * kPanelDepth);

/// Any target: the numbers of a lane one after the other.
struct PlainInt4Group {
  using Sums = hn::ScalableTag<int32_t>;
  /// `dwords`: (kInt4Dwords, kPanelWidth), from the first column on.
  explicit HWY_INLINE PlainInt4Group(const uint8_t* dwords) : dwords_(dwords) {}

  /// sum of x_i q_i, for each column.
  HWY_INLINE hn::Vec<Sums> dot(const int8_t* x) const {
    const Sums d;
    const auto low = hn::Set(d, 15);
    auto sum = hn::Zero(d);
    for (int n = 0; n < kInt4Dwords; ++n, x += 2 * kPanelDepth) {
      const auto* const at = reinterpret_cast<const int32_t*>(dwords_) + n * kPanelWidth;
      auto rest = hn::LoadU(d, at);
      for (int i = 0; i < kPanelDepth; ++i, rest = hn::ShiftRight<8>(rest)) {
        const auto first = hn::And(rest, low), second = hn::And(hn::ShiftRight<4>(rest), low);
        sum = hn::Add(sum, hn::Mul(first, hn::Set(d, int32_t{x[i]})));
        sum = hn::Add(sum, hn::Mul(second, hn::Set(d, int32_t{x[i + kPanelDepth]})));
      }
    }
    return sum;
  }

 private:
  const uint8_t* dwords_;
};

#if HEED_INT8_DOT

/// Unpacked once for all rows of x. A weight is the unsigned operand of the products, x the signed one.
template <bool kVnni>
struct UnpackedInt4Group {
  using Sums = Int32s;
  explicit HWY_INLINE UnpackedInt4Group(const uint8_t* dwords) {
    const hn::Repartition<uint16_t, Int32s> words;
    const auto low = hn::Set(UInt8s(), uint8_t{15});
    unroll<kInt4Dwords>([&](auto n) HEED_INLINE_LAMBDA {
      const auto both = hn::LoadU(UInt8s(), dwords + n * kPanelWidth * kPanelDepth);
      weights_[2 * n] = hn::And(both, low);
      const auto shifted = hn::ShiftRight<4>(hn::BitCast(words, both));
      weights_[2 * n + 1] = hn::And(hn::BitCast(UInt8s(), shifted), low);
    });
  }

  HWY_INLINE hn::Vec<Int32s> dot(const int8_t* x) const {
    auto sum = hn::Zero(Int32s());
#if HEED_VNNI
    if constexpr (kVnni) {
      unroll<2 * kInt4Dwords>([&](auto n)
                                  HEED_INLINE_LAMBDA { dot_fours(sum, weights_[n], broadcast(x, n)); });
      return sum;
    }
#endif
    // 16 products of at most 15 * 127 fit 16 bits: they are widened once.
    auto pairs = hn::Zero(Int16s());
    unroll<2 * kInt4Dwords>(
        [&](auto n) HEED_INLINE_LAMBDA { pairs = hn::Add(pairs, dot_pairs(weights_[n], broadcast(x, n))); });
    widen_add(sum, pairs);
    return sum;
  }

 private:
  static HWY_INLINE hn::Vec<Int8s> broadcast(const int8_t* x, int dword) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(x) + dword * kPanelDepth;
    return hn::BitCast(Int8s(), broadcast_dword(bytes));
  }
  hn::Vec<UInt8s> weights_[2 * kInt4Dwords];
};

using DefaultInt4Group = UnpackedInt4Group<false>;

#else

using DefaultInt4Group = PlainInt4Group;

#endif

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
