#include "kernels/gemm/selected_product.h"

#include <algorithm>
#include <cstring>
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

/// Four outputs of the list; the last ones of a list are repeated.
template <class Numbers>
struct OutputBlock {
  const typename Numbers::Weight* weights[kOutputs];
  int32_t outputs[kOutputs];
  int64_t first, count;  ///< in the list
};

/// Adds up each of four vectors.
template <class Numbers>
HWY_INLINE void reduce_outputs(const typename Numbers::Sum* sums, typename Numbers::Total* totals) {
  reduce_four(
      hn::ScalableTag<typename Numbers::Total>(), Numbers::lane_sums(sums[0]), Numbers::lane_sums(sums[1]),
      Numbers::lane_sums(sums[2]), Numbers::lane_sums(sums[3]), [](auto a, auto b) { return hn::Add(a, b); },
      totals);
}

/// sums[n] = the sum of weights n: of int8, where zero points are subtracted from the product.
template <class Numbers>
HWY_INLINE void sum_weights(const OutputBlock<Numbers>& block, int64_t in, int32_t* sums) {
  const int64_t lanes = Numbers::lanes();
  typename Numbers::Sum lane_sums[kOutputs];
  unroll<kOutputs>([&](auto n) HEED_INLINE_LAMBDA { lane_sums[n] = Numbers::zero(); });
  int64_t at = 0;
  for (; at + lanes <= in; at += lanes) {
    unroll<kOutputs>([&](auto n) HEED_INLINE_LAMBDA {
      Numbers::add(lane_sums[n], Numbers::weights(block.weights[n] + at), Numbers::one());
    });
  }
  reduce_outputs<Numbers>(lane_sums, sums);
  for (; at < in; ++at) {
    for (int n = 0; n < kOutputs; ++n) sums[n] += block.weights[n][at];
  }
}

/// totals[row][n] = the dot product of weights n and row `row` of x.
template <class Numbers, int kRows>
HWY_INLINE void dot_block(const OutputBlock<Numbers>& block, const typename Numbers::Value* x, int64_t in,
                          typename Numbers::Total (*totals)[kOutputs]) {
  using Total = typename Numbers::Total;
  const int64_t lanes = Numbers::lanes();
  typename Numbers::Sum sums[kRows * kOutputs];  // in registers
  unroll<kRows * kOutputs>([&](auto i) HEED_INLINE_LAMBDA { sums[i] = Numbers::zero(); });
  int64_t at = 0;
  for (; at + lanes <= in; at += lanes) {
    unroll<kOutputs>([&](auto n) HEED_INLINE_LAMBDA {
      const auto weights = Numbers::weights(block.weights[n] + at);
      unroll<kRows>([&](auto row) HEED_INLINE_LAMBDA {
        Numbers::add(sums[row * kOutputs + n], weights, Numbers::values(x + row * in + at));
      });
    });
  }
  unroll<kRows>([&](auto row) HEED_INLINE_LAMBDA {
    reduce_outputs<Numbers>(sums + row * kOutputs, totals[row]);
    for (int64_t i = at; i < in; ++i) {
      const auto value = static_cast<Total>(x[row * in + i]);
      for (int n = 0; n < kOutputs; ++n) totals[row][n] += static_cast<Total>(block.weights[n][i]) * value;
    }
  });
}

