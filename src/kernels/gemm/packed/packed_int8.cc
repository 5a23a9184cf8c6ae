#include "kernels/gemm/packed/packed_int8.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/gemm/blocking.h"
#include "kernels/simd/simd.h"
#include "kernels/thresholds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/packed/packed_int8.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/amx/packed_b_kernel-inl.h"
#include "kernels/gemm/packed/int8_numbers-inl.h"
#include "kernels/gemm/packed/packed_b_driver-inl.h"
#include "kernels/gemm/packed/quantize_row-inl.h"
#include "kernels/gemm/packed/vector_microkernel-inl.h"
#include "kernels/simd/rows-inl.h"
#include "kernels/simd/unroll-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

void quantize_weights(const QuantizeArguments& a) {
  for (int64_t row = 0; row < a.rows; ++row) {
    const float* x = a.x + row * a.columns;
    const float most = largest(x, a.columns);
    HEED_CHECK(std::isfinite(most));
    const float wanted = most < kSmallest ? 0 : most / 127;
    const float scale = std::bit_cast<float>((std::bit_cast<uint32_t>(wanted) + 0xffu) & ~0xffu);
    a.scales[row] = scale;
    round_row(x, a.columns, scale == 0 ? 0 : 1 / scale, 0, 127, a.values + row * a.columns);
  }
}

/// wide[step] of one panel: see Int8Panels. Lane l of the 16-bit sums has bytes 2 l and 2 l + 1 of both
/// dwords of a step; they fit if the positive weights alone and the negative ones alone do, times the largest
/// activation.
void mark_wide_steps(const int8_t* panel, int64_t steps, uint8_t* wide) {
  constexpr int64_t kGroupBytes = kPanelWidth * kPanelDepth, kLanesOfBit = 8 * kPanelDepth / 2;
  constexpr int16_t kMost = std::numeric_limits<int16_t>::max() / kMaxActivation;
  const hn::CappedTag<int16_t, kLanesOfBit> d;
  const auto zero = hn::Zero(d), most = hn::Set(d, kMost), least = hn::Set(d, int16_t{-kMost});
  for (int64_t step = 0; step < steps; ++step, panel += 2 * kGroupBytes) {
    int bits = 0;
    for (int64_t lane = 0; lane < kGroupBytes / 2; lane += static_cast<int64_t>(hn::Lanes(d))) {
      auto positive = zero, negative = zero;
      for (const int8_t* group : {panel, panel + kGroupBytes}) {
        const auto both = hn::LoadU(d, reinterpret_cast<const int16_t*>(group) + lane);
        for (const auto weight : {hn::ShiftRight<8>(hn::ShiftLeft<8>(both)), hn::ShiftRight<8>(both)}) {
          positive = hn::Add(positive, hn::Max(weight, zero));
          negative = hn::Add(negative, hn::Min(weight, zero));
        }
      }
      const auto over = hn::Or(hn::Gt(positive, most), hn::Lt(negative, least));
      if (!hn::AllFalse(d, over)) bits |= 1 << (lane / kLanesOfBit);
    }
    wide[step] = static_cast<uint8_t>(bits);
  }
}

/// Packs A: quantizes rows of x.
class QuantizedRows {
 public:
  /// Rows of `stride` bytes; memory for whole micro-kernels of `mr` rows.
  QuantizedRows(const PackedInt8Arguments& a, int64_t stride, int64_t mr)
      : args_(a), stride_(stride), mr_(mr) {}

  PackedRows<uint8_t> operator()(int64_t m0, int64_t rows) {
    thread_local std::vector<uint8_t, PoolAllocator<uint8_t>> values;
    values.resize(std::max(values.size(), static_cast<size_t>(round_up(rows, mr_) * stride_)));
    for (int64_t row = 0; row < rows; ++row) {
      scales_[row] = quantize_row({.x = args_.x + (m0 + row) * args_.in,
                                   .in = args_.in,
                                   .stride = stride_,
                                   .values = values.data() + row * stride_,
                                   .outliers = outliers_[row]});
    }
    return {values.data(), stride_};
  }
  const RowScale& scale(int64_t row) const { return scales_[row]; }
  const Outlier* outliers(int64_t row) const { return outliers_[row]; }

