#include "kernels/gemm/selected_product.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/gemm/int8_product.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/selected_product.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/byte_products-inl.h"
#include "kernels/gemm/quantize_row-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

constexpr int kWords = 4;  ///< rows of weights whose sums are put together from their lanes at once
/// Of the next rows of weights, which lie anywhere, so many are asked for ahead of their use.
constexpr int64_t kAhead = 2 * kWords;
constexpr int64_t kCacheLine = 64;

// What kind of numbers and which instructions it is, the loops below are told by a type Numbers:
//   Weight, Value, Total    of W, of x as the loop finds it, of a sum
//   lanes()                 numbers of a vector
//   weights(), values()     so many of W and x
//   Sum, zero(), add()      sums of products, lane by lane
//   lane_sums()             vectors of lanes that are to be added up
//   one()                   only of int8: ones instead of values, for the sums of weights

/// Sums of float32.
struct FloatNumbers {
  using Weight = float;
  using Value = float;
  using Total = float;
  using D = hn::ScalableTag<float>;
  using Sum = hn::Vec<D>;
  static HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(D())); }
  static HWY_INLINE Sum weights(const float* w) { return hn::LoadU(D(), w); }
  static HWY_INLINE Sum zero() { return hn::Zero(D()); }
  static HWY_INLINE Sum values(const float* x) { return hn::LoadU(D(), x); }
  static HWY_INLINE void add(Sum& sum, Sum w, Sum x) { sum = hn::MulAdd(w, x, sum); }
  static HWY_INLINE Sum lane_sums(Sum sum) { return sum; }
};

#if HEED_BYTE_PRODUCTS
/// Exact sums of u7 times s8.
template <bool kVnni>
struct ByteNumbers {
  using Weight = int8_t;
  using Value = uint8_t;
  using Total = int32_t;
  using Sum = hn::Vec<ByteSums>;
  static HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(Bytes())); }
  static HWY_INLINE hn::Vec<Bytes> weights(const int8_t* w) { return hn::LoadU(Bytes(), w); }
  static HWY_INLINE Sum zero() { return hn::Zero(ByteSums()); }
  static HWY_INLINE hn::Vec<UnsignedBytes> values(const uint8_t* x) { return hn::LoadU(UnsignedBytes(), x); }
  static HWY_INLINE hn::Vec<UnsignedBytes> one() { return hn::Set(UnsignedBytes(), uint8_t{1}); }
  static HWY_INLINE void add(Sum& sum, hn::Vec<Bytes> w, hn::Vec<UnsignedBytes> x) {
#if HEED_VNNI
    if constexpr (kVnni) return add_byte_products(sum, x, w);
#endif
    add_pairs(sum, multiply_byte_pairs(x, w));
  }
  static HWY_INLINE Sum lane_sums(Sum sum) {
    return sum;
  }
};
using Int8Numbers = ByteNumbers<false>;
#else
/// The same in 16 bits, added in pairs.
struct Int8Numbers {
  using Weight = int8_t;
  using Value = uint8_t;
  using Total = int32_t;
  using D = hn::ScalableTag<int16_t>;
  using Wide = hn::RepartitionToWide<D>;
  struct Sum {
    // The compiler's own would be for processors that lack this instruction set.
    HWY_INLINE Sum() : low(hn::Zero(Wide())), high(hn::Zero(Wide())) {}
    hn::Vec<Wide> low, high;
  };
  static HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(D())); }
  static HWY_INLINE hn::Vec<D> weights(const int8_t* w) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<int8_t, D>(), w));
  }
  static HWY_INLINE Sum zero() { return {}; }
  static HWY_INLINE hn::Vec<D> values(const uint8_t* x) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<uint8_t, D>(), x));
  }
  static HWY_INLINE hn::Vec<D> one() { return hn::Set(D(), int16_t{1}); }
  static HWY_INLINE void add(Sum& sum, hn::Vec<D> w, hn::Vec<D> x) {
    sum.low = hn::ReorderWidenMulAccumulate(Wide(), w, x, sum.low, sum.high);
  }
  static HWY_INLINE hn::Vec<Wide> lane_sums(const Sum& sum) { return hn::Add(sum.low, sum.high); }
};
#endif

template <class Numbers>
constexpr bool kHasZeroPoints = std::is_integral_v<typename Numbers::Weight>;

/// totals[row][n] = the scalar product of weights w[n] and row `row` of x, whose zero points are taken off.
template <class Numbers, int kRows>
HWY_INLINE void dot_block(const typename Numbers::Weight* const (&w)[kWords],
                          const typename Numbers::Value* x, int64_t in,
                          [[maybe_unused]] const RowScale* row_scales,
                          typename Numbers::Total (*totals)[kWords]) {
  using Total = typename Numbers::Total;
  const int64_t lanes = Numbers::lanes();
  typename Numbers::Sum sums[kRows][kWords], weight_sums[kWords];
  for (int n = 0; n < kWords; ++n) {
    weight_sums[n] = Numbers::zero();
    for (int row = 0; row < kRows; ++row) sums[row][n] = Numbers::zero();
  }
  int64_t at = 0;
  for (; at + lanes <= in; at += lanes) {
    for (int n = 0; n < kWords; ++n) {
      const auto weights = Numbers::weights(w[n] + at);
      if constexpr (kHasZeroPoints<Numbers>) Numbers::add(weight_sums[n], weights, Numbers::one());
      for (int row = 0; row < kRows; ++row) {
        Numbers::add(sums[row][n], weights, Numbers::values(x + row * in + at));
      }
    }
  }
  const hn::ScalableTag<Total> d;
  for (int row = 0; row < kRows; ++row) {
    const auto lane_sums = [&](int n) {
      const auto products = Numbers::lane_sums(sums[row][n]);
      if constexpr (kHasZeroPoints<Numbers>) {
        const auto zero_point = hn::Set(d, row_scales[row].zero_point);
        return hn::Sub(products, hn::Mul(zero_point, Numbers::lane_sums(weight_sums[n])));
      } else {
        return products;
      }
    };
    reduce_four(
        d, lane_sums(0), lane_sums(1), lane_sums(2), lane_sums(3),
        [](auto a, auto b) { return hn::Add(a, b); }, totals[row]);
    for (int64_t i = at; i < in; ++i) {
      auto value = static_cast<Total>(x[row * in + i]);
      if constexpr (kHasZeroPoints<Numbers>) value -= row_scales[row].zero_point;
      for (int n = 0; n < kWords; ++n) totals[row][n] += static_cast<Total>(w[n][i]) * value;
    }
  }
}

