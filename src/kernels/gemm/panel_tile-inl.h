// Products with packed weights, y = x W^T, in whatever numbers: the loops around what Lanes can do.
//
// Weights stand in panels of 64 outputs: (out / 64, in, 64), or with some inputs of a column together, (out /
// 64, in / inputs, 64, inputs). A tile is a few rows of x times one panel, or times as many inputs of it as
// the first-level cache holds, with all its sums in registers: each number that is loaded is multiplied with
// many. All rows use what is in the cache before they go on to what comes behind it, which they ask for
// meanwhile. A sum is added up in the order of the inputs, whatever rows are beside it. Included once for
// each instruction set.

#if defined(HEED_KERNELS_PANEL_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PANEL_TILE_INL_H_
#undef HEED_KERNELS_PANEL_TILE_INL_H_
#else
#define HEED_KERNELS_PANEL_TILE_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/gemm/panel.h"
#include "kernels/simd/rows-inl.h"

/// On a function without a name.
#ifndef HEED_INLINE_LAMBDA
#define HEED_INLINE_LAMBDA __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// What kind of numbers and which instruction set it is, the loops below are told by a type Lanes:
//   Value       of x, as the loop finds it
//   Weight      of a panel
//   Total       of a sum
//   kInputs     of one step of the loop over K
//   kGroup      inputs of a column that are adjacent in memory: kInputs is a multiple of it
//   kRows       of a tile, at most
//   kColumns    of one vector of sums
//   kVectors    vectors of a row that are summed at once
//   zero()      a vector of sums
//   weights()   those of kColumns columns for kInputs inputs
//   group()     kInputs numbers of a row of x, for every column
//   add()       sum + the products of both
//   load(), store()   the sums of kColumns columns
//   add_wide(), wide_bits()   only where 16-bit accumulation may overflow: see int8_lanes-inl.h

/// Some rows times one panel, or some inputs of it.
template <class Lanes>
struct Tile {
  const typename Lanes::Value* values;
  int64_t stride;  ///< of values, from row to row
  int64_t groups;  ///< of kInputs inputs
  const typename Lanes::Weight* panel;
  const char* ahead;            ///< what is asked for meanwhile
  int64_t ahead_step;           ///< bytes of it for each group
  typename Lanes::Total* sums;  ///< (rows, kPanelColumns)
  bool begun;                   ///< the sums of earlier inputs stand in `sums`
  const uint8_t* wide;          ///< for each step, see pack_panels(); only of Lanes with add_wide()
};

template <class Lanes>
concept HasWideSteps = requires {
  Lanes::wide_bits(0, 0);
};

constexpr int64_t kLineBytes = 64;

/// body(0), ..., body(N - 1), with constants: what they index is kept in registers.
template <int N, class Body>
HWY_INLINE void repeat(const Body& body) {
  if constexpr (N > 0) {
    repeat<N - 1>(body);
    body(std::integral_constant<int, N - 1>());
  }
}

/// Of each row, kVectors vectors at a time; kLines cache lines are asked for with each group of inputs.
template <class Lanes, int kRows, int kVectors, int kLines>
HWY_INLINE void sum_rows(const Tile<Lanes>& t) {
  using Value = typename Lanes::Value;
  using Weight = typename Lanes::Weight;
  using Total = typename Lanes::Total;
  constexpr int kColumns = Lanes::kColumns;
  constexpr int64_t kInputs = Lanes::kInputs, kGroup = Lanes::kGroup;
  // An address is a register and at most twice another: three rows for each of a few registers.
  constexpr int kRowsOfBase = 3, kBases = (kRows + kRowsOfBase - 1) / kRowsOfBase;
  const char* ahead = t.ahead;
  const int64_t ahead_step = t.ahead_step;
  for (int64_t first = 0; first < kPanelColumns; first += kColumns * kVectors) {
    typename Lanes::Sum sums[kRows * kVectors];
    const auto total = [&](auto row, auto v)
                           HEED_INLINE_LAMBDA { return t.sums + row * kPanelColumns + first + v * kColumns; };
    const auto for_each_sum = [&](const auto& body) HEED_INLINE_LAMBDA {
      repeat<kRows>([&](auto row) HEED_INLINE_LAMBDA {
        repeat<kVectors>([&](auto v) HEED_INLINE_LAMBDA { body(row * kVectors + v, total(row, v)); });
      });
    };
    if (t.begun) {
      for_each_sum([&](int n, Total* p) HEED_INLINE_LAMBDA { sums[n] = Lanes::load(p); });
    } else {
      for_each_sum([&](int n, Total*) HEED_INLINE_LAMBDA { sums[n] = Lanes::zero(); });
    }
    const Weight* panel = t.panel + first * kGroup;
    const Value* bases[kBases];
    repeat<kBases>([&](auto n) HEED_INLINE_LAMBDA { bases[n] = t.values + n * kRowsOfBase * t.stride; });
    for (int64_t g = 0; g < t.groups; ++g, panel += kPanelColumns * kInputs, ahead += ahead_step) {
      typename Lanes::Weights weights[kVectors];
      repeat<kVectors>(
          [&](auto v) HEED_INLINE_LAMBDA { weights[v] = Lanes::weights(panel + v * kColumns * kGroup); });
      repeat<kLines>([&](auto n) HEED_INLINE_LAMBDA { __builtin_prefetch(ahead + n * kLineBytes, 0, 2); });
      const auto step = [&](const auto& add) HEED_INLINE_LAMBDA {
        repeat<kRows>([&](auto row) HEED_INLINE_LAMBDA {
          const typename Lanes::Group group =
              Lanes::group(bases[row / kRowsOfBase] + row % kRowsOfBase * t.stride);
          repeat<kVectors>([&](auto v)
                               HEED_INLINE_LAMBDA { add(sums[row * kVectors + v], group, weights[v]); });
        });
      };
      const auto add = [](auto& sum, const auto& x, const auto& w)
                           HEED_INLINE_LAMBDA { Lanes::add(sum, x, w); };
      if constexpr (HasWideSteps<Lanes>) {
        if ((t.wide[g] & Lanes::wide_bits(first, kColumns * kVectors)) != 0) {
          step([](auto& sum, const auto& x, const auto& w)
                   HEED_INLINE_LAMBDA { Lanes::add_wide(sum, x, w); });
        } else {
          step(add);
        }
      } else {
        step(add);
      }
      repeat<kBases>([&](auto n) HEED_INLINE_LAMBDA { bases[n] += kInputs; });
    }
    for_each_sum([&](int n, Total* p) HEED_INLINE_LAMBDA { Lanes::store(sums[n], p); });
  }
}

