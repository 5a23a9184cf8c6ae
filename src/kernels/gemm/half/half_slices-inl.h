// Few rows of x times weights in 16 bits as int8 slices, in vectors (vpdpbusd): the bits of the AMX kernel,
// since all its sums are exact (amx/int8_slices-inl.h has the formula).
//
// A weight is widened, made an integer W and kept in one dword, whose bytes are its slices W2, W1, W0 and
// zero, each 128 too large, since one factor of the instruction is unsigned. The four sums p0 to p3 of its
// products with X are four dot products of that dword:
//
//   dword of W:        W2   W1   W0   0        p0 = X0 W0
//   dwords of X:  p0    0    0   X0   0        p1 = X0 W1 + X1 W0
//                 p1    0   X0   X1   0        p2 = X0 W2 + X1 W1 + X2 W0
//                 p2   X0   X1   X2   0        p3 = X1 W2 + X2 W1
//                 p3   X1   X2    0   0
//
// The sums are then 128 times the sum of the dwords of X too large. Included once for each instruction set.

#if defined(HEED_KERNELS_HALF_SLICES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_HALF_SLICES_INL_H_
#undef HEED_KERNELS_HALF_SLICES_INL_H_
#else
#define HEED_KERNELS_HALF_SLICES_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/memory_pool.h"
#include "hwy/highway.h"
#include "kernels/gemm/amx/int8_slices-inl.h"
#include "kernels/gemm/half/half_pairs-inl.h"
#include "kernels/gemm/half/half_product.h"
#include "kernels/gemm/packed/int8_numbers-inl.h"
#include "kernels/simd/rows-inl.h"
#include "kernels/simd/unroll-inl.h"
#include "kernels/thresholds.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Sums of slice products: p0 to p3.
constexpr int kSliceSumCount = kSlices + 1;
/// K of a step: a vector of first numbers of pairs, and one of second numbers.
constexpr int64_t kSliceStep = 2 * kRowDwords;
/// Dwords of X of a step: p0 to p3 for first numbers, then for second ones.
constexpr int64_t kSliceStepDwords = 2 * kSliceSumCount * kRowDwords;

constexpr int64_t slice_blocks(int64_t in) {
  const int64_t kc = int8_slices_kc<kPackedInt8SlicesKc>(in);
  return kc == 0 ? 0 : (in + kc - 1) / kc;
}
/// From the scales of one block of K to those of the next: they are read four at a time.
constexpr int64_t slice_scale_stride(int64_t out) {
  return round_up(out, 4) + 4;
}
constexpr int64_t slice_steps(int64_t k) {
  return (k + kSliceStep - 1) / kSliceStep;
}

/// The scale of `count` numbers in 16 bits, as scale_of() of their floats.
template <bool kBfloat>
HWY_INLINE float scale_of_halves(const uint16_t* halves, int64_t count) {
  const hn::Repartition<uint16_t, Pairs> d;
  auto largest = hn::Zero(d);
  for_each_vector(d, count, [&](auto at, auto load, auto) HEED_INLINE_LAMBDA {
    largest = hn::Max(largest, hn::And(load(halves + at), hn::Set(d, uint16_t{0x7fff})));
  });
  const uint32_t most = hn::GetLane(hn::MaxOfLanes(d, largest));
  const auto widened = Widen<kBfloat>::first(hn::Set(Pairs(), most));
  return std::bit_cast<float>(hn::GetLane(scale_bits(hn::BitCast(Dwords(), widened))));
}

inline SliceScales slice_scales(const HalfMatrix& weight) {
  const int64_t in = weight.in, kc = int8_slices_kc<kPackedInt8SlicesKc>(in), blocks = slice_blocks(in);
  const int64_t stride = slice_scale_stride(weight.out);
  SliceScales scales(static_cast<size_t>(stride * blocks));
  for (int64_t n = 0; n < weight.out; ++n) {
    for (int64_t block = 0; block < blocks; ++block) {
      const uint16_t* const halves = weight.row(n) + block * kc;
      const int64_t count = std::min(kc, in - block * kc);
      scales[block * stride + n] =
          weight.bfloat ? scale_of_halves<true>(halves, count) : scale_of_halves<false>(halves, count);
    }
  }
  return scales;
}

