#include "kernels/gemm/fixed_product.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/gemm/blocking.h"
#include "kernels/simd/simd.h"
#include "kernels/thresholds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/fixed_product.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/amx/int8_slices_epilogue-inl.h"
#include "kernels/gemm/amx/int8_slices_pack-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

constexpr int64_t kPanel = amx::kTileRows;  // MR and NR

int64_t packed_kc(int64_t k) {
  return int8_slices_kc<kPackedInt8SlicesKc>(k);
}

FixedPanelSizes fixed_panel_sizes(int64_t out, int64_t in) {
  const int64_t panels = round_up(out, kPanel) / kPanel, kc = packed_kc(in);
  return {panels * int8_steps(in) * kSlicedTileDwords, panels * ((in + kc - 1) / kc) * kPanel};
}

/// A panel of 16 rows or columns from `begin` on, all of K.
void pack_all_of_k(const Operand& operand, int64_t begin, uint32_t* dwords, float* scales) {
  const int64_t kc = packed_kc(operand.k_size);
  for (int64_t k = 0; k < operand.k_size; k += kc, scales += kPanel) {
    const int64_t k_end = std::min(k + kc, operand.k_size);
    pack_sliced_panel(operand, begin, k, k_end, dwords + k / kInt8Step * kSlicedTileDwords, scales);
  }
}

void pack_fixed_panels(const float* weights, int64_t out, int64_t in, const FixedPanels& panels) {
  const Operand b{weights, in, Side::kB, true, out, in};
  const FixedPanelSizes sizes = fixed_panel_sizes(kPanel, in);
  for (int64_t n = 0; n < out; n += kPanel) {
    pack_all_of_k(b, n, panels.groups + n / kPanel * sizes.groups,
                  panels.magnitudes + n / kPanel * sizes.magnitudes);
  }
}

void fixed_product(const FixedProductArguments& args) {
  if (args.rows == 0) return;
  const FixedPanelSizes sizes = fixed_panel_sizes(kPanel, args.in);
  const int64_t kc = packed_kc(args.in);
  const int64_t mc = std::clamp(kPackedInt8SlicesL2Dwords / sizes.groups * kPanel, kPanel,
                                std::min(kPackedMc, round_up(args.rows, kPanel)));
  const int64_t mc_panels = mc / kPanel;
  thread_local std::vector<uint32_t, PoolAllocator<uint32_t>> packed_a;
  thread_local std::vector<float, PoolAllocator<float>> a_scales;
  packed_a.resize(std::max(packed_a.size(), static_cast<size_t>(mc_panels * sizes.groups)));
  a_scales.resize(std::max(a_scales.size(), static_cast<size_t>(mc_panels * sizes.magnitudes)));

  // Cache lines of the next block of B that are prefetched after each slice product, beside the first.
  constexpr int64_t kStepLines = kSlicedTileDwords * amx::kDwordBytes / kCacheLineBytes;
  const int64_t more_lines = (kStepLines - 1) / (mc_panels * kSliceProducts);
  const Operand a{args.x, args.in, Side::kA, true, args.rows, args.in};
  const amx::TileConfig config;
  SlicedBlockPipeline pipeline;
  for (int64_t m0 = 0; m0 < args.rows; m0 += mc) {
    const int64_t panels = round_up(std::min(mc, args.rows - m0), kPanel) / kPanel;
    for (int64_t panel = 0; panel < panels; ++panel) {
      pack_all_of_k(a, m0 + panel * kPanel, packed_a.data() + panel * sizes.groups,
                    a_scales.data() + panel * sizes.magnitudes);
    }
    const uint32_t* b = args.groups;
    const float* b_scales = args.magnitudes;
    for (int64_t n = 0; n < args.out; n += kPanel) {
      for (int64_t k = 0; k < args.in; k += kc, b_scales += kPanel) {
        const int64_t k_steps = int8_steps(std::min(kc, args.in - k));
        const char* next_b = reinterpret_cast<const char*>(b + k_steps * kSlicedTileDwords);
        for (int64_t panel = 0; panel < panels; ++panel) {
          SlicedBlock block{.rows = std::min(kPanel, args.rows - m0 - panel * kPanel),
                            .columns = std::min(kPanel, args.out - n),
                            .a_scales = a_scales.data() + panel * sizes.magnitudes + k / kc * kPanel,
                            .b_scales = b_scales,
                            .c = {args.y + (m0 + panel * kPanel) * args.out + n, args.out},
                            .c0 = {}};
          if (k > 0) {
            block.c0 = {block.c.data, block.c.stride};
          } else if (args.bias != nullptr) {
            block.c0 = {args.bias + n, 0};
          }
          pipeline.multiply(packed_a.data() + panel * sizes.groups + k / kInt8Step * kSlicedTileDwords, b,
                            k_steps, block, [&](auto) HEED_INLINE_LAMBDA {
                              __builtin_prefetch(next_b, 0, 2);
                              next_b += kCacheLineBytes;
                              for (int64_t line = 0; line < more_lines; ++line, next_b += kCacheLineBytes) {
                                __builtin_prefetch(next_b, 0, 2);
                              }
                            });
        }
        b += k_steps * kSlicedTileDwords;
      }
    }
    pipeline.finish();
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace heed {

#if HEED_AMX && HWY_TARGETS & HWY_AVX3

bool has_fixed_product(int64_t in) {
  return internal::has_amx() && packed_weights_pay_on_amx(in);
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
