// Products with packed weights of 8 bits on the matrix registers of AMX: what panel_tile-inl.h is to vectors.
// A tile is 32 rows by 32 columns, whose sums fill four registers. Included once for each instruction set.

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
#include "kernels/int8_lanes-inl.h"
#include "kernels/panel.h"
#include "kernels/panel_tile-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Of a panel: a group of inputs of each column. A register holds kTileRows of them, of 16 columns.
constexpr int64_t kPanelRowBytes = kPanelColumns * kGroupInputs;
/// Inputs of a row that a register holds.
constexpr int64_t kTileInputs = amx::kTileRowBytes;
constexpr int kRowTiles = 2, kColumnTiles = 2;
constexpr int64_t kRowsOfTiles = kRowTiles * amx::kTileRows, kColumnsOfTiles = kColumnTiles * amx::kTileRows;

/// sums (kRows * kTileRows, kPanelColumns) = kColumnsOfTiles columns of a panel times rows of `values`. Asks
/// for `ahead_lines` cache lines with each register of inputs.
template <int kRows>
HWY_INLINE void sum_tiles(const PanelProduct<VnniLanes>& p, const uint8_t* values, const int8_t* panel,
                          const char* ahead, int64_t ahead_lines, int32_t* sums) {
  constexpr int kFirstX = kRows * kColumnTiles, kFirstW = kFirstX + kRows;
  const auto for_each_sum = [](const auto& body) HEED_INLINE_LAMBDA {
    repeat<kRows>([&](auto row) HEED_INLINE_LAMBDA {
      repeat<kColumnTiles>([&](auto column) HEED_INLINE_LAMBDA { body(row, column); });
    });
  };
  for_each_sum([](auto row, auto column) HEED_INLINE_LAMBDA { amx::zero<row * kColumnTiles + column>(); });
  for (int64_t begin = 0; begin < p.in; begin += kTileInputs) {
    repeat<kRows>([&](auto row) HEED_INLINE_LAMBDA {
      amx::load<kFirstX + row>(values + row * amx::kTileRows * p.stride + begin, p.stride);
    });
    repeat<kColumnTiles>([&](auto column) HEED_INLINE_LAMBDA {
      amx::load<kFirstW + column>(panel + begin * kPanelColumns + column * amx::kTileRowBytes,
                                  kPanelRowBytes);
    });
    for_each_sum([](auto row, auto column) HEED_INLINE_LAMBDA {
      amx::add_bytes<row * kColumnTiles + column, kFirstX + row, kFirstW + column>();
    });
    for (int64_t n = 0; n < ahead_lines; ++n, ahead += kLineBytes) __builtin_prefetch(ahead, 0, 2);
  }
  for_each_sum([&](auto row, auto column) HEED_INLINE_LAMBDA {
    amx::store<row * kColumnTiles + column>(sums + (row * kPanelColumns + column) * amx::kTileRows,
                                            kPanelColumns * static_cast<int64_t>(sizeof(int32_t)));
  });
}

/// multiply_panels() for rows of whole registers; of `values` there are whole tiles of rows.
template <class Finish>
HWY_INLINE void multiply_panels_in_tiles(const PanelProduct<VnniLanes>& p, const Finish& finish) {
  const amx::Registers registers;
  alignas(64) int32_t sums[kRowsOfTiles * kPanelColumns];
  const int64_t panel_bytes = kPanelColumns * p.in;
  const int64_t tiles = (p.rows + kRowsOfTiles - 1) / kRowsOfTiles * (kPanelColumns / kColumnsOfTiles);
  const int64_t ahead_lines = panel_bytes / (kLineBytes * tiles * (p.in / kTileInputs));
  const int8_t* panel = p.panels;
  for (int64_t first = 0; first < p.out; first += kPanelColumns, panel += panel_bytes) {
    const char* ahead = reinterpret_cast<const char*>(panel + panel_bytes);
    const int64_t lines = first + kPanelColumns < p.out ? ahead_lines : 0;
    for (int64_t row = 0; row < p.rows; row += kRowsOfTiles) {
      const int64_t count = std::min(kRowsOfTiles, p.rows - row);
      for (int64_t column = 0; column < kPanelColumns; column += kColumnsOfTiles) {
        const uint8_t* const values = p.values + row * p.stride;
        const int8_t* const columns = panel + column * kGroupInputs;
        if (count > amx::kTileRows) {
          sum_tiles<2>(p, values, columns, ahead, lines, sums + column);
        } else {
          sum_tiles<1>(p, values, columns, ahead, lines, sums + column);
        }
        ahead += lines * (p.in / kTileInputs) * kLineBytes;
      }
      finish(row, count, first, sums);
    }
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