/// Rows of x in slices.
class SlicedX {
 public:
  SlicedX(const float* x, int64_t rows, int64_t in)
      : kc_(int8_slices_kc<kPackedInt8SlicesKc>(in)),
        blocks_(slice_blocks(in)),
        row_dwords_(slice_steps(in) * kSliceStepDwords) {
    thread_local std::vector<uint32_t, PoolAllocator<uint32_t>> dwords;
    dwords.resize(std::max(dwords.size(), static_cast<size_t>(rows * row_dwords_)));
    dwords_ = dwords.data();
    thread_local std::vector<int32_t, PoolAllocator<int32_t>> starts;
    starts.resize(std::max(starts.size(), static_cast<size_t>(rows * blocks_ * kSliceSumCount * kRowDwords)));
    starts_ = starts.data();
    thread_local std::vector<float, PoolAllocator<float>> scales;
    scales.resize(std::max(scales.size(), static_cast<size_t>(blocks_ * kScaleStride)));
    scales_ = scales.data();
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t block = 0; block < blocks_; ++block) {
        const int64_t k = block * kc_;
        slice(x + row * in + k, std::min(kc_, in - k), row, block);
      }
    }
  }

  int64_t kc() const { return kc_; }
  int64_t blocks() const { return blocks_; }
  int64_t row_dwords() const { return row_dwords_; }
  const uint32_t* dwords(int64_t row, int64_t block) const {
    return dwords_ + row * row_dwords_ + block * slice_steps(kc_) * kSliceStepDwords;
  }
  /// Those of the row and the following ones, up to a multiple of four.
  const float* scales(int64_t row, int64_t block) const { return scales_ + block * kScaleStride + row; }
  /// What the sums begin with, so that they end as if no byte were too large: a vector for each.
  const int32_t* starts(int64_t row, int64_t block) const {
    return starts_ + (row * blocks_ + block) * kSliceSumCount * kRowDwords;
  }

 private:
  static constexpr int64_t kScaleStride = round_up(kMostSlicedHalfRows, 4) + 4;

  void slice(const float* x, int64_t count, int64_t row, int64_t block) {
    const Floats d;
    const Dwords words;
    float& scale = scales_[block * kScaleStride + row];
    scale = scale_of(x, count);
    const auto to_fixed = to_fixed_point(hn::Set(d, scale));
    auto* to = dwords_ + row * row_dwords_ + block * slice_steps(kc_) * kSliceStepDwords;
    hn::Vec<Int32s> excess[kSliceSumCount] = {};
    for (int64_t k = 0; k < count; k += kSliceStep) {
      alignas(64) float step[kSliceStep] = {};
      std::copy_n(x + k, std::min(kSliceStep, count - k), step);
      hn::Vec<Floats> first, second;
      hn::LoadInterleaved2(d, step, first, second);
      for (const auto& numbers : {first, second}) {
        const auto fixed = hn::Vec<Dwords>{_mm512_cvtps_epi32(hn::Mul(numbers, to_fixed).raw)};
        const auto bias = hn::Set(words, 0x808080u);
        const auto slices = hn::And(hn::Xor(hn::Add(fixed, bias), bias), hn::Set(words, 0xffffffu));
        const auto low = hn::Set(words, 0xffu), second_byte = hn::Set(words, 0xff00u),
                   third = hn::Set(words, 0xff0000u);
        const hn::Vec<Dwords> dwords_of_sums[kSliceSumCount] = {
            hn::And(slices, third),
            hn::Or(hn::And(hn::ShiftRight<8>(slices), second_byte), hn::And(hn::ShiftLeft<8>(slices), third)),
            hn::Or(hn::And(hn::ShiftRight<16>(slices), low),
                   hn::Or(hn::And(slices, second_byte), hn::And(hn::ShiftLeft<16>(slices), third))),
            hn::Or(hn::And(hn::ShiftRight<8>(slices), low), hn::And(hn::ShiftLeft<8>(slices), second_byte))};
        for (int sum = 0; sum < kSliceSumCount; ++sum, to += kRowDwords) {
          hn::StoreU(dwords_of_sums[sum], words, to);
          dot_fours(excess[sum], hn::Set(UInt8s(), uint8_t{128}), hn::BitCast(Int8s(), dwords_of_sums[sum]));
        }
      }
    }
    int32_t* const start = starts_ + (row * blocks_ + block) * kSliceSumCount * kRowDwords;
    for (int sum = 0; sum < kSliceSumCount; ++sum) {
      hn::StoreU(hn::Neg(excess[sum]), Int32s(), start + sum * kRowDwords);
    }
  }

  int64_t kc_, blocks_, row_dwords_;
  uint32_t* dwords_ = nullptr;
  int32_t* starts_ = nullptr;
  float* scales_ = nullptr;
};