 private:
  const PackedInt8Arguments& args_;
  int64_t stride_, mr_;
  RowScale scales_[kPackedMc];
  Outlier outliers_[kPackedMc][kMostOutliers];
};

/// sums (kPanelWidth) = the products of |high| of these outliers with a panel. An outlier takes a step of K.
template <class Numbers>
HWY_INLINE void multiply_outliers(const Outlier* outliers, int count, const int8_t* panel, int32_t* sums) {
  constexpr uint32_t kDepth = Numbers::kDepth;
  constexpr int kVectors = Numbers::kNrVectors;
  for (int64_t n = 0; n < kPanelWidth; n += kVectors * Numbers::kLanes) {
    typename Numbers::C vectors[kVectors];
    unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA { vectors[v] = Numbers::zero(); });
    for (const Outlier* outlier = outliers; outlier != outliers + count; ++outlier) {
      const uint32_t k = outlier->k / kDepth * kDepth;
      const typename Numbers::BroadcastA x =
          Numbers::broadcast_a(outlier->digits + k % sizeof outlier->digits);
      const int8_t* const b = panel + size_t{k} * kPanelWidth + n * kPanelDepth;
      unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA {
        Numbers::multiply_add(vectors[v], x, Numbers::load_b(b + v * Numbers::kLanes * kPanelDepth));
      });
    }
    unroll<kVectors>(
        [&](auto v) HEED_INLINE_LAMBDA { Numbers::store_c(vectors[v], sums + n + v * Numbers::kLanes); });
  }
}

/// c (kPanelWidth) += 128 times the products of a row's outliers, each with its `high`, and a panel.
template <class Numbers>
HWY_NOINLINE void add_outliers(const RowScale& scale, const Outlier* outliers, const int8_t* panel,
                               int32_t* c) {
  alignas(64) int32_t positive[kPanelWidth], negative[kPanelWidth];
  multiply_outliers<Numbers>(outliers, scale.positive_outliers, panel, positive);
  multiply_outliers<Numbers>(outliers + scale.positive_outliers, scale.outliers - scale.positive_outliers,
                             panel, negative);
  const hn::ScalableTag<int32_t> d;
  for (int64_t n = 0; n < kPanelWidth; n += static_cast<int64_t>(hn::Lanes(d))) {
    const auto high = hn::Sub(hn::LoadU(d, positive + n), hn::LoadU(d, negative + n));
    hn::StoreU(hn::Add(hn::LoadU(d, c + n), hn::ShiftLeft<7>(high)), d, c + n);
  }
}

/// The epilogue: adds outliers, subtracts zero points, scales and adds the bias, for rows [row, row + rows)
/// of the block from m0 on and up to kPanelWidth columns from `n` on. Compiled without FMA contraction: see
/// CMakeLists.txt.
template <class Numbers>
HWY_INLINE void dequantize(const PackedInt8Arguments& a, const QuantizedRows& quantized, int64_t m0,
                           int64_t row, int64_t rows, int64_t n, int32_t* c) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const int64_t columns = std::min(kPanelWidth, a.out - n);
  const int32_t* const column_sums = a.sums + n;
  const float* const column_scales = a.scales + n;
  const float* const bias = a.bias == nullptr ? nullptr : a.bias + n;
  const int8_t* const panel = a.panels + n * padded_k(a.in);
  for (int64_t r = 0; r < rows; ++r) {
    const RowScale& quantization = quantized.scale(row + r);
    const auto row_scale = hn::Set(d, quantization.scale);
    const auto zero_point = hn::Set(integers, quantization.zero_point);
    int32_t* const sum = c + r * kPanelWidth;
    if (quantization.outliers > 0) {
      add_outliers<Numbers>(quantization, quantized.outliers(row + r), panel, sum);
    }
    float* const y = a.y + (m0 + row + r) * a.out + n;
    for_each_vector(d, columns, [&](auto at, auto load, auto store) {
      const auto offset = hn::Mul(zero_point, hn::LoadU(integers, column_sums + at));
      const auto exact = hn::Sub(hn::LoadU(integers, sum + at), offset);
      const auto scale = hn::Mul(row_scale, load(column_scales + at));
      const auto product = hn::Mul(hn::ConvertTo(d, exact), scale);
      store(bias == nullptr ? product : hn::Add(product, load(bias + at)), y + at);
    });
  }
}

