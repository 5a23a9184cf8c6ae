#include "kernels/gemm/half/half_product.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "kernels/gemm/blocking.h"
#include "kernels/simd/simd.h"
#include "kernels/thresholds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/half/half_product.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/half/half_pairs-inl.h"
#include "kernels/gemm/half/half_slices-inl.h"
#include "kernels/simd/rows-inl.h"
#include "kernels/simd/unroll-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void multiply_halves_f32(const HalfProductArguments&) {
  HEED_CHECK(false);
}

#else

/// Vectors of accumulators, with 32 vector registers or with 16.
constexpr int kPairSums = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 16 : 8;

/// A block of K of a panel in pairs, and what is prefetched meanwhile.
struct PairsBlock {
  const uint32_t* pairs;   ///< (size / 2, kPanelWidth)
  int64_t size;            ///< of K
  const char* prefetched;  ///< as many bytes as the block has
};

/// c += x * block, for kRows rows of x, rows of c having kPanelWidth columns.
template <bool kBfloat, int kRows>
HWY_INLINE void multiply_pairs(const PairsBlock& block, const float* x, int64_t x_stride, float* c) {
  const PairFloats d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(PairFloats()));
  constexpr int kPanelVectors = static_cast<int>(kPanelWidth) / kLanes;
  constexpr unsigned kMostVectors = kPairSums / kRows;
  constexpr int kVectors = std::min(kPanelVectors, static_cast<int>(std::bit_floor(kMostVectors)));
  static_assert(kPanelVectors % kVectors == 0);
  constexpr int64_t kLines =
      std::max<int64_t>(1, kLanes * kVectors * static_cast<int64_t>(sizeof(uint32_t)) / kCacheLineBytes);
  const char* prefetched = block.prefetched;
  for (int64_t n = 0; n < kPanelWidth; n += kLanes * kVectors) {
    hn::Vec<PairFloats> sums[kRows * kVectors];
    const auto for_each_sum = [&](const auto& body) HEED_INLINE_LAMBDA {
      unroll<kRows>([&](auto row) HEED_INLINE_LAMBDA {
        unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA {
          body(row * kVectors + v, c + row * kPanelWidth + n + v * kLanes);
        });
      });
    };
    const auto multiply = [&](int64_t k, const auto& weights) HEED_INLINE_LAMBDA {
      unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA {
        const auto w = weights(hn::LoadU(Pairs(), block.pairs + k / 2 * kPanelWidth + n + v * kLanes));
        unroll<kRows>([&](auto row) HEED_INLINE_LAMBDA {
          auto& sum = sums[row * kVectors + v];
          sum = hn::MulAdd(hn::Set(d, x[row * x_stride + k]), w, sum);
        });
      });
    };
    const auto first = [](auto pairs) HEED_INLINE_LAMBDA { return Widen<kBfloat>::first(pairs); };
    const auto second = [](auto pairs) HEED_INLINE_LAMBDA { return Widen<kBfloat>::second(pairs); };
    for_each_sum([&](int i, const float* from) HEED_INLINE_LAMBDA { sums[i] = hn::Load(d, from); });
    int64_t k = 0;
    for (; k + 2 <= block.size; k += 2, prefetched += kLines * kCacheLineBytes) {
      multiply(k, first);
      multiply(k + 1, second);
      unroll<kLines>([&](auto i)
                         HEED_INLINE_LAMBDA { __builtin_prefetch(prefetched + i * kCacheLineBytes, 0, 2); });
    }
    if (k < block.size) multiply(k, first);
    for_each_sum([&](int i, float* to) HEED_INLINE_LAMBDA { hn::Store(sums[i], d, to); });
  }
}

template <bool kBfloat>
HWY_INLINE void multiply_halves(const HalfProductArguments& a) {
  constexpr int kTogether = 4;  // rows of x for which a widened vector is used
  const int64_t in = a.weight.in;
  alignas(64) uint32_t pairs[kPairsBlock / 2 * kPanelWidth] = {};
  alignas(64) float c[kMostHalfRows * kPanelWidth];
  for (int64_t n = 0; n < a.weight.out; n += kPanelWidth) {
    const int64_t columns = std::min(kPanelWidth, a.weight.out - n);
    const HalfMatrix panel = a.weight.rows(n, columns);
    std::fill_n(c, a.rows * kPanelWidth, 0.0f);
    const int64_t most = panel.paired ? in : kPairsBlock;
    for (int64_t k = 0; k < in; k += most) {
      PairsBlock block{pairs, std::min(most, in - k),
                       reinterpret_cast<const char*>(panel.row(kPanelWidth) + k * kPanelWidth)};
      if (panel.paired) {
        constexpr int64_t kAhead = 4096;  // bytes: all panels are read in order
        block.pairs = reinterpret_cast<const uint32_t*>(panel.values);
        block.prefetched = reinterpret_cast<const char*>(panel.values) + kAhead;
      } else {
        transpose_pairs(panel, k, block.size, pairs);
      }
      for_each_block<kTogether>(a.rows, [&](int64_t row, int64_t count) HEED_INLINE_LAMBDA {
        const float* const x = a.x + row * in + k;
        float* const sums = c + row * kPanelWidth;
        switch (count) {
          case 1:
            return multiply_pairs<kBfloat, 1>(block, x, in, sums);
          case 2:
            return multiply_pairs<kBfloat, 2>(block, x, in, sums);
          case 3:
            return multiply_pairs<kBfloat, 3>(block, x, in, sums);
          default:
            return multiply_pairs<kBfloat, kTogether>(block, x, in, sums);
        }
      });
    }
    for (int64_t row = 0; row < a.rows; ++row) {
      float* const y = a.y + row * a.weight.out + n;
      for_each_vector(PairFloats(), columns, [&](auto at, auto load, auto store) {
        const auto sum = load(c + row * kPanelWidth + at);
        store(a.bias == nullptr ? sum : hn::Add(sum, load(a.bias + n + at)), y + at);
      });
    }
  }
}

void multiply_halves_f32(const HalfProductArguments& a) {
  a.weight.bfloat ? multiply_halves<true>(a) : multiply_halves<false>(a);
}

#endif

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {

HEED_EXPORT(multiply_halves_f32);

bool multiplies_halves_f32(int64_t rows) {
  return internal::kernel_set() != 0 && rows <= kMostHalfRows;
}

void multiply_halves_f32(const HalfProductArguments& arguments) {
  HEED_SELECT(multiply_halves_f32)(arguments);
}

#if HEED_AMX && HWY_TARGETS & HWY_AVX3

bool multiplies_halves_in_slices(int64_t rows) {
  return rows <= kMostSlicedHalfRows;
}
SliceScales slice_scales(const HalfMatrix& weight) {
  return N_AVX3::slice_scales(weight);
}
void multiply_halves_in_slices(const HalfProductArguments& arguments, const float* scales) {
  N_AVX3::multiply_halves_in_slices(arguments, scales);
}

#else

bool multiplies_halves_in_slices(int64_t) {
  return false;
}
SliceScales slice_scales(const HalfMatrix&) {
  return {};
}
void multiply_halves_in_slices(const HalfProductArguments&, const float*) {
  HEED_CHECK(false);
}

#endif

}  // namespace heed
#endif
