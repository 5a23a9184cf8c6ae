// Products with packed weights on AMX tiles, of int8 or bf16, for multiply_packed_b(): a panel of B is two
// blocks of 32 columns. K is whole steps of 64 bytes, and is not blocked. Included once for each instruction
// set.

#if defined(HEED_KERNELS_AMX_PACKED_B_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_AMX_PACKED_B_KERNEL_INL_H_
#undef HEED_KERNELS_AMX_PACKED_B_KERNEL_INL_H_
#else
#define HEED_KERNELS_AMX_PACKED_B_KERNEL_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm/amx/microkernel-inl.h"
#include "kernels/gemm/blocking.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// B as it was packed: panels of kPanelWidth columns, (16 k_steps, kPanelWidth) dwords each.
struct AmxPanels {
  const void* data;
  int64_t n, k_steps;
};

/// Numbers: see multiply_tiles(). pack_a(m0, rows) gives rows of k_steps * 64 bytes, one after the other;
/// epilogue(m0, row, rows, n, c) is that of VectorKernel.
template <class Numbers, class PackA, class Epilogue>
class AmxPackedBKernel {
 public:
  static constexpr int64_t kNr = kPanelWidth;

  AmxPackedBKernel(const AmxPanels& b, PackA& pack_a, const Epilogue& epilogue)
      : panels_(b), pack_a_(pack_a), epilogue_(epilogue) {}

  static int64_t mc(int64_t /*m*/) { return kPackedMc; }
  int64_t kc(int64_t k) const { return k; }
  void begin_rows(int64_t m0, int64_t rows) {
    m0_ = m0;
    a_ = reinterpret_cast<const char*>(pack_a_(m0, rows).data);
  }
  HWY_INLINE void multiply(int64_t rows, int64_t n, int64_t /*k*/, int64_t /*k_size*/) {
    // A tile of B: 16 dwords along K of 16 columns.
    constexpr int64_t kDwordsOfPanel = kPanelWidth * amx::kDwordBytes;
    constexpr int64_t kStepBytes = amx::kTileRows * kDwordsOfPanel;
    const int64_t k_steps = panels_.k_steps, row_bytes = k_steps * amx::kTileRowBytes;
    const int64_t panel_bytes = k_steps * kStepBytes;
    const char* const panel = static_cast<const char*>(panels_.data) + n / kPanelWidth * panel_bytes;
    // The next panel is prefetched evenly over all steps.
    const int64_t blocks = (rows + kAmxMr - 1) / kAmxMr * (kPanelWidth / kAmxNr);
    const int64_t lines =
        n + kPanelWidth < panels_.n ? panel_bytes / (kCacheLineBytes * blocks * k_steps) : 0;
    const char* prefetched = panel + panel_bytes;
    const auto prefetch = [&]() HEED_INLINE_LAMBDA {
      for (int64_t line = 0; line < lines; ++line, prefetched += kCacheLineBytes) {
        __builtin_prefetch(prefetched, 0, 2);
      }
    };
    for (int64_t column = 0; column < kPanelWidth; column += kAmxNr) {
      const PackedTiles b{panel + column * amx::kDwordBytes, kDwordsOfPanel, amx::kTileRowBytes, 0,
                          kStepBytes};
      for (int64_t row = 0; row < rows; row += kAmxMr) {
        const PackedTiles a{a_ + row * row_bytes, row_bytes, amx::kTileRows * row_bytes, 0,
                            amx::kTileRowBytes};
        const MatrixBlock<Accumulator> c{c_ + row * kPanelWidth + column, kPanelWidth};
        if (rows - row > amx::kTileRows) {
          multiply_tiles<Numbers, 2, kTilesN>(a, b, k_steps, {}, c, prefetch);
        } else {
          multiply_tiles<Numbers, 1, kTilesN>(a, b, k_steps, {}, c, prefetch);
        }
      }
    }
    epilogue_(m0_, 0, rows, n, c_);
  }
  void end_rows() {}

 private:
  using Accumulator = typename Numbers::Accumulator;

  AmxPanels panels_;
  PackA& pack_a_;
  const Epilogue& epilogue_;
  int64_t m0_ = 0;
  const char* a_ = nullptr;
  alignas(64) Accumulator c_[kPackedMc * kPanelWidth];
};

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
