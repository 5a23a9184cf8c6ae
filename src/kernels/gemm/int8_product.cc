#include "kernels/gemm/int8_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/int8_product.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/amx_tile-inl.h"
#include "kernels/gemm/int8_lanes-inl.h"
#include "kernels/gemm/panel_tile-inl.h"
#include "kernels/gemm/quantize_row-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

constexpr int64_t kMoreRows = 31;  ///< of the last tile, at most

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
/// groups of a step; they fit if the positive weights alone and the negative ones alone do, times the largest
/// activation.
void mark_wide_steps(const int8_t* panel, int64_t steps, uint8_t* wide) {
  constexpr int64_t kGroupBytes = kPanelColumns * kGroupInputs, kLanesOfBit = 8 * kGroupInputs / 2;
  constexpr int16_t kMost = std::numeric_limits<int16_t>::max() / kLargestActivation;
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

/// The sums of one panel and up to kPanelColumns outputs of `rows` rows -> y. No multiplication is joined
/// with an addition here: see CMakeLists.txt.
HWY_INLINE void scale_sums(const Int8ProductArguments& a, const int32_t* sums, int64_t rows, int64_t first,
                           const RowScale* row_scales, float* y) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> whole;
  const int64_t columns = std::min(kPanelColumns, a.out - first);
  const int32_t* const column_sums = a.sums + first;
  const float* const column_scales = a.scales + first;
  const float* const bias = a.bias == nullptr ? nullptr : a.bias + first;
  for (int64_t row = 0; row < rows; ++row) {
    const auto row_scale = hn::Set(d, row_scales[row].scale);
    const auto zero_point = hn::Set(whole, row_scales[row].zero_point);
    const int32_t* const sum = sums + row * kPanelColumns;
    float* const to = y + row * a.out + first;
    for_each_vector(d, columns, [&](auto at, auto load, auto store) {
      const auto offset = hn::Mul(zero_point, hn::LoadU(whole, column_sums + at));
      const auto exact = hn::Sub(hn::LoadU(whole, sum + at), offset);
      const auto scale = hn::Mul(row_scale, load(column_scales + at));
      const auto product = hn::Mul(hn::ConvertTo(d, exact), scale);
      store(bias == nullptr ? product : hn::Add(product, load(bias + at)), to + at);
    });
  }
}

/// Quantizes rows of x, at most kBlockRows at a time: multiply(begin, rows, values, row_scales). A row of
/// values has `stride` bytes, and there is room for whole tiles of rows.
template <class Multiply>
HWY_INLINE void quantize_rows(const Int8ProductArguments& a, int64_t stride, const Multiply& multiply) {
  thread_local std::vector<uint8_t, PoolAllocator<uint8_t>> values;
  values.resize(
      std::max(values.size(), static_cast<size_t>(std::min(a.rows + kMoreRows, kBlockRows) * stride)));
  RowScale row_scales[kBlockRows];
  for (int64_t begin = 0; begin < a.rows; begin += kBlockRows) {
    const int64_t rows = std::min(kBlockRows, a.rows - begin);
    for (int64_t row = 0; row < rows; ++row) {
      row_scales[row] = quantize_row(a.x + (begin + row) * a.in, a.in, stride, values.data() + row * stride);
    }
    multiply(begin, rows, values.data(), row_scales);
  }
}

template <class Lanes>
HWY_INLINE void multiply(const Int8ProductArguments& a) {
  const int64_t stride = padded_inputs(a.in);
  quantize_rows(a, stride,
                [&](int64_t begin, int64_t rows, const uint8_t* values, const RowScale* row_scales) {
                  multiply_panels<Lanes>({.rows = rows,
                                          .out = a.out,
                                          .in = stride,
                                          .values = values,
                                          .stride = stride,
                                          .panels = a.panels,
                                          .wide = a.wide},
                                         [&](int64_t row, int64_t count, int64_t first, const int32_t* sums) {
                                           scale_sums(a, sums, count, first, row_scales + row,
                                                      a.y + (begin + row) * a.out);
                                         });
                });
}

