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
#include "kernels/gemm/amx.h"
#include "kernels/gemm/panel.h"
#include "kernels/gemm/panel_tile-inl.h"

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
//   kPairs, pair<n>()   the parts that are multiplied with each other, in this order
//   add()               the product of two registers to a third

/// Where the registers of a factor stand. All distances are in bytes.
struct RegisterPlaces {
  const char* data;
  int64_t row;        ///< from row to row of a register
  int64_t neighbour;  ///< to the next rows of x, or columns of the weights
  int64_t part;
  int64_t step;

  RegisterPlaces from(int64_t bytes) const { return {data + bytes, row, neighbour, part, step}; }
};

/// Sums, of which rows are `stride` numbers apart.
template <typename T>
struct Sums {
  T* data = nullptr;
  int64_t stride = 0;
};

/// sums = x w, of kRows by kColumns registers, or first + x w where there is a first. meanwhile() is called
/// after each pair of parts.
template <class Numbers, int kRows, int kColumns, class Meanwhile>
HWY_INLINE void multiply_registers(const RegisterPlaces& x, const RegisterPlaces& w, int64_t steps,
                                   const Sums<const typename Numbers::Total>& first,
                                   const Sums<typename Numbers::Total>& sums, const Meanwhile& meanwhile) {
  constexpr int kFirstX = kRowTiles * kColumnTiles, kFirstW = kFirstX + kRowTiles;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(typename Numbers::Total));
  const auto place = [](const auto& all, auto row, auto column) HEED_INLINE_LAMBDA {
    return all.data + (row * all.stride + column) * amx::kTileRows;
  };
  const auto for_each_sum = [](const auto& body) HEED_INLINE_LAMBDA {
    repeat<kRows>([&](auto row) HEED_INLINE_LAMBDA {
      repeat<kColumns>([&](auto column) HEED_INLINE_LAMBDA { body(row, column); });
    });
  };
  for_each_sum([&](auto row, auto column) HEED_INLINE_LAMBDA {
    if (first.data != nullptr) {
      amx::load<row * kColumnTiles + column>(place(first, row, column), first.stride * kBytes);
    } else {
      amx::zero<row * kColumnTiles + column>();
    }
  });
  for (int64_t step = 0; step < steps; ++step) {
    repeat<Numbers::kPairs>([&](auto n) HEED_INLINE_LAMBDA {
      constexpr int kNow = decltype(n)::value, kBefore = kNow == 0 ? 0 : kNow - 1;
      constexpr PartPair kPair = Numbers::template pair<kNow>(), kLast = Numbers::template pair<kBefore>();
      constexpr int64_t kX = kPair.x, kWeights = kPair.weights;
      if constexpr (kNow == 0 || kLast.x != kPair.x) {
        const char* const from = x.data + step * x.step + kX * x.part;
        repeat<kRows>([&](auto row)
                          HEED_INLINE_LAMBDA { amx::load<kFirstX + row>(from + row * x.neighbour, x.row); });
      }
      if constexpr (kNow == 0 || kLast.weights != kPair.weights) {
        const char* const from = w.data + step * w.step + kWeights * w.part;
        repeat<kColumns>([&](auto column) HEED_INLINE_LAMBDA {
          amx::load<kFirstW + column>(from + column * w.neighbour, w.row);
        });
      }
      for_each_sum([&](auto row, auto column) HEED_INLINE_LAMBDA {
        Numbers::template add<row * kColumnTiles + column, kFirstX + row, kFirstW + column>();
      });
      meanwhile();
    });
  }
  for_each_sum([&](auto row, auto column) HEED_INLINE_LAMBDA {
    amx::store<row * kColumnTiles + column>(place(sums, row, column), sums.stride * kBytes);
  });
}

/// At most kBlockRows rows and the weights.
struct TileProduct {
  int64_t rows, out;
  int64_t steps;  ///< registers of each row of x
  RegisterPlaces x;
  const char* panels;  ///< (panels, steps, kStepBytes)
};

/// Calls finish(row, rows, first, sums) as multiply_panels() does.
template <class Numbers, class Finish>
HWY_INLINE void multiply_panels_in_tiles(const TileProduct& p, const Finish& finish) {
  const amx::Registers registers;
  alignas(64) typename Numbers::Total sums[kBlockRows * kPanelColumns];
  static_assert(kBlockRows % kRowsOfTiles == 0);
  const int64_t panel_bytes = p.steps * kStepBytes;
  const int64_t tiles = (p.rows + kRowsOfTiles - 1) / kRowsOfTiles * (kPanelColumns / kColumnsOfTiles);
  const int64_t ahead_lines = panel_bytes / (kLineBytes * tiles * p.steps * Numbers::kPairs);
  const char* panel = p.panels;
  for (int64_t first = 0; first < p.out; first += kPanelColumns, panel += panel_bytes) {
    const char* ahead = panel + panel_bytes;
    const int64_t lines = first + kPanelColumns < p.out ? ahead_lines : 0;
    const auto ask_for_next_panel = [&]() HEED_INLINE_LAMBDA {
      for (int64_t line = 0; line < lines; ++line, ahead += kLineBytes) __builtin_prefetch(ahead, 0, 2);
    };
    for (int64_t column = 0; column < kPanelColumns; column += kColumnsOfTiles) {
      const RegisterPlaces weights{panel + column * amx::kGroupBytes, kPanelRowBytes, amx::kTileRowBytes,
                                   p.steps * kStepBytes, kStepBytes};
      for (int64_t row = 0; row < p.rows; row += kRowsOfTiles) {
        const RegisterPlaces x = p.x.from(row / amx::kTileRows * p.x.neighbour);
        const Sums<typename Numbers::Total> tile_sums{sums + row * kPanelColumns + column, kPanelColumns};
        if (p.rows - row > amx::kTileRows) {
          multiply_registers<Numbers, 2, kColumnTiles>(x, weights, p.steps, {}, tile_sums,
                                                       ask_for_next_panel);
        } else {
          multiply_registers<Numbers, 1, kColumnTiles>(x, weights, p.steps, {}, tile_sums,
                                                       ask_for_next_panel);
        }
      }
    }
    finish(0, p.rows, first, sums);
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