/// For each block of outputs, epilogue_of(block) makes what is called as epilogue(row, totals) for each row.
template <class Numbers, class EpilogueOf>
HWY_INLINE void dot_selected(const typename Numbers::Weight* weight, const int32_t* outputs, int64_t count,
                             const typename Numbers::Value* x, int64_t all_rows, int64_t in,
                             const EpilogueOf& epilogue_of) {
  constexpr int kRows = 4;  // for each of which a loaded vector of W is used
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
    OutputBlock<Numbers> block;
    block.first = first;
    block.count = std::min<int64_t>(kOutputs, count - first);
    for (int64_t n = 0; n < kOutputs; ++n) {
      block.outputs[n] = outputs[first + std::min(n, block.count - 1)];
      block.weights[n] = weight + block.outputs[n] * in;
    }
    const auto epilogue = epilogue_of(block);
    typename Numbers::Total totals[kRows][kOutputs];
    for_each_block<kRows>(all_rows, [&](int64_t row, int64_t rows) HEED_INLINE_LAMBDA {
      switch (rows) {
        case 1:
          dot_block<Numbers, 1>(block, x + row * in, in, totals);
          break;
        case 2:
          dot_block<Numbers, 2>(block, x + row * in, in, totals);
          break;
        case 3:
          dot_block<Numbers, 3>(block, x + row * in, in, totals);
          break;
        default:
          dot_block<Numbers, kRows>(block, x + row * in, in, totals);
      }
      for (int64_t n = 0; n < rows; ++n) epilogue(row + n, totals[n]);
    });
  }
}

/// to[0, count) = values, of which there are kOutputs.
HWY_INLINE void store_outputs(const float* values, int64_t count, float* to) {
  if (count == kOutputs) {
    std::memcpy(to, values, kOutputs * sizeof(float));
  } else {
    std::copy_n(values, count, to);
  }
}

void float_selected_product(const SelectedProductArguments& a) {
  dot_selected<FloatNumbers>(a.weight, a.outputs, a.count, a.x, a.rows, a.in,
                             [&](const OutputBlock<FloatNumbers>& block) {
                               return [&](int64_t row, float(&totals)[kOutputs]) HEED_INLINE_LAMBDA {
                                 for (int n = 0; n < kOutputs; ++n)
                                   totals[n] += a.bias != nullptr ? a.bias[block.outputs[n]] : 0;
                                 store_outputs(totals, block.count, a.y + row * a.count + block.first);
                               };
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
struct DequantizedOutputs {
  const Int8SelectedProductArguments& args;
  const OutputBlock<Numbers>& block;
  const RowScale* row_scales;
  const Outlier* row_outliers;
  int32_t sums[kOutputs];
  float scales[kOutputs], bias[kOutputs];

  HWY_INLINE DequantizedOutputs(const Int8SelectedProductArguments& a, const OutputBlock<Numbers>& outputs,
                                const RowScale* scales_of_rows, const Outlier* outliers_of_rows)
      : args(a), block(outputs), row_scales(scales_of_rows), row_outliers(outliers_of_rows) {
    if (a.sums == nullptr) sum_weights<Numbers>(block, a.in, sums);
    for (int n = 0; n < kOutputs; ++n) {
      const int32_t output = block.outputs[n];
      if (a.sums != nullptr) sums[n] = a.sums[output];
      scales[n] = a.scales[output];
      bias[n] = a.bias != nullptr ? a.bias[output] : 0;
    }
  }
  HWY_INLINE void operator()(int64_t row, int32_t (&totals)[kOutputs]) const {
    const RowScale& of_row = row_scales[row];
    if (of_row.outliers > 0) {
      for (int n = 0; n < kOutputs; ++n) {
        totals[n] +=
            128 * multiply_outliers(row_outliers + row * kMostOutliers, of_row.outliers, block.weights[n]);
      }
    }
    float y[kOutputs];
    for (int n = 0; n < kOutputs; ++n) {
      const int32_t exact = totals[n] - of_row.zero_point * sums[n];
      y[n] = static_cast<float>(exact) * (of_row.scale * scales[n]);
    }
    if (args.bias != nullptr) {
      for (int n = 0; n < kOutputs; ++n) y[n] += bias[n];
    }
    store_outputs(y, block.count, args.y + row * args.count + block.first);
  }
};

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
  dot_selected<Numbers>(a.weight, a.outputs, a.count, values.data(), a.rows, a.in,
                        [&](const OutputBlock<Numbers>& block) HEED_INLINE_LAMBDA {
                          return DequantizedOutputs<Numbers>(a, block, scales.data(), outliers.data());
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
