// The driver for products whose operands both change from call to call, C = A B + C0: gemm() on AMX, and in
// bf16. Both are packed on the way, in the loops of BLIS (Van Zee and van de Geijn, "BLIS: a framework for
// rapidly instantiating BLAS functionality", 2015). The operand with fewer rows or columns is the one whose
// block stays in L2:
//
//   for each block of KC of K
//     for each block of the smaller operand, MC rows or columns:    pack -> L2
//       for each group of panels of the other operand:              pack -> L1; prefetch the next group
//         for each panel of the block, for each of the group:       micro-kernel, epilogue
//
// Included once for each instruction set.

#if defined(HEED_KERNELS_PACK_BOTH_DRIVER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PACK_BOTH_DRIVER_INL_H_
#undef HEED_KERNELS_PACK_BOTH_DRIVER_INL_H_
#else
#define HEED_KERNELS_PACK_BOTH_DRIVER_INL_H_
#endif

#include <algorithm>
#include <utility>
#include <vector>

#include "base/memory_pool.h"
#include "hwy/highway.h"
#include "kernels/gemm/amx/microkernel-inl.h"
#include "kernels/gemm/amx/operand-inl.h"
#include "kernels/gemm/blocking.h"
#include "kernels/gemm/gemm.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// A MicroKernel says:
//   Configuration           what holds during a product: the tiles of this thread, or nothing
//   kPanel                  MR and NR: rows of A, or columns of B, of a panel
//   kGroupPanels            panels of a group
//   kScales                 floats beside a panel
//   kc(k)                   KC for a product of so many k
//   steps(k), kStepDwords   steps along K, and dwords of a panel for each
//   pack(operand, begin, k, k_end, dwords, scales)
//   multiply(a, b, k_steps, block, next_c, prefetch)    one block of C; prefetch() is called in each step
//   finish()                before packed panels are overwritten

struct PackedPanel {
  const uint32_t* dwords;
  const float* scales;
  int64_t begin;  ///< its first row or column
};

/// At most kPanel rows and columns of C, and of what the product is added to.
struct BlockOfC {
  int64_t rows, columns;
  MatrixBlock<float> c;
  MatrixBlock<const float> c0;  ///< C, the bias with stride 0, or nothing
};

template <class MicroKernel>
BlockOfC block_of_c(const GemmArguments<float>& g, int64_t row, int64_t column, bool first_k) {
  BlockOfC block{.rows = std::clamp<int64_t>(g.m - row, 0, MicroKernel::kPanel),
                 .columns = std::clamp<int64_t>(g.n - column, 0, MicroKernel::kPanel),
                 .c = {g.c + row * g.c_stride + column, g.c_stride},
                 .c0 = {}};
  if (g.accumulate || !first_k) {
    block.c0 = {block.c.data, block.c.stride};
  } else if (g.bias != nullptr) {
    block.c0 = {g.bias + column, 0};
  }
  return block;
}

template <class MicroKernel>
void gemm_pack_both(const GemmArguments<float>& g) {
  constexpr int64_t kPanel = MicroKernel::kPanel, kGroup = MicroKernel::kGroupPanels;
  constexpr int64_t kGroupSize = kGroup * kPanel, kScales = MicroKernel::kScales;
  const Operand a{g.a, g.a_stride, Side::kA, !g.transpose_a, g.m, g.k};
  const Operand b{g.b, g.b_stride, Side::kB, g.transpose_b, g.n, g.k};
  const Operand &smaller = g.m < g.n ? a : b, &larger = g.m < g.n ? b : a;

  const int64_t kc = MicroKernel::kc(g.k), panel_dwords = MicroKernel::steps(kc) * MicroKernel::kStepDwords;
  const int64_t mc_panels = std::min((smaller.size + kPanel - 1) / kPanel, kPackBothL2Dwords / panel_dwords);
  thread_local std::vector<uint32_t, PoolAllocator<uint32_t>> memory;
  thread_local std::vector<float, PoolAllocator<float>> scales;
  memory.resize(std::max(memory.size(), static_cast<size_t>((kGroup + mc_panels) * panel_dwords)));
  scales.resize(std::max(scales.size(), static_cast<size_t>((2 * kGroup + mc_panels) * kScales)));
  uint32_t *const group_memory = memory.data(), *const block_memory = group_memory + kGroup * panel_dwords;
  // The epilogue of the last block may still be due when the next group is packed: two sets of scales.
  float* group_scales[] = {scales.data(), scales.data() + kGroup * kScales};
  float* const block_scales = group_scales[1] + kGroup * kScales;

  [[maybe_unused]] const typename MicroKernel::Configuration configuration;
  MicroKernel micro_kernel;
  int set = 0;
  for (int64_t k = 0; k < g.k; k += kc) {
    const int64_t k_end = std::min(k + kc, g.k), k_steps = MicroKernel::steps(k_end - k);
    for (int64_t first = 0; first < smaller.size; first += mc_panels * kPanel) {
      const int64_t panels = std::min(mc_panels, (smaller.size - first + kPanel - 1) / kPanel);
      for (int64_t n = 0; n < panels; ++n) {
        MicroKernel::pack(smaller, first + n * kPanel, k, k_end, block_memory + n * panel_dwords,
                          block_scales + n * kScales);
      }
      for (int64_t other = 0; other < larger.size; other += kGroupSize, set = 1 - set) {
        const int64_t in_group = std::min(kGroup, (larger.size - other + kPanel - 1) / kPanel);
        for (int64_t n = 0; n < in_group; ++n) {
          MicroKernel::pack(larger, other + n * kPanel, k, k_end, group_memory + n * panel_dwords,
                            group_scales[set] + n * kScales);
        }
        PacedPrefetch prefetch =
            prefetch_operand(larger, other + kGroupSize, kGroupSize, k, k_end, panels * in_group * k_steps);
        for (int64_t of_block = 0; of_block < panels; ++of_block) {
          for (int64_t of_group = 0; of_group < in_group; ++of_group) {
            PackedPanel panel_a{block_memory + of_block * panel_dwords, block_scales + of_block * kScales,
                                first + of_block * kPanel};
            PackedPanel panel_b{group_memory + of_group * panel_dwords,
                                group_scales[set] + of_group * kScales, other + of_group * kPanel};
            const bool last = of_block + 1 == panels;
            int64_t next_row = first + (last ? 0 : of_block + 1) * kPanel,
                    next_column = last ? other + kGroupSize : other + of_group * kPanel;
            if (smaller.side == Side::kB) {
              std::swap(panel_a, panel_b);
              std::swap(next_row, next_column);
            }
            micro_kernel.multiply(panel_a, panel_b, k_steps,
                                  block_of_c<MicroKernel>(g, panel_a.begin, panel_b.begin, k == 0),
                                  block_of_c<MicroKernel>(g, next_row, next_column, k == 0), prefetch);
          }
        }
      }
      micro_kernel.finish();
    }
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