/// Rows of x, and of int8 how they were quantized.
template <class Numbers>
struct Rows {
  const typename Numbers::Value* x;
  int64_t rows, in;
  const RowScale* scales = nullptr;
};

/// finish(first, words, row, totals) for words [first, first + words) of the list and each row of x.
template <class Numbers, class Finish>
HWY_INLINE void dot_selected(const typename Numbers::Weight* weight, const int32_t* outputs, int64_t count,
                             const Rows<Numbers>& r, const Finish& finish) {
  constexpr int kRows = 4;  // that share weights as they are loaded
  const int64_t in = r.in;
  const auto scales_of = [&](int64_t row) { return r.scales == nullptr ? nullptr : r.scales + row; };
  const auto ask_for = [&](int64_t begin) {
    for (int64_t n = begin; n < std::min(begin + kWords, count); ++n) {
      const auto* bytes = reinterpret_cast<const char*>(weight + outputs[n] * in);
      const auto size = in * static_cast<int64_t>(sizeof(typename Numbers::Weight));
      for (int64_t at = 0; at < size; at += kCacheLine) __builtin_prefetch(bytes + at);
    }
  };
  for (int64_t n = 0; n < kAhead; n += kWords) ask_for(n);
  for (int64_t first = 0; first < count; first += kWords) {
    ask_for(first + kAhead);
    const int64_t words = std::min<int64_t>(kWords, count - first);
    const typename Numbers::Weight* w[kWords];
    for (int64_t n = 0; n < kWords; ++n) w[n] = weight + outputs[first + std::min(n, words - 1)] * in;
    typename Numbers::Total totals[kRows][kWords];
    int64_t row = 0;
    for (; row + kRows <= r.rows; row += kRows) {
      dot_block<Numbers, kRows>(w, r.x + row * in, in, scales_of(row), totals);
      for (int n = 0; n < kRows; ++n) finish(first, words, row + n, totals[n]);
    }
    for (; row < r.rows; ++row) {
      dot_block<Numbers, 1>(w, r.x + row * in, in, scales_of(row), totals);
      finish(first, words, row, totals[0]);
    }
  }
}

void float_selected_product(const SelectedProductArguments& a) {
  dot_selected<FloatNumbers>(a.weight, a.outputs, a.count, {a.x, a.rows, a.in},
                             [&](int64_t first, int64_t words, int64_t row, const float* totals) {
                               float* y = a.y + row * a.count;
                               for (int64_t n = first; n < first + words; ++n) {
                                 y[n] = totals[n - first] + (a.bias != nullptr ? a.bias[a.outputs[n]] : 0);
                               }
                             });
}

/// No multiplication is joined with an addition here: see CMakeLists.txt.
template <class Numbers>
HWY_INLINE void multiply_selected(const Int8SelectedProductArguments& a) {
  thread_local std::vector<uint8_t, PoolAllocator<uint8_t>> values;
  thread_local std::vector<RowScale, PoolAllocator<RowScale>> scales;
  values.resize(std::max(values.size(), static_cast<size_t>(a.rows * a.in)));
  scales.resize(std::max(scales.size(), static_cast<size_t>(a.rows)));
  for (int64_t row = 0; row < a.rows; ++row) {
    scales[row] = quantize_row(a.x + row * a.in, a.in, a.in, values.data() + row * a.in);
  }
  const RowScale* row_scales = scales.data();
  dot_selected<Numbers>(a.weight, a.outputs, a.count, {values.data(), a.rows, a.in, row_scales},
                        [&](int64_t first, int64_t words, int64_t row, const int32_t* totals) {
                          float* y = a.y + row * a.count;
                          for (int64_t n = first; n < first + words; ++n) {
                            const int32_t output = a.outputs[n];
                            const float scale = row_scales[row].scale * a.scales[output];
                            const float product = static_cast<float>(totals[n - first]) * scale;
                            y[n] = a.bias == nullptr ? product : product + a.bias[output];
                          }
                        });
}

void int8_selected_product(const Int8SelectedProductArguments& a) {
#if HEED_VNNI
  if (internal::has_vnni()) return multiply_selected<ByteNumbers<true>>(a);
#endif
  multiply_selected<Int8Numbers>(a);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {

HEED_EXPORT(float_selected_product);
HEED_EXPORT(int8_selected_product);

void selected_product(const SelectedProductArguments& arguments) {
  HEED_SELECT(float_selected_product)(arguments);
}

void selected_product(const Int8SelectedProductArguments& arguments) {
  HEED_CHECK(arguments.in <= kLongestInt8Sum);
  HEED_SELECT(int8_selected_product)(arguments);
}

}  // namespace heed
#endif