#if HEED_AMX && HWY_TARGET == HWY_AVX3
struct ByteNumbers {
  using Total = int32_t;
  static constexpr int kPairs = 1;
  template <int>
  static constexpr PartPair pair() {
    return {0, 0};
  }
  template <int kSum, int kX, int kW>
  static HWY_INLINE void add() {
    amx::add_bytes<kSum, kX, kW>();
  }
};

void multiply_in_tiles(const Int8ProductArguments& a) {
  quantize_rows(a, a.in, [&](int64_t begin, int64_t rows, const uint8_t* values, const RowScale* row_scales) {
    multiply_panels_in_tiles<ByteNumbers>(
        {.rows = rows,
         .out = a.out,
         .steps = a.in / amx::kTileRowBytes,
         .x = {reinterpret_cast<const char*>(values), a.in, amx::kTileRows * a.in, 0, amx::kTileRowBytes},
         .panels = reinterpret_cast<const char*>(a.panels)},
        [&](int64_t row, int64_t count, int64_t first, const int32_t* sums) {
          scale_sums(a, sums, count, first, row_scales + row, a.y + (begin + row) * a.out);
        });
  });
}
#endif

void int8_product(const Int8ProductArguments& a) {
#if HEED_AMX && HWY_TARGET == HWY_AVX3
  if (internal::has_amx() && a.in > 0 && a.in % amx::kTileRowBytes == 0) return multiply_in_tiles(a);
#endif
#if HEED_VNNI
  if (internal::has_vnni()) return multiply<VnniLanes>(a);
#endif
  multiply<DefaultLanes>(a);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {

HEED_EXPORT(quantize_weights);
HEED_EXPORT(int8_product);
HEED_EXPORT(mark_wide_steps);

void quantize_weights(const QuantizeArguments& arguments) {
  HEED_SELECT(quantize_weights)(arguments);
}

void int8_product(const Int8ProductArguments& arguments) {
  HEED_CHECK(arguments.in <= kLongestInt8Sum);
  HEED_SELECT(int8_product)(arguments);
}

Int8PanelSizes int8_panel_sizes(int64_t out, int64_t in) {
  const int64_t panels = whole_panels(out) / kPanelColumns, k = padded_inputs(in);
  return {.panels = panels * kPanelColumns * k, .wide = panels * k / (2 * kGroupInputs)};
}

void pack_panels(const int8_t* weights, int64_t out, int64_t in, const Int8Panels& to) {
  const int64_t k = padded_inputs(in), group_bytes = kPanelColumns * kGroupInputs;
  const int64_t whole = in / kGroupInputs, steps = k / (2 * kGroupInputs);
  int8_t* panel = to.panels;
  uint8_t* wide = to.wide;
  for (int64_t first = 0; first < out; first += kPanelColumns, panel += kPanelColumns * k, wide += steps) {
    const int64_t columns = std::min(kPanelColumns, out - first);
    std::fill_n(to.sums + first, kPanelColumns, 0);
    if (columns < kPanelColumns || whole * kGroupInputs < k) std::fill_n(panel, kPanelColumns * k, int8_t{0});
    for (int64_t column = 0; column < columns; ++column) {
      const int8_t* row = weights + (first + column) * in;
      int8_t* const groups = panel + column * kGroupInputs;
      to.sums[first + column] = std::accumulate(row, row + in, int32_t{0});
      for (int64_t g = 0; g < whole; ++g) {
        std::memcpy(groups + g * group_bytes, row + g * kGroupInputs, kGroupInputs);
      }
      std::copy(row + whole * kGroupInputs, row + in, groups + whole * group_bytes);
    }
    HEED_SELECT(mark_wide_steps)(panel, steps, wide);
  }
}

}  // namespace heed
#endif
