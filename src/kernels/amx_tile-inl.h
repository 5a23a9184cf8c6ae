// Products with packed weights on the matrix registers of AMX: what panel_tile-inl.h is to vectors. A tile is
// 32 rows by 32 columns, whose sums fill four registers. Included once for each instruction set.

#if defined(HEED_KERNELS_AMX_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_AMX_TILE_INL_H_
#undef HEED_KERNELS_AMX_TILE_INL_H_
#else
#define HEED_KERNELS_AMX_TILE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/amx.h"
#include "kernels/panel.h"
#include "kernels/panel_tile-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// A group of inputs, of every column of a panel.
constexpr int64_t kPanelRowBytes = kPanelColumns * amx::kGroupBytes;
/// Of a panel, what is multiplied with a register of x; the columns of one register stand side by side.
constexpr int64_t kStepBytes = amx::kTileRows * kPanelRowBytes;
constexpr int kRowTiles = 2, kColumnTiles = 2;
constexpr int64_t kRowsOfTiles = kRowTiles * amx::kTileRows, kColumnsOfTiles = kColumnTiles * amx::kTileRows;

/// Numbers may stand in several parts; this is a part of x and one of the weights.
struct PartPair {
  int x, weights;
};

// What kind of numbers it is, the loops below are told by a type Numbers:
//   Total               of a sum
//   kWeightParts
//   kPairs, pair<n>()   the parts that are multiplied with each other, in this order
//   add()               the product of two registers to a third

/// At most kBlockRows rows and the weights.
struct TileProduct {
  int64_t rows, out;
  int64_t steps;       ///< registers of each row of x
  const char* x;       ///< (parts, rows, x_stride), whole tiles of rows
  int64_t x_stride;    ///< bytes from row to row
  int64_t x_part;      ///< bytes from part to part
  const char* panels;  ///< (panels, parts, steps, kStepBytes)
};

/// A tile, and what is asked for meanwhile: so many cache lines with each pair of parts.
struct RegisterTile {
  const char* x;
  const char* panel;
  const char* ahead;
  int64_t ahead_lines;
};

/// -> sums (kRows * kTileRows, kPanelColumns), of kColumnsOfTiles columns
template <class Numbers, int kRows>
HWY_INLINE void sum_tile(const TileProduct& p, const RegisterTile& t, typename Numbers::Total* sums) {
  constexpr int kFirstX = kRowTiles * kColumnTiles, kFirstW = kFirstX + kRows;
  const auto for_each_sum = [](const auto& body) HEED_INLINE_LAMBDA {
    repeat<kRows>([&](auto row) HEED_INLINE_LAMBDA {
      repeat<kColumnTiles>([&](auto column) HEED_INLINE_LAMBDA { body(row, column); });
    });
  };
  for_each_sum([](auto row, auto column) HEED_INLINE_LAMBDA { amx::zero<row * kColumnTiles + column>(); });
  const char* ahead = t.ahead;
  for (int64_t step = 0; step < p.steps; ++step) {
    repeat<Numbers::kPairs>([&](auto n) HEED_INLINE_LAMBDA {
      constexpr int kNow = decltype(n)::value, kBefore = kNow == 0 ? 0 : kNow - 1;
      constexpr PartPair kPair = Numbers::template pair<kNow>(), kLast = Numbers::template pair<kBefore>();
      constexpr int64_t kX = kPair.x, kWeights = kPair.weights;
      if constexpr (kNow == 0 || kLast.x != kPair.x) {
        const char* const x = t.x + kX * p.x_part + step * amx::kTileRowBytes;
        repeat<kRows>([&](auto row) HEED_INLINE_LAMBDA {
          amx::load<kFirstX + row>(x + row * amx::kTileRows * p.x_stride, p.x_stride);
        });
      }
      if constexpr (kNow == 0 || kLast.weights != kPair.weights) {
        const char* const weights = t.panel + (kWeights * p.steps + step) * kStepBytes;
        repeat<kColumnTiles>([&](auto column) HEED_INLINE_LAMBDA {
          amx::load<kFirstW + column>(weights + column * amx::kTileRowBytes, kPanelRowBytes);
        });
      }
      for_each_sum([&](auto row, auto column) HEED_INLINE_LAMBDA {
        Numbers::template add<row * kColumnTiles + column, kFirstX + row, kFirstW + column>();
      });
      for (int64_t line = 0; line < t.ahead_lines; ++line, ahead += kLineBytes)
        __builtin_prefetch(ahead, 0, 2);
    });
  }
  for_each_sum([&](auto row, auto column) HEED_INLINE_LAMBDA {
    amx::store<row * kColumnTiles + column>(sums + (row * kPanelColumns + column) * amx::kTileRows,
                                            kPanelColumns * static_cast<int64_t>(sizeof *sums));
  });
}

/// Calls finish(row, rows, first, sums) as multiply_panels() does.
template <class Numbers, class Finish>
HWY_INLINE void multiply_panels_in_tiles(const TileProduct& p, const Finish& finish) {
  const amx::Registers registers;
  alignas(64) typename Numbers::Total sums[kBlockRows * kPanelColumns];
  static_assert(kBlockRows % kRowsOfTiles == 0);
  const int64_t panel_bytes = Numbers::kWeightParts * p.steps * kStepBytes;
  const int64_t tiles = (p.rows + kRowsOfTiles - 1) / kRowsOfTiles * (kPanelColumns / kColumnsOfTiles);
  const int64_t ahead_lines = panel_bytes / (kLineBytes * tiles * p.steps * Numbers::kPairs);
  const char* panel = p.panels;
  for (int64_t first = 0; first < p.out; first += kPanelColumns, panel += panel_bytes) {
    const char* ahead = panel + panel_bytes;
    const int64_t lines = first + kPanelColumns < p.out ? ahead_lines : 0;
    for (int64_t column = 0; column < kPanelColumns; column += kColumnsOfTiles) {
      for (int64_t row = 0; row < p.rows; row += kRowsOfTiles) {
        const RegisterTile tile{p.x + row * p.x_stride, panel + column * amx::kGroupBytes, ahead, lines};
        typename Numbers::Total* const tile_sums = sums + row * kPanelColumns + column;
        if (p.rows - row > amx::kTileRows) {
          sum_tile<Numbers, 2>(p, tile, tile_sums);
        } else {
          sum_tile<Numbers, 1>(p, tile, tile_sums);
        }
        ahead += lines * p.steps * Numbers::kPairs * kLineBytes;
      }
    }
    finish(0, p.rows, first, sums);
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
