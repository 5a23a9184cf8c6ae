#include "kernels/gemm/bfloat16_gemm.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/bfloat16_gemm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/bfloat16_parts-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// A panel is 32 lines of a factor and at most kSliceInputs inputs, rounded. The factor of fewer lines is
// packed a block at a time, for the second-level cache; of the other one, a panel is packed at a time and
// multiplied with all panels of the block; meanwhile, what comes next is asked for.

constexpr int64_t kPanelLines = 32;
constexpr int64_t kSliceInputs = 1536;
constexpr int64_t kBlockGroups = 192 << 10;  // 768 KB
/// A step of a panel: two registers.
constexpr int64_t kStepGroups = 2 * kRegisterGroups;
using Numbers = SplitNumbers<1>;

struct Panel {
  const uint32_t* groups;  ///< (steps, 2, kRegisterGroups)
  int64_t begin, lines;

  RegisterPlaces places() const {
    constexpr int64_t kBytes = amx::kGroupBytes;
    return {.data = reinterpret_cast<const char*>(groups),
            .row = amx::kTileRowBytes,
            .neighbour = kRegisterGroups * kBytes,
            .part = 0,
            .step = kStepGroups * kBytes};
  }
};

/// The lines from `begin` on and inputs [k, end).
Panel pack_panel(const Factor& f, int64_t begin, int64_t k, int64_t end, uint32_t* groups) {
  const Factor slice = until(f, end);
  const int64_t lines = std::min(kPanelLines, f.lines - begin);
  for (int64_t line = 0; line < lines; line += amx::kTileRows) {
    uint32_t* to = groups + line / amx::kTileRows * kRegisterGroups;
    for (int64_t at = k; at < end; at += kStepInputs, to += kStepGroups) {
      pack_register<1>(slice, begin + line, at, to);
    }
  }
  return {groups, begin, lines};
}

/// Of C, what a panel each of A and B make.
Ahead sums_ahead(const GemmArguments<float>& g, int64_t row, int64_t column, int64_t calls) {
  return {g.c + row * g.c_stride + column, g.c_stride, std::clamp<int64_t>(g.m - row, 0, kPanelLines),
          std::clamp<int64_t>(g.n - column, 0, kPanelLines), calls};
}

/// C = first + A B, for a panel of each.
HWY_INLINE void multiply_panels(const Panel& a, const Panel& b, int64_t steps, const Sums<const float>& first,
                                const Sums<float>& c, Ahead& lines, Ahead& sums) {
  const RegisterPlaces x = a.places(), w = b.places();
  const auto ask = [&]() HEED_INLINE_LAMBDA {
    lines.ask();
    sums.ask();
  };
  const bool rows = a.lines > amx::kTileRows, columns = b.lines > amx::kTileRows;
  if (rows && columns) multiply_registers<Numbers, 2, 2>(x, w, steps, first, c, ask);
  if (rows && !columns) multiply_registers<Numbers, 2, 1>(x, w, steps, first, c, ask);
  if (!rows && columns) multiply_registers<Numbers, 1, 2>(x, w, steps, first, c, ask);
  if (!rows && !columns) multiply_registers<Numbers, 1, 1>(x, w, steps, first, c, ask);
}

/// The same, where C may end within the registers.
HWY_INLINE void multiply_to(const Sums<float>& c, const Panel& a, const Panel& b, int64_t steps,
                            const Sums<const float>& first, Ahead& lines, Ahead& sums) {
  if (a.lines % amx::kTileRows == 0 && b.lines % amx::kTileRows == 0) {
    multiply_panels(a, b, steps, first, c, lines, sums);
    return;
  }
  alignas(64) float tile[kPanelLines * kPanelLines];
  const bool begun = first.data != nullptr;
  for (int64_t row = 0; begun && row < a.lines; ++row) {
    std::copy_n(first.data + row * first.stride, b.lines, tile + row * kPanelLines);
  }
  multiply_panels(a, b, steps, {begun ? tile : nullptr, kPanelLines}, {tile, kPanelLines}, lines, sums);
  for (int64_t row = 0; row < a.lines; ++row) {
    std::copy_n(tile + row * kPanelLines, b.lines, c.data + row * c.stride);
  }
}

void bfloat16_gemm(const GemmArguments<float>& g) {
  const amx::Registers registers;
  const Factor left{g.a, g.a_stride, true, !g.transpose_a, g.m, g.k};
  const Factor right{g.b, g.b_stride, false, g.transpose_b, g.n, g.k};
  const Factor &fewer = g.m < g.n ? left : right, &more = g.m < g.n ? right : left;

  const int64_t panel_groups = round_up(std::min(kSliceInputs, g.k), kStepInputs) / kStepInputs * kStepGroups;
  const int64_t block_panels =
      std::min((fewer.lines + kPanelLines - 1) / kPanelLines, kBlockGroups / panel_groups);
  thread_local std::vector<uint32_t, PoolAllocator<uint32_t>> memory;
  memory.resize(std::max(memory.size(), static_cast<size_t>((block_panels + 1) * panel_groups)));
  thread_local std::vector<Panel> block;

  for (int64_t k = 0; k < g.k; k += kSliceInputs) {
    const int64_t end = std::min(k + kSliceInputs, g.k), steps = (end - k + kStepInputs - 1) / kStepInputs;
    for (int64_t line = 0; line < fewer.lines;) {
      block.clear();
      uint32_t* groups = memory.data() + panel_groups;
      for (int64_t n = 0; n < block_panels && line < fewer.lines; ++n, line += kPanelLines) {
        block.push_back(pack_panel(fewer, line, k, end, groups + n * panel_groups));
      }
      for (int64_t other = 0; other < more.lines; other += kPanelLines) {
        const Panel panel = pack_panel(more, other, k, end, memory.data());
        Ahead lines = lines_ahead(more, other + kPanelLines, kPanelLines, k, end,
                                  steps * static_cast<int64_t>(block.size()));
        for (size_t n = 0; n < block.size(); ++n) {
          const bool last = n + 1 == block.size();
          const int64_t next = block[last ? 0 : n + 1].begin, next_other = last ? other + kPanelLines : other;
          Ahead sums =
              fewer.is_left ? sums_ahead(g, next, next_other, steps) : sums_ahead(g, next_other, next, steps);
          const Panel &a = fewer.is_left ? block[n] : panel, &b = fewer.is_left ? panel : block[n];
          const Sums<float> c{g.c + a.begin * g.c_stride + b.begin, g.c_stride};
          Sums<const float> first;
          if (g.accumulate || k > 0) first = {c.data, c.stride};
          if (g.bias != nullptr && k == 0) first = {g.bias + b.begin, 0};
          multiply_to(c, a, b, steps, first, lines, sums);
        }
      }
    }
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace heed {

void bfloat16_gemm(const GemmArguments<float>& arguments) {
  HEED_CHECK(internal::has_amx());
#if HEED_AMX && HWY_TARGETS & HWY_AVX3
  N_AVX3::bfloat16_gemm(arguments);
#else
  (void)arguments;
#endif
}

}  // namespace heed
#endif
