#include "kernels/fixed_gemm.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fixed_gemm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/fixed_point-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// A panel is 16 lines of a factor and a slice of the inputs, in digits. The factor of fewer lines is packed a
// block at a time, for the second-level cache; of the other one, a panel is packed at a time and multiplied
// with all panels of the block; meanwhile, what comes next is asked for.

constexpr int64_t kLines = amx::kTileRows;
constexpr int64_t kBlockGroups = 192 << 10;  // 768 KB

/// The lines from `begin` on and inputs [k, end) of a factor, asked for line by line of the cache.
class LinesAhead {
 public:
  LinesAhead(const Factor& f, int64_t begin, int64_t k, int64_t end) {
    const int64_t lines = std::clamp<int64_t>(f.lines - begin, 0, kLines), inputs = end - k;
    row_ = f.at(begin, k);
    stride_ = f.stride;
    columns_ = f.line_by_line ? inputs : lines;
    left_ = (f.line_by_line ? lines : inputs) * ((columns_ + kLine - 1) / kLine);
  }
  int64_t left() const { return left_; }

  HWY_INLINE void ask(int64_t lines) {
    for (lines = std::min(lines, left_), left_ -= lines; lines > 0; --lines) {
      __builtin_prefetch(row_ + column_, 0, 2);
      column_ += kLine;
      const bool next = column_ >= columns_;
      column_ = next ? 0 : column_;
      row_ += next ? stride_ : 0;
    }
  }

 private:
  static constexpr int64_t kLine = kLineBytes / static_cast<int64_t>(sizeof(float));
  const float* row_;
  int64_t stride_, columns_, left_, column_ = 0;
};

template <int kDigits>
void multiply_digits(const GemmArguments<float>& g) {
  constexpr int64_t kStepGroups = kFixedGroups<kDigits>;
  const Factor left{g.a, g.a_stride, true, !g.transpose_a, g.m, g.k};
  const Factor right{g.b, g.b_stride, false, g.transpose_b, g.n, g.k};
  const Factor &fewer = g.m < g.n ? left : right, &more = g.m < g.n ? right : left;

  const int64_t slice = slice_of(g.k), panel_groups = slice / kFixedInputs * kStepGroups;
  const int64_t block_panels = std::min((fewer.lines + kLines - 1) / kLines, kBlockGroups / panel_groups);
  thread_local std::vector<uint32_t, PoolAllocator<uint32_t>> memory;
  thread_local std::vector<float, PoolAllocator<float>> magnitudes;
  memory.resize(std::max(memory.size(), static_cast<size_t>((block_panels + 1) * panel_groups)));
  magnitudes.resize(std::max(magnitudes.size(), static_cast<size_t>((block_panels + 2) * kLines)));
  uint32_t *const panel = memory.data(), *const block = panel + panel_groups;
  // The last tile is not yet written when the next panel is packed: of panels, magnitudes take turns.
  float* panel_magnitudes[] = {magnitudes.data(), magnitudes.data() + kLines};
  float* const block_magnitudes = panel_magnitudes[1] + kLines;

  const amx::Registers registers;
  alignas(64) DigitSums<kDigits> sums[2];
  int now = 0, turn = 0;
  for (int64_t k = 0; k < g.k; k += slice) {
    const int64_t end = std::min(k + slice, g.k), steps = (end - k + kFixedInputs - 1) / kFixedInputs;
    for (int64_t first = 0; first < fewer.lines; first += block_panels * kLines) {
      const int64_t panels = std::min(block_panels, (fewer.lines - first + kLines - 1) / kLines);
      for (int64_t n = 0; n < panels; ++n) {
        pack_lines<kDigits>(fewer, first + n * kLines, k, end, block + n * panel_groups,
                            block_magnitudes + n * kLines);
      }
      RowsToWrite<kDigits> before;
      for (int64_t other = 0; other < more.lines; other += kLines, turn = 1 - turn) {
        pack_lines<kDigits>(more, other, k, end, panel, panel_magnitudes[turn]);
        LinesAhead ahead(more, other + kLines, k, end);
        const int64_t lines = (ahead.left() + panels * steps - 1) / (panels * steps);
        for (int64_t n = 0; n < panels; ++n, now = 1 - now) {
          const int64_t line = first + n * kLines;
          const bool block_is_left = fewer.is_left;
          const uint32_t* const groups = block + n * panel_groups;
          const float* const magnitudes_of_block = block_magnitudes + n * kLines;
          const int64_t row = block_is_left ? line : other, column = block_is_left ? other : line;
          FixedTile tile{.rows = std::min(kLines, g.m - row),
                         .columns = std::min(kLines, g.n - column),
                         .a_magnitudes = block_is_left ? magnitudes_of_block : panel_magnitudes[turn],
                         .b_magnitudes = block_is_left ? panel_magnitudes[turn] : magnitudes_of_block,
                         .c = {g.c + row * g.c_stride + column, g.c_stride}};
          if (g.accumulate || k > 0) {
            tile.first = {tile.c.data, g.c_stride};
          } else if (g.bias != nullptr) {
            tile.first = {g.bias + column, 0};
          }
          multiply_digits<kDigits>(block_is_left ? groups : panel, block_is_left ? panel : groups, steps,
                                   sums[now], [&](int64_t step, auto pause) HEED_INLINE_LAMBDA {
                                     if constexpr (pause == 0) ahead.ask(lines);
                                     before.template pause<pause>(step, tile.c);
                                   });
          before.finish(steps);
          before = {sums[now], tile};
        }
      }
      before.finish(0);
    }
  }
}

void fixed_gemm(const GemmArguments<float>& g, int digits) {
  digits == 3 ? multiply_digits<3>(g) : multiply_digits<2>(g);
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