/// The dword of slices of each weight. Rounds once, as the product alone would: w * to_fixed has a fraction
/// only below 2^11, where the sum has a unit of one.
HWY_INLINE hn::Vec<UInt8s> slices_of_weights(hn::Vec<Floats> weights, hn::Vec<Floats> to_fixed) {
  const auto sum = hn::MulAdd(weights, to_fixed, hn::Set(Floats(), 0x808080p0F));
  return hn::BitCast(UInt8s(), hn::Vec<Dwords>{_mm512_cvtps_epi32(sum.raw)});
}

/// kRows rows of x times some outputs: four sums, or three, at a time. Lane i of a vector of four is row
/// i / kOutputs and output i % kOutputs.
template <bool kBfloat, int kRows>
class HalfSlicesBlock {
 public:
  static constexpr int kOutputs = std::max(1, 4 / kRows), kSums = kRows * kOutputs;

  HalfSlicesBlock(const HalfProductArguments& a, const float* scales, const SlicedX& x)
      : args_(a), scales_(scales), x_(x) {}

  /// For rows of x from `row` on and outputs from `n` on.
  HWY_INLINE void multiply(int64_t row, int64_t n) const {
    const HalfMatrix& w = args_.weight;
    const Four d;
    auto c = args_.bias == nullptr ? hn::Zero(d) : of_outputs(args_.bias + n);
    for (int64_t block = 0; block < x_.blocks(); ++block) {
      const int64_t k = block * x_.kc();
      hn::Vec<FourIntegers> sums[kSliceSumCount];
      dot(row, n, block, k, std::min(x_.kc(), w.in - k), sums);
      // As SlicedRowWriter.
      auto sum = hn::ConvertTo(d, sums[kSlices]);
      for (int i = kSlices - 1; i >= 0; --i) {
        sum = hn::MulAdd(sum, hn::Set(d, 0x1p-8f), hn::ConvertTo(d, sums[i]));
      }
      const auto of_w =
          hn::Mul(of_outputs(scales_ + block * slice_scale_stride(w.out) + n), hn::Set(d, 0x1p-14f));
      c = hn::Add(hn::Mul(hn::Mul(sum, of_w), of_rows(x_.scales(row, block))), c);
    }
    alignas(16) float lanes[4];
    hn::Store(c, d, lanes);
    const int64_t columns = std::min<int64_t>(kOutputs, w.out - n);
    for (int64_t r = 0; r < kRows; ++r) {
      std::copy_n(lanes + r * kOutputs, columns, args_.y + (row + r) * w.out + n);
    }
  }

 private:
  using Four = hn::FixedTag<float, 4>;
  using FourIntegers = hn::FixedTag<int32_t, 4>;

  /// Lanes from numbers of the outputs, of which kOutputs are read.
  static HWY_INLINE hn::Vec<Four> of_outputs(const float* p) {
    const Four d;
    if constexpr (kOutputs == 1) return hn::Set(d, *p);
    if constexpr (kOutputs == 2) {
      const auto two = hn::LoadU(hn::Half<Four>(), p);
      return hn::Combine(d, two, two);
    }
    return hn::LoadU(d, p);
  }
  static HWY_INLINE hn::Vec<Four> of_rows(const float* p) {
    const Four d;
    if constexpr (kOutputs == 4) return hn::Set(d, *p);
    const auto four = hn::LoadU(d, p);
    if constexpr (kOutputs == 2) return hn::InterleaveLower(d, four, four);
    return four;
  }

