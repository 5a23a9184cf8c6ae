#include "kernels/gemm/int8_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
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
    round_row(x, a.columns, scale == 0 ? 0 : 1 / scale, 0, a.values + row * a.columns);
  }
}

/// The sums of one panel and up to kPanelColumns outputs of `rows` rows -> y. No multiplication is joined
/// with an addition here: see CMakeLists.txt.
template <class Lanes>
HWY_INLINE void scale_sums(const Int8ProductArguments& a, const int32_t* sums, int64_t rows, int64_t first,
                           const float* row_scales, float* y) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> whole;
  const int64_t columns = std::min(kPanelColumns, a.out - first);
  const int32_t* const column_sums = a.sums + first;
  const float* const column_scales = a.scales + first;
  const float* const bias = a.bias == nullptr ? nullptr : a.bias + first;
  for (int64_t row = 0; row < rows; ++row) {
    const auto row_scale = hn::Set(d, row_scales[row]);
    const int32_t* const sum = sums + row * kPanelColumns;
    float* const to = y + row * a.out + first;
    for_each_vector(d, columns, [&](auto at, auto load, auto store) {
      auto exact = hn::LoadU(whole, sum + at);
      if constexpr (Lanes::kShift != 0) {
        static_assert(Lanes::kShift == 1 << 7);
        exact = hn::Sub(exact, hn::ShiftLeft<7>(hn::LoadU(whole, column_sums + at)));
      }
      const auto scale = hn::Mul(row_scale, load(column_scales + at));
      const auto product = hn::Mul(hn::ConvertTo(d, exact), scale);
      store(bias == nullptr ? product : hn::Add(product, load(bias + at)), to + at);
    });
  }
}

/// Rows of x in 8 bits, `stride` Values of each, at most kBlockRows at a time: multiply(begin, rows, values,
/// row_scales). Values has room for whole tiles of rows.
template <class Lanes, class Multiply>
HWY_INLINE void quantize_rows(const Int8ProductArguments& a, int64_t stride, const Multiply& multiply) {
  using Value = typename Lanes::Value;
  thread_local std::vector<Value, PoolAllocator<Value>> values;
  values.resize(
      std::max(values.size(), static_cast<size_t>(std::min(a.rows + kMoreRows, kBlockRows) * stride)));
  float row_scales[kBlockRows];
  for (int64_t begin = 0; begin < a.rows; begin += kBlockRows) {
    const int64_t rows = std::min(kBlockRows, a.rows - begin);
    for (int64_t row = 0; row < rows; ++row) {
      row_scales[row] =
          quantize_row<Lanes::kShift>(a.x + (begin + row) * a.in, a.in, stride, values.data() + row * stride);
    }
    multiply(begin, rows, values.data(), row_scales);
  }
}

template <class Lanes>
HWY_INLINE void multiply(const Int8ProductArguments& a) {
  const int64_t stride = whole_groups(a.in);
  quantize_rows<
      Lanes>(a, stride, [&](int64_t begin, int64_t rows, const auto* values, const float* row_scales) {
    multiply_panels<Lanes>(
        {.rows = rows, .out = a.out, .in = stride, .values = values, .stride = stride, .panels = a.panels},
        [&](int64_t row, int64_t count, int64_t first, const int32_t* sums) {
          scale_sums<Lanes>(a, sums, count, first, row_scales + row, a.y + (begin + row) * a.out);
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
  quantize_rows<VnniLanes>(
      a, a.in, [&](int64_t begin, int64_t rows, const uint8_t* values, const float* row_scales) {
        multiply_panels_in_tiles<ByteNumbers>(
            {.rows = rows,
             .out = a.out,
             .steps = a.in / amx::kTileRowBytes,
             .x = {reinterpret_cast<const char*>(values), a.in, amx::kTileRows * a.in, 0, amx::kTileRowBytes},
             .panels = reinterpret_cast<const char*>(a.panels)},
            [&](int64_t row, int64_t count, int64_t first, const int32_t* sums) {
              scale_sums<VnniLanes>(a, sums, count, first, row_scales + row, a.y + (begin + row) * a.out);
            });
      });
}
#endif

void int8_product(const Int8ProductArguments& a) {
#if HEED_AMX && HWY_TARGET == HWY_AVX3
  if (internal::has_amx() && a.in > 0 && a.in % amx::kTileRowBytes == 0) return multiply_in_tiles(a);
#endif
#if HEED_BYTE_PRODUCTS
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

void quantize_weights(const QuantizeArguments& arguments) {
  HEED_SELECT(quantize_weights)(arguments);
}

void int8_product(const Int8ProductArguments& arguments) {
  HEED_CHECK(arguments.in <= kLongestInt8Sum);
  HEED_SELECT(int8_product)(arguments);
}

int64_t panel_bytes(int64_t out, int64_t in) {
  return whole_panels(out) * whole_groups(in);
}

void pack_panels(const int8_t* weights, int64_t out, int64_t in, int8_t* panels, int32_t* sums) {
  const int64_t whole_groups = in / kGroupInputs, groups = (in + kGroupInputs - 1) / kGroupInputs;
  const int64_t group_bytes = kPanelColumns * kGroupInputs;
  for (int64_t first = 0; first < out; first += kPanelColumns, panels += groups * group_bytes) {
    for (int64_t column = 0; column < kPanelColumns; ++column) {
      int8_t* to = panels + column * kGroupInputs;
      const bool there = first + column < out;
      const int8_t* row = there ? weights + (first + column) * in : nullptr;
      int32_t sum = 0;
      for (int64_t i = 0; i < (there ? in : 0); ++i) sum += row[i];
      sums[first + column] = sum;
      for (int64_t g = 0; g < groups; ++g, to += group_bytes) {
        const int64_t count = !there ? 0 : g < whole_groups ? kGroupInputs : in - g * kGroupInputs;
        if (count < kGroupInputs) std::memset(to, 0, kGroupInputs);
        if (count == kGroupInputs) {
          std::memcpy(to, row + g * kGroupInputs, kGroupInputs);
        } else {
          std::copy_n(there ? row + g * kGroupInputs : to, count, to);
        }
      }
    }
  }
}

}  // namespace heed
#endif
