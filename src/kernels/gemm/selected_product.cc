#include "kernels/gemm/selected_product.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/gemm/packed/packed_int8.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/selected_product.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/packed/int8_numbers-inl.h"
#include "kernels/gemm/packed/quantize_row-inl.h"
#include "kernels/simd/rows-inl.h"
#include "kernels/simd/unroll-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Outputs, that is rows of W, whose dot products are reduced together.
constexpr int kOutputs = 4;
/// Rows of W are gathered, so they are prefetched this many outputs ahead.
constexpr int64_t kPrefetchDistance = 2 * kOutputs;

// The type Numbers defines element type and instructions:
//   Weight, Value, Total    of W, of x (quantized, for int8), of a sum
//   lanes()                 elements of a vector
//   weights(), values()     a vector of W and of x
//   Sum, zero(), add()      accumulators, lane by lane
//   lane_sums()             a vector whose lanes add up to the dot product
//   one()                   int8 only: ones in place of x, for the sums of weights

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

#if HEED_INT8_DOT
/// Exact sums of u7 times s8.
template <bool kVnni>
struct ByteNumbers {
  using Weight = int8_t;
  using Value = uint8_t;
  using Total = int32_t;
  using Sum = hn::Vec<Int32s>;
  static HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(Int8s())); }
  static HWY_INLINE hn::Vec<Int8s> weights(const int8_t* w) { return hn::LoadU(Int8s(), w); }
  static HWY_INLINE Sum zero() { return hn::Zero(Int32s()); }
  static HWY_INLINE hn::Vec<UInt8s> values(const uint8_t* x) { return hn::LoadU(UInt8s(), x); }
  static HWY_INLINE hn::Vec<UInt8s> one() { return hn::Set(UInt8s(), uint8_t{1}); }
  static HWY_INLINE void add(Sum& sum, hn::Vec<Int8s> w, hn::Vec<UInt8s> x) {
#if HEED_VNNI
    if constexpr (kVnni) return dot_fours(sum, x, w);
#endif
    widen_add(sum, dot_pairs(x, w));
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
    // The implicit constructor would be compiled without this instruction set.
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

/// totals[row][n] = the dot product of w[n] and row `row` of x, without its zero point.
template <class Numbers, int kRows>
HWY_INLINE void dot_block(const typename Numbers::Weight* const (&w)[kOutputs],
                          const typename Numbers::Value* x, int64_t in,
                          [[maybe_unused]] const RowScale* row_scales,
                          typename Numbers::Total (*totals)[kOutputs]) {
  using Total = typename Numbers::Total;
  const int64_t lanes = Numbers::lanes();
  typename Numbers::Sum sums[kRows][kOutputs], weight_sums[kOutputs];
  for (int n = 0; n < kOutputs; ++n) {
    weight_sums[n] = Numbers::zero();
    for (int row = 0; row < kRows; ++row) sums[row][n] = Numbers::zero();
  }
  int64_t at = 0;
  for (; at + lanes <= in; at += lanes) {
    for (int n = 0; n < kOutputs; ++n) {
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
      for (int n = 0; n < kOutputs; ++n) totals[row][n] += static_cast<Total>(w[n][i]) * value;
    }
  }
}

/// Rows of x, and for int8 their scales and zero points.
template <class Numbers>
struct Rows {
  const typename Numbers::Value* x;
  int64_t rows, in;
  const RowScale* scales = nullptr;
};

/// epilogue(first, count, row, totals) for outputs [first, first + count) of the list and each row of x.
template <class Numbers, class Epilogue>
HWY_INLINE void dot_selected(const typename Numbers::Weight* weight, const int32_t* outputs, int64_t count,
                             const Rows<Numbers>& r, const Epilogue& epilogue) {
  constexpr int kRows = 4;  // for each of which a loaded vector of W is used
  const int64_t in = r.in;
  const auto scales_of = [&](int64_t row) { return r.scales == nullptr ? nullptr : r.scales + row; };
  const auto prefetch_outputs = [&](int64_t begin) {
    for (int64_t n = begin; n < std::min(begin + kOutputs, count); ++n) {
      const auto* bytes = reinterpret_cast<const char*>(weight + outputs[n] * in);
      const auto size = in * static_cast<int64_t>(sizeof(typename Numbers::Weight));
      for (int64_t at = 0; at < size; at += kCacheLineBytes) __builtin_prefetch(bytes + at);
    }
  };
  for (int64_t n = 0; n < kPrefetchDistance; n += kOutputs) prefetch_outputs(n);
  for (int64_t first = 0; first < count; first += kOutputs) {
    prefetch_outputs(first + kPrefetchDistance);
    const int64_t block = std::min<int64_t>(kOutputs, count - first);
    const typename Numbers::Weight* w[kOutputs];
    for (int64_t n = 0; n < kOutputs; ++n) w[n] = weight + outputs[first + std::min(n, block - 1)] * in;
    typename Numbers::Total totals[kRows][kOutputs];
    for_each_block<kRows>(r.rows, [&](int64_t row, int64_t rows) HEED_INLINE_LAMBDA {
      const auto* const x = r.x + row * in;
      switch (rows) {
        case 1:
          dot_block<Numbers, 1>(w, x, in, scales_of(row), totals);
          break;
        case 2:
          dot_block<Numbers, 2>(w, x, in, scales_of(row), totals);
          break;
        case 3:
          dot_block<Numbers, 3>(w, x, in, scales_of(row), totals);
          break;
        default:
          dot_block<Numbers, kRows>(w, x, in, scales_of(row), totals);
      }
      for (int64_t n = 0; n < rows; ++n) epilogue(first, block, row + n, totals[n]);
    });
  }
}

void float_selected_product(const SelectedProductArguments& a) {
  dot_selected<FloatNumbers>(a.weight, a.outputs, a.count, {a.x, a.rows, a.in},
                             [&](int64_t first, int64_t block, int64_t row, const float* totals) {
                               float* y = a.y + row * a.count;
                               for (int64_t n = first; n < first + block; ++n) {
                                 y[n] = totals[n - first] + (a.bias != nullptr ? a.bias[a.outputs[n]] : 0);
                               }
                             });
}

/// The sum of the products of `high` with a row of weights.
HWY_INLINE int32_t multiply_outliers(const Outlier* outliers, int count, const int8_t* weight) {
  int32_t sum = 0;
  for (int n = 0; n < count; ++n) sum += outliers[n].high * int32_t{weight[outliers[n].k]};
  return sum;
}

/// Compiled without FMA contraction: see CMakeLists.txt.
template <class Numbers>
HWY_INLINE void multiply_selected(const Int8SelectedProductArguments& a) {
  thread_local std::vector<uint8_t, PoolAllocator<uint8_t>> values;
  thread_local std::vector<RowScale, PoolAllocator<RowScale>> scales;
  thread_local std::vector<Outlier, PoolAllocator<Outlier>> outliers;
  values.resize(std::max(values.size(), static_cast<size_t>(a.rows * a.in)));
  scales.resize(std::max(scales.size(), static_cast<size_t>(a.rows)));
  outliers.resize(std::max(outliers.size(), static_cast<size_t>(a.rows * kMostOutliers)));
  auto* const bytes = reinterpret_cast<int8_t*>(values.data());
  quantize_rows(
      a.x, a.rows, a.in, a.in, [&](int64_t row) { return ByteRow{bytes + row * a.in}; }, scales.data(),
      outliers.data());
  const RowScale* row_scales = scales.data();
  const Outlier* row_outliers = outliers.data();
  dot_selected<Numbers>(a.weight, a.outputs, a.count, {values.data(), a.rows, a.in, row_scales},
                        [&](int64_t first, int64_t block, int64_t row, const int32_t* totals) {
                          float* y = a.y + row * a.count;
                          for (int64_t n = first; n < first + block; ++n) {
                            const int32_t output = a.outputs[n];
                            const float scale = row_scales[row].scale * a.scales[output];
                            const int32_t high =
                                multiply_outliers(row_outliers + row * kMostOutliers,
                                                  row_scales[row].outliers, a.weight + output * a.in);
                            const float product = static_cast<float>(totals[n - first] + 128 * high) * scale;
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
