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
#include "kernels/simd/math-inl.h"
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
    round_row(x, a.columns, {.factor = scale == 0 ? 0 : 1 / scale}, ByteRow{a.values + row * a.columns});
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

/// Packs A: quantizes rows of x, into memory of the calling thread. Keeps what the epilogue needs of them.
class QuantizedRows {
 public:
  explicit QuantizedRows(const PackedInt8Arguments& a) : args_(a) {}

  /// Memory for packed rows.
  static int8_t* memory(int64_t size) {
    thread_local std::vector<int8_t, PoolAllocator<int8_t>> bytes;
    bytes.resize(std::max(bytes.size(), static_cast<size_t>(size)));
    return bytes.data();
  }
  /// Rows [m0, m0 + rows): see quantize_rows().
  template <class RowOf>
  HWY_INLINE void quantize(int64_t m0, int64_t rows, int64_t stride, const RowOf& row_of) {
    thread_local std::vector<RowScale, PoolAllocator<RowScale>> scales;
    thread_local std::vector<Outlier, PoolAllocator<Outlier>> outliers;
    scales.resize(std::max(scales.size(), static_cast<size_t>(rows)));
    outliers.resize(std::max(outliers.size(), static_cast<size_t>(rows * kMostOutliers)));
    scales_ = scales.data();
    outliers_ = outliers.data();
    quantize_rows(args_.x + m0 * args_.in, rows, args_.in, stride, row_of, scales_, outliers_);
  }
  const RowScale& scale(int64_t row) const { return scales_[row]; }
  const Outlier* outliers(int64_t row) const { return outliers_ + row * kMostOutliers; }

 private:
  const PackedInt8Arguments& args_;
  RowScale* scales_ = nullptr;
  Outlier* outliers_ = nullptr;
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

template <Int8Epilogue kEpilogue, class D>
HWY_INLINE hn::Vec<D> activated(D d, hn::Vec<D> x) {
  if constexpr (kEpilogue == Int8Epilogue::kRelu) return at_least(d, 0, x);
  if constexpr (kEpilogue == Int8Epilogue::kGelu) return coarse_gelu(d, x);
  return x;
}

/// The epilogue: adds outliers, subtracts zero points unless rows are centred, scales, adds the bias and
/// applies the activation function, for rows [row, row + rows) of the block from m0 on and up to kPanelWidth
/// columns from `n` on. Compiled without FMA contraction: see CMakeLists.txt.
template <class Numbers, bool kCentred, Int8Epilogue kEpilogue>
HWY_NOINLINE void dequantize(const PackedInt8Arguments& a, const QuantizedRows& quantized, int64_t m0,
                             int64_t row, int64_t rows, int64_t n, int32_t* c) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<float>()));
  constexpr int kVectors = kPanelWidth / kLanes;
  const int64_t columns = std::min(kPanelWidth, a.out - n);
  const int8_t* const panel = a.panels + n * padded_k(a.in);
  // What belongs to the columns is padded to whole panels.
  hn::Vec<decltype(d)> column_scales[kVectors], bias[kVectors];
  hn::Vec<decltype(integers)> column_sums[kVectors];
  unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA {
    column_scales[v] = hn::LoadU(d, a.scales + n + v * kLanes);
    bias[v] = a.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, a.bias + n + v * kLanes);
    if constexpr (!kCentred) column_sums[v] = hn::LoadU(integers, a.sums + n + v * kLanes);
  });
  for (int64_t r = 0; r < rows; ++r) {
    const RowScale& quantization = quantized.scale(row + r);
    const auto row_scale = hn::Set(d, quantization.scale);
    const auto zero_point = hn::Set(integers, quantization.zero_point);
    int32_t* const sum = c + r * kPanelWidth;
    if (quantization.outliers > 0) {
      add_outliers<Numbers>(quantization, quantized.outliers(row + r), panel, sum);
    }
    float* const y = a.y + (m0 + row + r) * a.out + n;
    unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA {
      auto exact = hn::LoadU(integers, sum + v * kLanes);
      if constexpr (!kCentred) exact = hn::Sub(exact, hn::Mul(zero_point, column_sums[v]));
      const auto product = hn::Mul(hn::ConvertTo(d, exact), hn::Mul(row_scale, column_scales[v]));
      const auto result = activated<kEpilogue>(d, a.bias == nullptr ? product : hn::Add(product, bias[v]));
      const int64_t left = columns - v * kLanes;
      if (left >= kLanes) {
        hn::StoreU(result, d, y + v * kLanes);
      } else if (left > 0) {
        Partial<decltype(d)>{d, left}(result, y + v * kLanes);
      }
    });
  }
}

template <class Numbers, bool kCentred>
HWY_INLINE void dequantize(const PackedInt8Arguments& a, const QuantizedRows& quantized, int64_t m0,
                           int64_t row, int64_t rows, int64_t n, int32_t* c) {
  switch (a.epilogue) {
    case Int8Epilogue::kNone:
      return dequantize<Numbers, kCentred, Int8Epilogue::kNone>(a, quantized, m0, row, rows, n, c);
    case Int8Epilogue::kRelu:
      return dequantize<Numbers, kCentred, Int8Epilogue::kRelu>(a, quantized, m0, row, rows, n, c);
    case Int8Epilogue::kGelu:
      return dequantize<Numbers, kCentred, Int8Epilogue::kGelu>(a, quantized, m0, row, rows, n, c);
  }
}

