// Products with packed weights on AMX tiles, of int8 or bf16, for multiply_packed_b(): a panel of B is two
// blocks of 32 columns. Included once for each instruction set.
//
// A is packed tile by tile, in the order in which tiles are loaded: with rows one after the other, the 16
// rows of a tile would share a few sets of L1.
//
//   A: (blocks of 32 rows, steps of K, 2 tiles, 16 tile rows, 64 bytes)

#if defined(HEED_KERNELS_AMX_PACKED_B_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_AMX_PACKED_B_KERNEL_INL_H_
#undef HEED_KERNELS_AMX_PACKED_B_KERNEL_INL_H_
#else
#define HEED_KERNELS_AMX_PACKED_B_KERNEL_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm/amx/microkernel-inl.h"
#include "kernels/gemm/blocking.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

constexpr int64_t kTileBytes = amx::kTileRows * amx::kTileRowBytes;
/// A step of K of kAmxMr rows of packed A, or of a panel of B.
constexpr int64_t kAmxStepBytesOfA = kTilesM * kTileBytes;
constexpr int64_t kAmxStepBytesOfB = amx::kTileRows * kPanelWidth * amx::kDwordBytes;

/// Rows of A as tiles: where they are written.
struct AmxRows {
  char* data;
  int64_t k_steps;

  static int64_t bytes(int64_t rows, int64_t k_steps) {
    return round_up(rows, kAmxMr) / kAmxMr * k_steps * kAmxStepBytesOfA;
  }
  /// The first 64 bytes of a row; the next ones are kAmxStepBytesOfA farther.
  char* row(int64_t n) const {
    return data + n / kAmxMr * k_steps * kAmxStepBytesOfA + n % kAmxMr * amx::kTileRowBytes;
  }
};

/// B as it was packed: panels of kPanelWidth columns, (16 k_steps, kPanelWidth) dwords each.
struct AmxPanels {
  const void* data;
  int64_t n, k_steps;
};

/// Numbers: see multiply_tiles(). pack_a(m0, rows) gives AmxRows; epilogue(m0, row, rows, n, c) is that of
/// VectorKernel. K is counted in steps of 64 bytes.
template <class Numbers, class PackA, class Epilogue>
class AmxPackedBKernel {
 public:
  static constexpr int64_t kNr = kPanelWidth;

  AmxPackedBKernel(const AmxPanels& b, PackA& pack_a, const Epilogue& epilogue)
      : panels_(b), pack_a_(pack_a), epilogue_(epilogue) {}

  int64_t mc(int64_t /*m*/) const {
    const int64_t row = std::max<int64_t>(1, panels_.k_steps) * amx::kTileRowBytes;
    return std::clamp(kPackedL2Bytes / row / kAmxMr * kAmxMr, kAmxMr, kPackedAmxMc);
  }
  /// Blocks of equal size.
  static int64_t kc(int64_t k_steps) {
    constexpr int64_t kMost = kPackedL1Bytes / kAmxStepBytesOfB;
    const int64_t blocks = std::max<int64_t>(1, (k_steps + kMost - 1) / kMost);
    return std::max<int64_t>(1, (k_steps + blocks - 1) / blocks);
  }
  void begin_rows(int64_t m0, int64_t rows) {
    m0_ = m0;
    a_ = pack_a_(m0, rows).data;
    b_ = static_cast<const char*>(panels_.data);
  }
  HWY_INLINE void multiply(int64_t rows, int64_t n, int64_t k, int64_t k_size) {
    const char* const next_b = b_ + k_size * kAmxStepBytesOfB;
    // The next block of B is prefetched evenly over all steps.
    const char* const end = static_cast<const char*>(panels_.data) +
                            padded_n(panels_.n) / kPanelWidth * panels_.k_steps * kAmxStepBytesOfB;
    const int64_t blocks = (rows + kAmxMr - 1) / kAmxMr * (kPanelWidth / kAmxNr);
    const int64_t next_lines = std::min(end - next_b, k_size * kAmxStepBytesOfB) / kCacheLineBytes;
    const int64_t steps = std::max<int64_t>(1, blocks * k_size);
    const int64_t lines = (next_lines + steps - 1) / steps;
    const char* prefetched = next_b;
    const auto prefetch = [&]() HEED_INLINE_LAMBDA {
      for (int64_t line = 0; line < lines; ++line, prefetched += kCacheLineBytes) {
        __builtin_prefetch(prefetched, 0, 2);
      }
    };
    const bool last_k = k + k_size == panels_.k_steps;
    for (int64_t row = 0; row < rows; row += kAmxMr) {
      // Without another block of K, all blocks of C use the same memory.
      Accumulator* const c = c_ + (k == 0 && last_k ? 0 : row * kPanelWidth);
      const char* const a = a_ + (row / kAmxMr * panels_.k_steps + k) * kAmxStepBytesOfA;
      for (int64_t column = 0; column < kPanelWidth; column += kAmxNr) {
        const PackedTiles tiles_of_a{a, amx::kTileRowBytes, kTileBytes, 0, kAmxStepBytesOfA};
        const PackedTiles tiles_of_b{b_ + column * amx::kDwordBytes, kPanelWidth * amx::kDwordBytes,
                                     amx::kTileRowBytes, 0, kAmxStepBytesOfB};
        const MatrixBlock<Accumulator> block{c + column, kPanelWidth};
        const MatrixBlock<const Accumulator> before{k > 0 ? block.data : nullptr, kPanelWidth};
        if (rows - row > amx::kTileRows) {
          multiply_tiles<Numbers, 2, kTilesN>(tiles_of_a, tiles_of_b, k_size, before, block, prefetch);
        } else {
          multiply_tiles<Numbers, 1, kTilesN>(tiles_of_a, tiles_of_b, k_size, before, block, prefetch);
        }
      }
      if (last_k) epilogue_(m0_, row, std::min(kAmxMr, rows - row), n, c);
    }
    b_ = next_b;
  }
  void end_rows() {}

 private:
  using Accumulator = typename Numbers::Accumulator;

  AmxPanels panels_;
  PackA& pack_a_;
  const Epilogue& epilogue_;
  int64_t m0_ = 0;
  const char* a_ = nullptr;
  const char* b_ = nullptr;  ///< B is read once from beginning to end for each block of rows
  alignas(64) Accumulator c_[kPackedAmxMc * kPanelWidth];
};

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