/// sums[r][c] = sum_i values[r][i] panel[c][i], for 1 to kRows rows.
template <class Lanes, int kRows, int kVectors, int kLines>
HWY_INLINE void sum_products(int64_t rows, const Tile<Lanes>& tile) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return sum_products<Lanes, kRows - 1, kVectors, kLines>(rows, tile);
  }
  sum_rows<Lanes, kRows, kVectors, kLines>(tile);
}

/// Rows that are multiplied with all panels together: they stay in the second-level cache.
constexpr int64_t kBlockRows = 96;

/// At most kBlockRows rows and the weights.
template <class Lanes>
struct PanelProduct {
  int64_t rows, out;
  int64_t in;  ///< whole groups of kInputs
  const typename Lanes::Value* values;
  int64_t stride;                        ///< of values, from row to row
  const typename Lanes::Weight* panels;  ///< whole_panels(out) * in of them
  const uint8_t* wide = nullptr;         ///< (panels, in / kInputs), see Tile
};

template <class Lanes, int kRows, int kVectors, int kLines, class Finish>
HWY_INLINE void multiply_panels_by(const PanelProduct<Lanes>& p, const Finish& finish) {
  using Weight = typename Lanes::Weight;
  using Total = typename Lanes::Total;
  constexpr int64_t kCachedInputs =
      kCachedPanelBytes / (kPanelColumns * static_cast<int64_t>(sizeof(Weight)));
  alignas(64) Total sums[kBlockRows * kPanelColumns];
  constexpr int64_t kPasses = kPanelColumns / (Lanes::kColumns * kVectors);
  const Weight* const end = p.panels + whole_panels(p.out) * p.in;
  const Weight* panel = p.panels;
  const uint8_t* wide = p.wide;
  for (int64_t first = 0; first < p.out; first += kPanelColumns) {
    int64_t begin = 0;
    do {
      const int64_t inputs = std::min(kCachedInputs, p.in - begin);
      const int64_t groups = inputs / Lanes::kInputs;
      const Weight* const behind = panel + inputs * kPanelColumns;
      const Weight* const far = std::min(behind + inputs * kPanelColumns, end);
      const char* ahead = reinterpret_cast<const char*>(behind);
      // Spread over all tiles: requests that come too fast wait for each other, and loads behind them.
      const int64_t turns = std::max<int64_t>(1, kPasses * groups * ((p.rows + kRows - 1) / kRows));
      const int64_t step =
          std::min(kLines * kLineBytes, (reinterpret_cast<const char*>(far) - ahead) / turns + 1);
      const bool last = begin + inputs == p.in;
      for_each_block<kRows>(p.rows, [&](int64_t row, int64_t count) {
        // Sums that are not waiting for more inputs need no room of their own.
        Total* const tile_sums = sums + (begin == 0 && last ? 0 : row * kPanelColumns);
        sum_products<Lanes, kRows, kVectors, kLines>(count, {.values = p.values + row * p.stride + begin,
                                                             .stride = p.stride,
                                                             .groups = groups,
                                                             .panel = panel,
                                                             .ahead = ahead,
                                                             .ahead_step = step,
                                                             .sums = tile_sums,
                                                             .begun = begin > 0,
                                                             .wide = wide});
        if (last) finish(row, count, first, tile_sums);
        ahead += kPasses * groups * step;
      });
      begin += inputs;
      panel = behind;
      if constexpr (HasWideSteps<Lanes>) wide += groups;
    } while (begin < p.in);
  }
}

/// Calls finish(row, rows, first, sums) with the sums of each tile: of `rows` rows from `row` on, and of
/// kPanelColumns outputs from `first` on, of which the last may be none.
template <class Lanes, class Finish>
HWY_INLINE void multiply_panels(const PanelProduct<Lanes>& p, const Finish& finish) {
  // Few rows are one tile, which waits for the weights: it asks for as many as it uses.
  constexpr int kRows = 2 * Lanes::kRows, kVectors = std::max(1, Lanes::kVectors / 2);
  constexpr auto kBytes = kVectors * Lanes::kColumns * Lanes::kInputs * sizeof(typename Lanes::Weight);
  if (p.rows <= kRows) {
    multiply_panels_by<Lanes, kRows, kVectors, std::max(1, static_cast<int>(kBytes / kLineBytes))>(p, finish);
  } else {
    multiply_panels_by<Lanes, Lanes::kRows, Lanes::kVectors, 1>(p, finish);
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
