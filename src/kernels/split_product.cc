#include "kernels/split_product.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/split_product.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/amx_tile-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/write_sums-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Small products before large ones, and from one to the next only one of both parts changes, if that can be.
template <int kParts>
struct SplitNumbers {
  using Total = float;
  static constexpr int64_t kWeightParts = kParts;
  static constexpr int kPairs = kParts == 2 ? 5 : 6;
  template <int n>
  static constexpr PartPair pair() {
    if constexpr (kParts == 2) {
      constexpr PartPair kAll[kPairs] = {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
      return kAll[n];
    } else {
      constexpr PartPair kAll[kPairs] = {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}};
      return kAll[n];
    }
  }
  template <int kSum, int kX, int kW>
  static HWY_INLINE void add() {
    amx::add_bfloat16<kSum, kX, kW>();
  }
};

using Floats = hn::ScalableTag<float>;
using Bits = hn::Rebind<uint16_t, Floats>;

HWY_INLINE hn::Vec<Bits> round_to_bfloat16(hn::Vec<Floats> x) {
  hn::Vec<Bits> rounded;
  asm("vcvtneps2bf16 %1, %0" : "=v"(rounded.raw) : "v"(x.raw));
  return rounded;
}

/// What rounding has left.
HWY_INLINE hn::Vec<Floats> rest(hn::Vec<Floats> x, hn::Vec<Bits> rounded) {
  const hn::RebindToUnsigned<Floats> bits;
  return hn::Sub(x, hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(bits, rounded))));
}

/// A row of x -> its kParts parts, `part` apart. Whether there is nothing left.
template <int kParts>
HWY_INLINE bool split_row(const float* x, int64_t size, uint16_t* parts, int64_t part) {
  auto left = hn::Zero(Floats());
  for_each_vector(Floats(), size, [&](auto at, auto load, auto) {
    auto now = load(x + at);
    for (int n = 0; n < kParts; ++n) {
      const auto rounded = round_to_bfloat16(now);
      hn::StoreU(rounded, Bits(), parts + n * part + at);
      now = rest(now, rounded);
    }
    left = hn::Or(left, now);
  });
  return hn::AllTrue(Floats(), hn::Eq(left, hn::Zero(Floats())));
}

/// (columns, in) -> (in / 2, columns, 2)
HWY_INLINE void interleave_pairs(const uint16_t* rows, int64_t in, uint16_t* panel) {
  constexpr int64_t kPairsAtATime = 16;  // what is written of them fits the nearest cache
  for (int64_t begin = 0; begin < in / 2; begin += kPairsAtATime) {
    const int64_t end = std::min(begin + kPairsAtATime, in / 2);
    for (int64_t column = 0; column < kPanelColumns; ++column) {
      for (int64_t pair = begin; pair < end; ++pair) {
        std::memcpy(panel + (pair * kPanelColumns + column) * 2, rows + column * in + pair * 2,
                    2 * sizeof *panel);
      }
    }
  }
}

template <int kParts>
bool pack_parts(const float* weights, int64_t out, int64_t in, uint16_t* panels) {
  std::vector<uint16_t, PoolAllocator<uint16_t>> rows;  // (parts, columns, inputs)
  for (int64_t begin = 0; begin < in; begin += kSplitInputs) {
    const int64_t inputs = std::min(kSplitInputs, in - begin), part = inputs * kPanelColumns;
    rows.resize(static_cast<size_t>(kParts * part));
    for (int64_t first = 0; first < out; first += kPanelColumns, panels += kParts * part) {
      const int64_t columns = std::min(kPanelColumns, out - first);
      if (columns < kPanelColumns) std::fill(rows.begin(), rows.end(), uint16_t{0});
      for (int64_t column = 0; column < columns; ++column) {
        const float* row = weights + (first + column) * in + begin;
        if (!split_row<kParts>(row, inputs, rows.data() + column * inputs, part)) return false;
      }
      for (int64_t n = 0; n < kParts; ++n) {
        interleave_pairs(rows.data() + n * part, inputs, panels + n * part);
      }
    }
  }
  return true;
}

bool pack_split_panels(const float* weights, int64_t out, int64_t in, int parts, uint16_t* panels) {
  return parts == 2 ? pack_parts<2>(weights, out, in, panels) : pack_parts<3>(weights, out, in, panels);
}

template <int kParts>
void multiply_parts(const SplitProductArguments& a) {
  constexpr int kPartsOfX = 3;
  constexpr int64_t kBytes = sizeof(uint16_t);
  thread_local std::vector<uint16_t, PoolAllocator<uint16_t>> parts;
  const int64_t part = std::min(a.rows + kRowsOfTiles - 1, kBlockRows) * std::min(a.in, kSplitInputs);
  parts.resize(std::max(parts.size(), static_cast<size_t>(kPartsOfX * part)));
  for (int64_t begin = 0; begin < a.rows; begin += kBlockRows) {
    const int64_t rows = std::min(kBlockRows, a.rows - begin);
    for (int64_t input = 0; input < a.in; input += kSplitInputs) {
      const int64_t inputs = std::min(kSplitInputs, a.in - input);
      for (int64_t row = 0; row < rows; ++row) {
        split_row<kPartsOfX>(a.x + (begin + row) * a.in + input, inputs, parts.data() + row * inputs, part);
      }
      const TileProduct product{
          .rows = rows,
          .out = a.out,
          .steps = inputs * kBytes / amx::kTileRowBytes,
          .x = reinterpret_cast<const char*>(parts.data()),
          .x_stride = inputs * kBytes,
          .x_part = part * kBytes,
          .panels = reinterpret_cast<const char*>(a.panels + kParts * whole_panels(a.out) * input)};
      multiply_panels_in_tiles<SplitNumbers<kParts>>(product, [&](int64_t row, int64_t count, int64_t first,
                                                                  const float* sums) {
        const bool begun = input > 0;
        write_sums(sums, count, first, a.out, begun ? nullptr : a.bias, a.y + (begin + row) * a.out, begun);
      });
    }
  }
}

void split_product(const SplitProductArguments& a) {
  a.parts == 2 ? multiply_parts<2>(a) : multiply_parts<3>(a);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace heed {

#if HEED_AMX && HWY_TARGETS & HWY_AVX3

bool has_split_product(int64_t in) {
  constexpr int64_t kInputs = amx::kTileRowBytes / static_cast<int64_t>(sizeof(uint16_t));
  return internal::has_amx() && in > 0 && in % kInputs == 0;
}
bool pack_split_panels(const float* weights, int64_t out, int64_t in, int parts, uint16_t* panels) {
  HEED_CHECK(parts == 2 || parts == 3);
  return N_AVX3::pack_split_panels(weights, out, in, parts, panels);
}
void split_product(const SplitProductArguments& arguments) {
  N_AVX3::split_product(arguments);
}

#else

bool has_split_product(int64_t) {
  return false;
}
bool pack_split_panels(const float*, int64_t, int64_t, int, uint16_t*) {
  return false;
}
void split_product(const SplitProductArguments&) {
  HEED_CHECK(false);
}

#endif

}  // namespace heed
#endif
