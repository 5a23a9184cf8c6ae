#include "kernels/gemm/fixed_gemm.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/fixed_gemm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/fixed_point-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// A panel is 16 lines of a factor and a slice of the inputs, in digits. The factor of fewer lines is packed a
// block at a time, for the second-level cache; of the other one, two panels are packed at a time, for the
// first-level cache, and multiplied with all panels of the block; meanwhile, what comes next is asked for.

constexpr int64_t kLines = amx::kTileRows;
constexpr int64_t kMostOfSlice = 256;
constexpr int64_t kPair = 2;                 // panels that are multiplied with a block
constexpr int64_t kBlockGroups = 192 << 10;  // 768 KB

template <int kDigits>
void multiply_in_digits(const GemmArguments<float>& g) {
  constexpr int64_t kStepGroups = kFixedGroups<kDigits>;
  const Factor left{g.a, g.a_stride, true, !g.transpose_a, g.m, g.k};
  const Factor right{g.b, g.b_stride, false, g.transpose_b, g.n, g.k};
  const Factor &fewer = g.m < g.n ? left : right, &more = g.m < g.n ? right : left;

  const int64_t slice = slice_of<kMostOfSlice>(g.k), panel_groups = slice / kFixedInputs * kStepGroups;
  const int64_t block_panels = std::min((fewer.lines + kLines - 1) / kLines, kBlockGroups / panel_groups);
  thread_local std::vector<uint32_t, PoolAllocator<uint32_t>> memory;
  thread_local std::vector<float, PoolAllocator<float>> magnitudes;
  memory.resize(std::max(memory.size(), static_cast<size_t>((kPair + block_panels) * panel_groups)));
  magnitudes.resize(std::max(magnitudes.size(), static_cast<size_t>((2 * kPair + block_panels) * kLines)));
  uint32_t *const pair = memory.data(), *const block = pair + kPair * panel_groups;
  // The last tile is not yet written when the next panels are packed: their magnitudes take turns.
  float* pair_magnitudes[] = {magnitudes.data(), magnitudes.data() + kPair * kLines};
  float* const block_magnitudes = pair_magnitudes[1] + kPair * kLines;

  const amx::Registers registers;
  TilesInTurn<kDigits> in_turn;
  int turn = 0;
  for (int64_t k = 0; k < g.k; k += slice) {
    const int64_t end = std::min(k + slice, g.k), steps = fixed_steps(end - k);
    for (int64_t first = 0; first < fewer.lines; first += block_panels * kLines) {
      const int64_t panels = std::min(block_panels, (fewer.lines - first + kLines - 1) / kLines);
      for (int64_t n = 0; n < panels; ++n) {
        pack_lines<kDigits>(fewer, first + n * kLines, k, end, block + n * panel_groups,
                            block_magnitudes + n * kLines);
      }
      for (int64_t others = 0; others < more.lines; others += kPair * kLines, turn = 1 - turn) {
        const int64_t in_pair = std::min(kPair, (more.lines - others + kLines - 1) / kLines);
        for (int64_t n = 0; n < in_pair; ++n) {
          pack_lines<kDigits>(more, others + n * kLines, k, end, pair + n * panel_groups,
                              pair_magnitudes[turn] + n * kLines);
        }
        const int64_t tiles = panels * in_pair;
        Ahead ahead = lines_ahead(more, others + kPair * kLines, kPair * kLines, k, end, tiles * steps);
        int64_t of_block = 0, of_pair = 0;
        for (int64_t n = 0; n < tiles; ++n) {
          const int64_t line = first + of_block * kLines, other = others + of_pair * kLines;
          const uint32_t *left_groups = block + of_block * panel_groups,
                         *right_groups = pair + of_pair * panel_groups;
          const float *left_magnitudes = block_magnitudes + of_block * kLines,
                      *right_magnitudes = pair_magnitudes[turn] + of_pair * kLines;
          int64_t row = line, column = other;
          if (!fewer.is_left) {
            std::swap(left_groups, right_groups);
            std::swap(left_magnitudes, right_magnitudes);
            std::swap(row, column);
          }
          FixedTile tile{.rows = std::min(kLines, g.m - row),
                         .columns = std::min(kLines, g.n - column),
                         .a_magnitudes = left_magnitudes,
                         .b_magnitudes = right_magnitudes,
                         .c = {g.c + row * g.c_stride + column, g.c_stride}};
          tile.begin_with(g.accumulate || k > 0, g.bias, column);
          in_turn.multiply(left_groups, right_groups, steps, tile, [&](auto product) HEED_INLINE_LAMBDA {
            if constexpr (product == 0) ahead.ask();
          });
          if (++of_pair == in_pair) {
            of_pair = 0;
            ++of_block;
          }
        }
      }
      in_turn.finish();
    }
  }
}

void fixed_gemm(const GemmArguments<float>& g, int digits) {
  digits == 3 ? multiply_in_digits<3>(g) : multiply_in_digits<2>(g);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace heed {

void fixed_gemm(const GemmArguments<float>& arguments, int digits) {
  HEED_CHECK(internal::has_amx() && (digits == 2 || digits == 3));
#if HEED_AMX && HWY_TARGETS & HWY_AVX3
  N_AVX3::fixed_gemm(arguments, digits);
#else
  (void)arguments;
#endif
}

}  // namespace heed
#endif
