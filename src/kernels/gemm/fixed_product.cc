#include "kernels/gemm/fixed_product.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/fixed_product.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/fixed_point-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

constexpr int kDigits = 3;
constexpr int64_t kLines = amx::kTileRows;
constexpr int64_t kMostOfSlice = 384;
/// 16 lines and the inputs of a step.
constexpr int64_t kStepGroups = kFixedGroups<kDigits>;

FixedPanelSizes fixed_panel_sizes(int64_t out, int64_t in) {
  const int64_t tiles = round_up(out, kLines) / kLines, slice = slice_of<kMostOfSlice>(in);
  return {tiles * fixed_steps(in) * kStepGroups, tiles * ((in + slice - 1) / slice) * kLines};
}

/// 16 lines from `line` on, all their inputs.
void pack_all_slices(const Factor& factor, int64_t line, uint32_t* groups, float* magnitudes) {
  const int64_t slice = slice_of<kMostOfSlice>(factor.inputs);
  for (int64_t begin = 0; begin < factor.inputs; begin += slice, magnitudes += kLines) {
    const int64_t end = std::min(begin + slice, factor.inputs);
    pack_lines<kDigits>(factor, line, begin, end, groups + begin / kFixedInputs * kStepGroups, magnitudes);
  }
}

void pack_fixed_panels(const float* weights, int64_t out, int64_t in, const FixedPanels& panels) {
  const Factor factor{weights, in, false, true, out, in};
  const FixedPanelSizes sizes = fixed_panel_sizes(kLines, in);
  for (int64_t line = 0; line < out; line += kLines) {
    const int64_t tile = line / kLines;
    pack_all_slices(factor, line, panels.groups + tile * sizes.groups,
                    panels.magnitudes + tile * sizes.magnitudes);
  }
}

void fixed_product(const FixedProductArguments& a) {
  if (a.rows == 0) return;
  // Of rows: their digits fit the second-level cache.
  constexpr int64_t kBlock = 96, kBlockGroups = 256 << 10;
  const FixedPanelSizes sizes = fixed_panel_sizes(kLines, a.in);
  const int64_t slice = slice_of<kMostOfSlice>(a.in);
  const int64_t block_rows =
      std::clamp(kBlockGroups / sizes.groups * kLines, kLines, std::min(kBlock, round_up(a.rows, kLines)));
  const int64_t tiles = block_rows / kLines;
  thread_local std::vector<uint32_t, PoolAllocator<uint32_t>> digits;
  thread_local std::vector<float, PoolAllocator<float>> magnitudes;
  digits.resize(std::max(digits.size(), static_cast<size_t>(tiles * sizes.groups)));
  magnitudes.resize(std::max(magnitudes.size(), static_cast<size_t>(tiles * sizes.magnitudes)));

  // Of the next weights, what is asked for in a pause, more than one line.
  constexpr int64_t kStepLines = kStepGroups * amx::kGroupBytes / kLineBytes;
  const int64_t more = (kStepLines - 1) / (tiles * kDigitProducts<kDigits>);
  const Factor x{a.x, a.in, true, true, a.rows, a.in};
  const amx::Registers registers;
  TilesInTurn<kDigits> in_turn;
  for (int64_t block = 0; block < a.rows; block += block_rows) {
    const int64_t block_tiles = round_up(std::min(block_rows, a.rows - block), kLines) / kLines;
    for (int64_t tile = 0; tile < block_tiles; ++tile) {
      pack_all_slices(x, block + tile * kLines, digits.data() + tile * sizes.groups,
                      magnitudes.data() + tile * sizes.magnitudes);
    }
    const uint32_t* w = a.groups;
    const float* w_magnitudes = a.magnitudes;
    for (int64_t column = 0; column < a.out; column += kLines) {
      for (int64_t begin = 0; begin < a.in; begin += slice, w_magnitudes += kLines) {
        const int64_t steps = fixed_steps(std::min(slice, a.in - begin));
        const int64_t slice_groups = begin / kFixedInputs * kStepGroups,
                      slice_magnitudes = begin / slice * kLines;
        const char* ahead = reinterpret_cast<const char*>(w + steps * kStepGroups);
        for (int64_t tile = 0; tile < block_tiles; ++tile) {
          FixedTile written{.rows = std::min(kLines, a.rows - block - tile * kLines),
                            .columns = std::min(kLines, a.out - column),
                            .a_magnitudes = magnitudes.data() + tile * sizes.magnitudes + slice_magnitudes,
                            .b_magnitudes = w_magnitudes,
                            .c = {a.y + (block + tile * kLines) * a.out + column, a.out}};
          written.begin_with(begin > 0, a.bias, column);
          in_turn.multiply(digits.data() + tile * sizes.groups + slice_groups, w, steps, written,
                           [&](auto) HEED_INLINE_LAMBDA {
                             __builtin_prefetch(ahead, 0, 2);
                             ahead += kLineBytes;
                             for (int64_t line = 0; line < more; ++line, ahead += kLineBytes) {
                               __builtin_prefetch(ahead, 0, 2);
                             }
                           });
        }
        w += steps * kStepGroups;
      }
    }
    in_turn.finish();
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace heed {

#if HEED_AMX && HWY_TARGETS & HWY_AVX3

bool has_fixed_product(int64_t in) {
  constexpr int64_t kFewestInputs = 32;  // of the 64 that are multiplied
  return internal::has_amx() && in >= kFewestInputs;
}
FixedPanelSizes fixed_panel_sizes(int64_t out, int64_t in) {
  return N_AVX3::fixed_panel_sizes(out, in);
}
void pack_fixed_panels(const float* weights, int64_t out, int64_t in, const FixedPanels& panels) {
  N_AVX3::pack_fixed_panels(weights, out, in, panels);
}
void fixed_product(const FixedProductArguments& arguments) {
  N_AVX3::fixed_product(arguments);
}

#else

bool has_fixed_product(int64_t) {
  return false;
}
FixedPanelSizes fixed_panel_sizes(int64_t, int64_t) {
  return {0, 0};
}
void pack_fixed_panels(const float*, int64_t, int64_t, const FixedPanels&) {
  HEED_CHECK(false);
}
void fixed_product(const FixedProductArguments&) {
  HEED_CHECK(false);
}

#endif

}  // namespace heed
#endif
