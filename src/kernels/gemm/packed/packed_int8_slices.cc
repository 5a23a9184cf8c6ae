#include "kernels/gemm/packed/packed_int8_slices.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/gemm/blocking.h"
#include "kernels/simd/simd.h"
#include "kernels/thresholds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/packed/packed_int8_slices.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/amx/int8_slices_epilogue-inl.h"
#include "kernels/gemm/amx/int8_slices_pack-inl.h"
#include "kernels/gemm/packed/packed_b_driver-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

constexpr int64_t kPanel = amx::kTileRows;  // MR and NR

int64_t packed_kc(int64_t k) {
  return int8_slices_kc<kPackedInt8SlicesKc>(k);
}

SlicedPanelSizes sliced_panel_sizes(int64_t out, int64_t in) {
  const int64_t panels = round_up(out, kPanel) / kPanel, kc = packed_kc(in);
  return {panels * int8_steps(in) * kSlicedTileDwords, panels * ((in + kc - 1) / kc) * kPanel};
}

/// A panel of 16 rows or columns from `begin` on, all of K.
void pack_all_of_k(const Operand& operand, int64_t begin, const SlicedPanels& to) {
  const int64_t kc = packed_kc(operand.k_size);
  for (int64_t k = 0; k < operand.k_size; k += kc) {
    pack_sliced_panel(operand, begin, k, std::min(k + kc, operand.k_size),
                      to.dwords + k / kInt8Step * kSlicedTileDwords, to.scales + k / kc * kPanel);
  }
}

/// All panels of rows or columns [begin, end).
void pack_panels(const Operand& operand, int64_t begin, int64_t end, const SlicedPanels& to) {
  const SlicedPanelSizes panel = sliced_panel_sizes(kPanel, operand.k_size);
  for (int64_t i = begin, n = 0; i < end; i += kPanel, ++n) {
    pack_all_of_k(operand, i, {to.dwords + n * panel.dwords, to.scales + n * panel.scales});
  }
}

void pack_b_int8_slices(const float* weights, int64_t out, int64_t in, const SlicedPanels& panels) {
  pack_panels({weights, in, Side::kB, true, out, in}, 0, out, panels);
}

/// For multiply_packed_b().
class PackedInt8SlicesKernel {
 public:
  static constexpr int64_t kNr = kPanel;

  explicit PackedInt8SlicesKernel(const PackedInt8SlicesArguments& a)
      : args_(a), kc_(packed_kc(a.in)), panel_(sliced_panel_sizes(kPanel, a.in)) {}

  /// At most as many rows as fit L2.
  int64_t mc(int64_t m) const {
    return std::clamp(kPackedInt8SlicesL2Dwords / panel_.dwords * kPanel, kPanel,
                      std::min(kPackedMc, round_up(m, kPanel)));
  }
  int64_t kc(int64_t /*k*/) const { return kc_; }
  void begin_rows(int64_t m0, int64_t rows) {
    thread_local std::vector<uint32_t, PoolAllocator<uint32_t>> dwords;
    thread_local std::vector<float, PoolAllocator<float>> scales;
    const int64_t most = mc(args_.rows) / kPanel;
    dwords.resize(std::max(dwords.size(), static_cast<size_t>(most * panel_.dwords)));
    scales.resize(std::max(scales.size(), static_cast<size_t>(most * panel_.scales)));
    pack_panels({args_.x, args_.in, Side::kA, true, args_.rows, args_.in}, m0, m0 + rows,
                {dwords.data(), scales.data()});
    m0_ = m0;
    a_ = dwords.data();
    a_scales_ = scales.data();
    b_ = args_.dwords;
    b_scales_ = args_.scales;
    // Cache lines of the next panel of B that are prefetched after each slice product, beside the first.
    constexpr int64_t kStepLines = kSlicedTileDwords * amx::kDwordBytes / kCacheLineBytes;
    more_lines_ = (kStepLines - 1) / (most * kSliceProducts);
  }
  HWY_INLINE void multiply(int64_t rows, int64_t n, int64_t k, int64_t k_size) {
    const int64_t k_steps = int8_steps(k_size);
    const uint32_t* const next_b = b_ + k_steps * kSlicedTileDwords;
    const char* prefetched = reinterpret_cast<const char*>(next_b);
    for (int64_t row = 0; row < rows; row += kPanel) {
      const int64_t panel = row / kPanel;
      SlicedBlock block{.rows = std::min(kPanel, rows - row),
                        .columns = std::min(kPanel, args_.out - n),
                        .a_scales = a_scales_ + panel * panel_.scales + k / kc_ * kPanel,
                        .b_scales = b_scales_,
                        .c = {args_.y + (m0_ + row) * args_.y_stride + n, args_.y_stride},
                        .c0 = {}};
      if (k > 0) {
        block.c0 = {block.c.data, block.c.stride};
      } else if (args_.bias != nullptr) {
        block.c0 = {args_.bias + n, 0};
      }
      pipeline_.multiply(a_ + panel * panel_.dwords + k / kInt8Step * kSlicedTileDwords, b_, k_steps, block,
                         [&](auto) HEED_INLINE_LAMBDA {
                           __builtin_prefetch(prefetched, 0, 2);
                           prefetched += kCacheLineBytes;
                           for (int64_t line = 0; line < more_lines_; ++line, prefetched += kCacheLineBytes) {
                             __builtin_prefetch(prefetched, 0, 2);
                           }
                         });
    }
    b_ = next_b;
    b_scales_ += kPanel;
  }
  void end_rows() { pipeline_.finish(); }

 private:
  const PackedInt8SlicesArguments& args_;
  int64_t kc_;
  SlicedPanelSizes panel_;  ///< of a panel, all of K
  int64_t m0_ = 0, more_lines_ = 0;
  const uint32_t *a_ = nullptr, *b_ = nullptr;
  const float *a_scales_ = nullptr, *b_scales_ = nullptr;
  SlicedBlockPipeline pipeline_;
};

void multiply_packed_int8_slices(const PackedInt8SlicesArguments& a) {
  if (a.rows == 0) return;
  const amx::TileConfig config;
  PackedInt8SlicesKernel kernel(a);
  multiply_packed_b(kernel, a.rows, a.out, a.in);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace heed {

#if HEED_AMX && HWY_TARGETS & HWY_AVX3

bool uses_int8_slices(int64_t in) {
  return internal::has_amx() && packed_weights_pay_on_amx(in);
}
SlicedPanelSizes sliced_panel_sizes(int64_t out, int64_t in) {
  return N_AVX3::sliced_panel_sizes(out, in);
}
void pack_b_int8_slices(const float* weights, int64_t out, int64_t in, const SlicedPanels& panels) {
  N_AVX3::pack_b_int8_slices(weights, out, in, panels);
}
void multiply_packed_int8_slices(const PackedInt8SlicesArguments& arguments) {
  N_AVX3::multiply_packed_int8_slices(arguments);
}

#else

bool uses_int8_slices(int64_t) {
  return false;
}
SlicedPanelSizes sliced_panel_sizes(int64_t, int64_t) {
  return {0, 0};
}
void pack_b_int8_slices(const float*, int64_t, int64_t, const SlicedPanels&) {
  HEED_CHECK(false);
}
void multiply_packed_int8_slices(const PackedInt8SlicesArguments&) {
  HEED_CHECK(false);
}

#endif

}  // namespace heed
#endif