  /// The exact sums of a block of K.
  HWY_INLINE void dot(int64_t row, int64_t n, int64_t block, int64_t k, int64_t count,
                      hn::Vec<FourIntegers>* totals) const {
    const Floats d;
    const hn::Repartition<uint16_t, Pairs> halves;
    hn::Vec<Floats> to_fixed[kOutputs];
    const uint16_t* w[kOutputs];
    const float* const scales = scales_ + block * slice_scale_stride(args_.weight.out) + n;
    unroll<kOutputs>([&](auto o) HEED_INLINE_LAMBDA {
      to_fixed[o] = to_fixed_point(hn::Set(d, scales[o]));
      w[o] = args_.weight.row(std::min<int64_t>(n + o, args_.weight.out - 1)) + k;
    });
    const char* prefetched = reinterpret_cast<const char*>(args_.weight.row(n)) + kBytesAhead +
                             slice_steps(k) * kOutputs * kCacheLineBytes;
    hn::Vec<Int32s> sums[kSums][kSliceSumCount];
    unroll<kSums>([&](auto i) HEED_INLINE_LAMBDA {
      const int32_t* const starts = x_.starts(row + i / kOutputs, block);
      unroll<kSliceSumCount>([&](auto sum) HEED_INLINE_LAMBDA {
        sums[i][sum] = hn::LoadU(Int32s(), starts + sum * kRowDwords);
      });
    });
    const uint32_t* x = x_.dwords(row, block);
    const int64_t row_dwords = x_.row_dwords();
    const auto step = [&](int64_t at, const auto& load) HEED_INLINE_LAMBDA {
      hn::Vec<Pairs> pairs[kOutputs];
      unroll<kOutputs>([&](auto o) HEED_INLINE_LAMBDA { pairs[o] = hn::BitCast(Pairs(), load(w[o] + at)); });
      const auto half_step = [&](const auto& widen, const uint32_t* dwords) HEED_INLINE_LAMBDA {
        unroll<kOutputs>([&](auto o) HEED_INLINE_LAMBDA {
          const auto slices = slices_of_weights(widen(pairs[o]), to_fixed[o]);
          unroll<kRows>([&](auto r) HEED_INLINE_LAMBDA {
            unroll<kSliceSumCount>([&](auto sum) HEED_INLINE_LAMBDA {
              const auto of_x = hn::LoadU(Dwords(), dwords + r * row_dwords + sum * kRowDwords);
              dot_fours(sums[r * kOutputs + o][sum], slices, hn::BitCast(Int8s(), of_x));
            });
          });
        });
      };
      half_step([](auto p) HEED_INLINE_LAMBDA { return Widen<kBfloat>::first(p); }, x);
      half_step([](auto p) HEED_INLINE_LAMBDA { return Widen<kBfloat>::second(p); },
                x + kSliceSumCount * kRowDwords);
      x += kSliceStepDwords;
      unroll<kOutputs>(
          [&](auto o) HEED_INLINE_LAMBDA { __builtin_prefetch(prefetched + o * kCacheLineBytes, 0, 2); });
      prefetched += kOutputs * kCacheLineBytes;
    };
    int64_t at = 0;
    for (; at + kSliceStep <= count; at += kSliceStep) {
      step(at, [&](const uint16_t* p) HEED_INLINE_LAMBDA { return hn::LoadU(halves, p); });
    }
    if (at < count) {
      const auto some = hn::FirstN(halves, static_cast<size_t>(count - at));
      step(at, [&](const uint16_t* p) HEED_INLINE_LAMBDA { return hn::MaskedLoad(some, halves, p); });
    }
    unroll<kSliceSumCount>([&](auto sum) HEED_INLINE_LAMBDA {
      const auto of = [&](auto i) HEED_INLINE_LAMBDA { return sums[std::min(i(), kSums - 1)][sum]; };
      alignas(16) int32_t four[4];
      reduce_four(
          Int32s(), of(std::integral_constant<int, 0>()), of(std::integral_constant<int, 1>()),
          of(std::integral_constant<int, 2>()), of(std::integral_constant<int, 3>()),
          [](auto a, auto b) HEED_INLINE_LAMBDA { return hn::Add(a, b); }, four);
      totals[sum] = hn::Load(FourIntegers(), four);
    });
  }

  /// Weights are prefetched this far ahead, one line after the other.
  static constexpr int64_t kBytesAhead = 8192;

  const HalfProductArguments& args_;
  const float* scales_;
  const SlicedX& x_;
};

template <bool kBfloat>
HWY_INLINE void multiply_halves_in_slices(const HalfProductArguments& a, const float* scales) {
  const SlicedX x(a.x, a.rows, a.weight.in);
  const auto multiply = [&]<int kRows>(std::integral_constant<int, kRows>, int64_t row, int64_t n) {
    const HalfSlicesBlock<kBfloat, kRows> block(a, scales, x);
    for (int64_t o = 0; o < 4; o += block.kOutputs) {
      if (n + o < a.weight.out) block.multiply(row, n + o);
    }
  };
  for (int64_t n = 0; n < a.weight.out; n += 4) {
    for_each_block<4>(a.rows, [&](int64_t row, int64_t count) {
      switch (count) {
        case 1:
          return multiply(std::integral_constant<int, 1>(), row, n);
        case 2:
          return multiply(std::integral_constant<int, 2>(), row, n);
        case 3:
          return multiply(std::integral_constant<int, 3>(), row, n);
        default:
          return multiply(std::integral_constant<int, 4>(), row, n);
      }
    });
  }
}

inline void multiply_halves_in_slices(const HalfProductArguments& a, const float* scales) {
  a.weight.bfloat ? multiply_halves_in_slices<true>(a, scales) : multiply_halves_in_slices<false>(a, scales);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
