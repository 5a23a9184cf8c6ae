#include "kernels/gemm/selected_product.h"

#include <algorithm>
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
//   kShift                  what a Value has been made larger by
//   lanes()                 numbers of a vector
//   weights()               so many of W
//   Sum, zero(), add()      sums of products, lane by lane
//   Shift, no_shift(), add_shift()   what kShift makes of these sums too much
//   lane_sums()             vectors of lanes that are to be added up

/// Values as they are.
struct Unshifted {
  static constexpr int32_t kShift = 0;
  struct Shift {};
  static HWY_INLINE Shift no_shift() { return {}; }
  template <class V>
  static HWY_INLINE void add_shift(Shift&, V) {}
};

/// Sums of float32.
struct FloatNumbers : Unshifted {
  using Weight = float;
  using Value = float;
  using Total = float;
  using D = hn::ScalableTag<float>;
  using Sum = hn::Vec<D>;
  static HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(D())); }
  static HWY_INLINE Sum weights(const float* w) { return hn::LoadU(D(), w); }
  static HWY_INLINE Sum zero() { return hn::Zero(D()); }
  static HWY_INLINE void add(Sum& sum, Sum w, const float* x) { sum = hn::MulAdd(w, hn::LoadU(D(), x), sum); }
  static HWY_INLINE Sum lane_sums(Sum sum, Shift) { return sum; }
};

/// Exact sums of products of whole numbers, in pairs that 32 bits hold.
struct WholeNumbers : Unshifted {
  using Weight = int8_t;
  using Value = int16_t;
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
  static HWY_INLINE void add(Sum& sum, hn::Vec<D> w, const int16_t* x) {
    sum.low = hn::ReorderWidenMulAccumulate(Wide(), w, hn::LoadU(D(), x), sum.low, sum.high);
  }
  static HWY_INLINE hn::Vec<Wide> lane_sums(const Sum& sum, Shift) { return hn::Add(sum.low, sum.high); }
};

#if HEED_BYTE_PRODUCTS
/// The same with the instruction of VNNI.
struct VnniNumbers {
  using Weight = int8_t;
  using Value = uint8_t;
  using Total = int32_t;
  static constexpr int32_t kShift = 128;
  using Unsigned = hn::Repartition<uint8_t, ByteSums>;
  using Sum = hn::Vec<ByteSums>;
  using Shift = Sum;
  static HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(Bytes())); }
  static HWY_INLINE hn::Vec<Bytes> weights(const int8_t* w) { return hn::LoadU(Bytes(), w); }
  static HWY_INLINE Sum zero() { return hn::Zero(ByteSums()); }
  static HWY_INLINE void add(Sum& sum, hn::Vec<Bytes> w, const uint8_t* x) {
    add_byte_products(sum, hn::LoadU(Unsigned(), x), w);
  }
  static HWY_INLINE Shift no_shift() { return zero(); }
  static HWY_INLINE void add_shift(Shift& shift, hn::Vec<Bytes> w) {
    add_byte_products(shift, hn::Set(Unsigned(), uint8_t{kShift}), w);
  }
  static HWY_INLINE Sum lane_sums(Sum sum, Shift shift) { return hn::Sub(sum, shift); }
};
#endif

/// totals[row][n] = the scalar product of weights w[n] and row `row` of x.
template <class Numbers, int kRows>
HWY_INLINE void dot_block(const typename Numbers::Weight* const (&w)[kWords],
                          const typename Numbers::Value* x, int64_t in,
                          typename Numbers::Total (*totals)[kWords]) {
  using Total = typename Numbers::Total;
  const int64_t lanes = Numbers::lanes();
  typename Numbers::Sum sums[kRows][kWords];
  typename Numbers::Shift shifts[kWords];
  for (int n = 0; n < kWords; ++n) {
    shifts[n] = Numbers::no_shift();
    for (int row = 0; row < kRows; ++row) sums[row][n] = Numbers::zero();
  }
  int64_t at = 0;
  for (; at + lanes <= in; at += lanes) {
    for (int n = 0; n < kWords; ++n) {
      const auto weights = Numbers::weights(w[n] + at);
      Numbers::add_shift(shifts[n], weights);
      for (int row = 0; row < kRows; ++row) Numbers::add(sums[row][n], weights, x + row * in + at);
    }
  }
  const hn::ScalableTag<Total> d;
  for (int row = 0; row < kRows; ++row) {
    const auto lane_sums = [&](int n) { return Numbers::lane_sums(sums[row][n], shifts[n]); };
    reduce_four(
        d, lane_sums(0), lane_sums(1), lane_sums(2), lane_sums(3),
        [](auto a, auto b) { return hn::Add(a, b); }, totals[row]);
    for (int64_t i = at; i < in; ++i) {
      const Total value = static_cast<Total>(x[row * in + i]) - Numbers::kShift;
      for (int n = 0; n < kWords; ++n) totals[row][n] += static_cast<Total>(w[n][i]) * value;
    }
  }
}

/// finish(first, words, row, totals) for words [first, first + words) of the list and each row of x.
template <class Numbers, class Finish>
HWY_INLINE void dot_selected(const typename Numbers::Weight* weight, const int32_t* outputs, int64_t count,
                             const typename Numbers::Value* x, int64_t rows, int64_t in,
                             const Finish& finish) {
  constexpr int kRows = 4;  // that share weights as they are loaded
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
    for (; row + kRows <= rows; row += kRows) {
      dot_block<Numbers, kRows>(w, x + row * in, in, totals);
      for (int r = 0; r < kRows; ++r) finish(first, words, row + r, totals[r]);
    }
    for (; row < rows; ++row) {
      dot_block<Numbers, 1>(w, x + row * in, in, totals);
      finish(first, words, row, totals[0]);
    }
  }
}

void float_selected_product(const SelectedProductArguments& a) {
  dot_selected<FloatNumbers>(a.weight, a.outputs, a.count, a.x, a.rows, a.in,
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
  using Value = typename Numbers::Value;
  thread_local std::vector<Value, PoolAllocator<Value>> values;
  thread_local std::vector<float, PoolAllocator<float>> scales;
  values.resize(std::max(values.size(), static_cast<size_t>(a.rows * a.in)));
  scales.resize(std::max(scales.size(), static_cast<size_t>(a.rows)));
  for (int64_t row = 0; row < a.rows; ++row) {
    scales[row] = quantize_row<Numbers::kShift>(a.x + row * a.in, a.in, a.in, values.data() + row * a.in);
  }
  const float* row_scales = scales.data();
  dot_selected<Numbers>(a.weight, a.outputs, a.count, values.data(), a.rows, a.in,
                        [&](int64_t first, int64_t words, int64_t row, const int32_t* totals) {
                          float* y = a.y + row * a.count;
                          for (int64_t n = first; n < first + words; ++n) {
                            const int32_t output = a.outputs[n];
                            const float scale = row_scales[row] * a.scales[output];
                            const float product = static_cast<float>(totals[n - first]) * scale;
                            y[n] = a.bias == nullptr ? product : product + a.bias[output];
                          }
                        });
}

void int8_selected_product(const Int8SelectedProductArguments& a) {
#if HEED_BYTE_PRODUCTS
  if (internal::has_vnni()) return multiply_selected<VnniNumbers>(a);
#endif
  multiply_selected<WholeNumbers>(a);
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