template <class Numbers>
HWY_INLINE void multiply_in_vectors(const PackedInt8Arguments& a) {
  const int64_t k = padded_k(a.in);
  QuantizedRows quantized(a);
  const auto pack_a = [&](int64_t m0, int64_t rows) {
    int8_t* const bytes = QuantizedRows::memory(rows * k);
    quantized.quantize(m0, rows, k, [&](int64_t row) { return ByteRow{bytes + row * k}; });
    return PackedRows<uint8_t>{reinterpret_cast<const uint8_t*>(bytes), k};
  };
  const auto epilogue = [&](int64_t m0, int64_t row, int64_t rows, int64_t n, int32_t* c) {
    dequantize<Numbers, false>(a, quantized, m0, row, rows, n, c);
  };
  VectorKernel kernel(PackedPanels<Numbers>{a.panels, a.out, k, a.wide}, pack_a, epilogue);
  multiply_packed_b(kernel, a.rows, a.out, k);
}

#if HEED_AMX && HWY_TARGET == HWY_AVX3
/// For multiply_tiles(). AMX multiplies signed numbers as fast as unsigned ones, so rows are centred: there
/// is no zero point to subtract from the sums.
struct AmxInt8 {
  using Accumulator = int32_t;
  static constexpr int kProducts = 1;
  template <int>
  static constexpr SplitProduct product() {
    return {0, 0};
  }
  template <int kC, int kA, int kB>
  static HWY_INLINE void dot() {
    amx::dot_s8s8<kC, kA, kB>();
  }
};

/// A row in AMX tiles.
struct AmxByteRow {
  static constexpr bool kCentred = true;
  int8_t* data;
  int8_t* at(int64_t k) const {
    return data + k / amx::kTileRowBytes * kAmxStepBytesOfA + k % amx::kTileRowBytes;
  }
};

void multiply_on_amx(const PackedInt8Arguments& a) {
  const amx::TileConfig config;
  const int64_t steps = a.in / amx::kTileRowBytes;
  QuantizedRows quantized(a);
  const auto pack_a = [&](int64_t m0, int64_t rows) {
    const AmxRows packed{reinterpret_cast<char*>(QuantizedRows::memory(AmxRows::bytes(rows, steps))), steps};
    quantized.quantize(m0, rows, a.in,
                       [&](int64_t row) { return AmxByteRow{reinterpret_cast<int8_t*>(packed.row(row))}; });
    return packed;
  };
  const auto epilogue = [&](int64_t m0, int64_t row, int64_t rows, int64_t n, int32_t* c) {
    dequantize<VnniInt8, true>(a, quantized, m0, row, rows, n, c);
  };
  AmxPackedBKernel<AmxInt8, decltype(pack_a), decltype(epilogue)> kernel({a.panels, a.out, steps}, pack_a,
                                                                         epilogue);
  multiply_packed_b(kernel, a.rows, a.out, steps);
}
#endif

void multiply_packed_int8(const PackedInt8Arguments& a) {
#if HEED_AMX && HWY_TARGET == HWY_AVX3
  if (internal::has_amx() && int8_fits_amx(a.in) && a.rows > kMostInt8VectorRows) return multiply_on_amx(a);
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

void sum_rows_int8(const int8_t* weights, int64_t rows, int64_t columns, int32_t* sums) {
  for (int64_t row = 0; row < rows; ++row, weights += columns) {
    sums[row] = std::accumulate(weights, weights + columns, int32_t{0});
  }
}

void pack_b_int8(const int8_t* weights, int64_t out, int64_t in, const Int8Panels& to) {
  const int64_t k = padded_k(in), group_bytes = kPanelWidth * kPanelDepth;
  const int64_t whole = in / kPanelDepth, steps = k / (2 * kPanelDepth);
  int8_t* panel = to.panels;
  uint8_t* wide = to.wide;
  for (int64_t first = 0; first < out; first += kPanelWidth, panel += kPanelWidth * k, wide += steps) {
    const int64_t columns = std::min(kPanelWidth, out - first);
    sum_rows_int8(weights + first * in, columns, in, to.sums + first);
    std::fill_n(to.sums + first + columns, kPanelWidth - columns, 0);
    if (columns < kPanelWidth || whole * kPanelDepth < k) std::fill_n(panel, kPanelWidth * k, int8_t{0});
    for (int64_t column = 0; column < columns; ++column) {
      const int8_t* row = weights + (first + column) * in;
      std::copy(row + whole * kPanelDepth, row + in, panel + column * kPanelDepth + whole * group_bytes);
    }
    constexpr int64_t kGroups = kCacheLineBytes / kPanelDepth;  // a cache line of each row is in L1
    for (int64_t begin = 0; begin < whole; begin += kGroups) {
      for (int64_t g = begin; g < std::min(begin + kGroups, whole); ++g) {
        const int8_t* row = weights + first * in + g * kPanelDepth;
        int8_t* group = panel + g * group_bytes;
        for (int64_t column = 0; column < columns; ++column, row += in, group += kPanelDepth) {
          std::memcpy(group, row, kPanelDepth);
        }
      }
    }
    HEED_SELECT(mark_wide_steps)(panel, steps, wide);
  }
}

}  // namespace heed
#endif
