// The innermost loop of products with packed weights, y = x W^T, in whatever numbers.
//
// Weights stand in panels of 64 outputs: (out / 64, in, 64), or with some inputs of a column together, (out /
// 64, in / inputs, 64, inputs). A tile is a few rows of x times one panel, with all its sums in registers: a
// panel that is in the cache is used by all rows before the next one is fetched, and each number of it that
// is loaded is multiplied with all rows of the tile. A sum is added up in the order of the inputs, whatever
// rows are beside it. Included once for each instruction set.

#if defined(HEED_KERNELS_PANEL_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PANEL_TILE_INL_H_
#undef HEED_KERNELS_PANEL_TILE_INL_H_
#else
#define HEED_KERNELS_PANEL_TILE_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/panel.h"

/// On a function without a name.
#ifndef HEED_INLINE_LAMBDA
#define HEED_INLINE_LAMBDA __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// What kind of numbers and which instruction set it is, the loop below is told by a type Lanes:
//   Value       of x, as the loop finds it
//   Weight      of a panel
//   Total       of a sum
//   kInputs     that stand together
//   kRows       of a tile, at most
//   kColumns    of one vector of sums
//   kVectors    vectors of a row that are summed at once
//   zero()      a vector of sums
//   weights()   those of kColumns columns for kInputs inputs
//   group()     kInputs numbers of a row of x, for every column
//   add()       sum + the products of both
//   store()     the sums of kColumns columns

/// Some rows times one panel.
template <class Lanes>
struct Tile {
  const typename Lanes::Value* values;
  int64_t stride;  ///< of values, from row to row
  int64_t groups;
  const typename Lanes::Weight* panel;
  typename Lanes::Total* sums;  ///< (rows, kPanelColumns)
};

/// body(0), ..., body(N - 1), with constants: what they index is kept in registers.
template <int N, class Body>
HWY_INLINE void repeat(const Body& body) {
  if constexpr (N > 0) {
    repeat<N - 1>(body);
    body(std::integral_constant<int, N - 1>());
  }
}

template <class Lanes, int kRows>
HWY_INLINE void sum_rows(const Tile<Lanes>& t) {
  constexpr int kColumns = Lanes::kColumns, kVectors = Lanes::kVectors;
  constexpr int64_t kInputs = Lanes::kInputs;
  for (int64_t first = 0; first < kPanelColumns; first += kColumns * kVectors) {
    typename Lanes::Sum sums[kRows * kVectors];
    repeat<kRows * kVectors>([&](auto n) HEED_INLINE_LAMBDA { sums[n] = Lanes::zero(); });
    const typename Lanes::Weight* panel = t.panel + first * kInputs;
    const typename Lanes::Value* values = t.values;
    for (int64_t g = 0; g < t.groups; ++g, panel += kPanelColumns * kInputs, values += kInputs) {
      typename Lanes::Weights weights[kVectors];
      repeat<kVectors>(
          [&](auto v) HEED_INLINE_LAMBDA { weights[v] = Lanes::weights(panel + v * kColumns * kInputs); });
      repeat<kRows>([&](auto row) HEED_INLINE_LAMBDA {
        const typename Lanes::Group group = Lanes::group(values + row * t.stride);
        repeat<kVectors>([&](auto v)
                             HEED_INLINE_LAMBDA { Lanes::add(sums[row * kVectors + v], group, weights[v]); });
      });
    }
    repeat<kRows>([&](auto row) HEED_INLINE_LAMBDA {
      repeat<kVectors>([&](auto v) HEED_INLINE_LAMBDA {
        Lanes::store(sums[row * kVectors + v], t.sums + row * kPanelColumns + first + v * kColumns);
      });
    });
  }
}

/// sums[r][c] = sum_i values[r][i] panel[c][i], for 1 to Lanes::kRows rows.
template <class Lanes, int kRows = Lanes::kRows>
HWY_INLINE void sum_products(int64_t rows, const Tile<Lanes>& tile) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return sum_products<Lanes, kRows - 1>(rows, tile);
  }
  sum_rows<Lanes, kRows>(tile);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