template <class Numbers>
HWY_INLINE void multiply_in_vectors(const PackedInt8Arguments& a) {
  const int64_t k = padded_k(a.in);
  QuantizedRows quantized(a, k, 1);
  const auto epilogue = [&](int64_t m0, int64_t row, int64_t rows, int64_t n, int32_t* c) {
    dequantize<Numbers>(a, quantized, m0, row, rows, n, c);
  };
  VectorKernel kernel(PackedPanels<Numbers>{a.panels, a.out, k, a.wide}, quantized, epilogue);
  multiply_packed_b(kernel, a.rows, a.out, k);
}

#if HEED_AMX && HWY_TARGET == HWY_AVX3
/// For multiply_tiles().
struct AmxInt8 {
  using Accumulator = int32_t;
  static constexpr int kProducts = 1;
  template <int>
  static constexpr SplitProduct product() {
    return {0, 0};
  }
  template <int kC, int kA, int kB>
  static HWY_INLINE void dot() {
    amx::dot_u8s8<kC, kA, kB>();
  }
};

void multiply_on_amx(const PackedInt8Arguments& a) {
  const amx::TileConfig config;
  QuantizedRows quantized(a, a.in, kAmxMr);
  const auto epilogue = [&](int64_t m0, int64_t row, int64_t rows, int64_t n, int32_t* c) {
    dequantize<VnniInt8>(a, quantized, m0, row, rows, n, c);
  };
  using Kernel = AmxPackedBKernel<AmxInt8, QuantizedRows, decltype(epilogue)>;
  Kernel kernel({a.panels, a.out, a.in / amx::kTileRowBytes}, quantized, epilogue);
  multiply_packed_b(kernel, a.rows, a.out, a.in);
}
#endif

void multiply_packed_int8(const PackedInt8Arguments& a) {
#if HEED_AMX && HWY_TARGET == HWY_AVX3
  if (internal::has_amx() && int8_fits_amx(a.in)) return multiply_on_amx(a);
#endif
#if HEED_VNNI
  if (internal::has_vnni()) return multiply_in_vectors<VnniInt8>(a);
#endif
  multiply_in_vectors<DefaultInt8>(a);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {

HEED_EXPORT(quantize_weights);
HEED_EXPORT(multiply_packed_int8);
HEED_EXPORT(mark_wide_steps);

void quantize_weights(const QuantizeArguments& arguments) {
  HEED_SELECT(quantize_weights)(arguments);
}

void multiply_packed_int8(const PackedInt8Arguments& arguments) {
  HEED_CHECK(arguments.in <= kLongestInt8Sum);
  HEED_SELECT(multiply_packed_int8)(arguments);
}

Int8PanelSizes int8_panel_sizes(int64_t out, int64_t in) {
  const int64_t panels = padded_n(out) / kPanelWidth, k = padded_k(in);
  return {.panels = panels * kPanelWidth * k, .wide = panels * k / (2 * kPanelDepth)};
}

void pack_b_int8(const int8_t* weights, int64_t out, int64_t in, const Int8Panels& to) {
  const int64_t k = padded_k(in), group_bytes = kPanelWidth * kPanelDepth;
  const int64_t whole = in / kPanelDepth, steps = k / (2 * kPanelDepth);
  int8_t* panel = to.panels;
  uint8_t* wide = to.wide;
  for (int64_t first = 0; first < out; first += kPanelWidth, panel += kPanelWidth * k, wide += steps) {
    const int64_t columns = std::min(kPanelWidth, out - first);
    std::fill_n(to.sums + first, kPanelWidth, 0);
    if (columns < kPanelWidth || whole * kPanelDepth < k) std::fill_n(panel, kPanelWidth * k, int8_t{0});
    for (int64_t column = 0; column < columns; ++column) {
      const int8_t* row = weights + (first + column) * in;
      int8_t* const groups = panel + column * kPanelDepth;
      to.sums[first + column] = std::accumulate(row, row + in, int32_t{0});
      for (int64_t g = 0; g < whole; ++g) {
        std::memcpy(groups + g * group_bytes, row + g * kPanelDepth, kPanelDepth);
      }
      std::copy(row + whole * kPanelDepth, row + in, groups + whole * group_bytes);
    }
    HEED_SELECT(mark_wide_steps)(panel, steps, wide);
  }
}

}  // namespace heed
#endif
