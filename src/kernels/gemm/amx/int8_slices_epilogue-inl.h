// The epilogue of the int8 slices micro-kernel, C = C0 + scale_a scale_b (2^-14) (p0 + 2^-8 p1 + 2^-16 p2 +
// 2^-24 p3), software-pipelined: the rows of a block of C are written, with vector instructions, while the
// tile unit multiplies the next block. Included once for each instruction set.

#if defined(HEED_KERNELS_INT8_SLICES_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_INT8_SLICES_EPILOGUE_INL_H_
#undef HEED_KERNELS_INT8_SLICES_EPILOGUE_INL_H_
#else
#define HEED_KERNELS_INT8_SLICES_EPILOGUE_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm/amx/int8_slices_microkernel-inl.h"
#include "kernels/gemm/amx/microkernel-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// At most 16 rows and 16 columns of C, and what is needed to write them.
struct SlicedBlock {
  int64_t rows = 0, columns = 0;
  const float *a_scales = nullptr, *b_scales = nullptr;  ///< 16 of each
  MatrixBlock<float> c;
  MatrixBlock<const float> c0;  ///< zero where there are no data
};

/// Writes the rows of a block between the slice products of the next one, without branches that depend on
/// data.
class SlicedRowWriter {
 public:
  SlicedRowWriter() = default;
  SlicedRowWriter(const SliceSums& sums, const SlicedBlock& block)
      : sums_(&sums),
        block_(block),
        columns_(hn::FirstN(Floats(), static_cast<size_t>(block.columns))),
        b_scales_(hn::Mul(hn::LoadU(Floats(), block.b_scales), hn::Set(Floats(), 0x1p-14f))) {
    if (block.c0.data == nullptr) block_.c0 = {kZeros, 0};
  }

  /// After slice product kProduct of a step; prefetches the same row of `next`, which is written after this
  /// block.
  template <int kProduct>
  HWY_INLINE void interleave(int64_t step, const MatrixBlock<float>& next) {
    if constexpr (kProduct % 2 == 1) {
      if (step >= amx::kTileRows / kRowsPerStep) return;
      const int64_t row = step * kRowsPerStep + kProduct / 2;
      __builtin_prefetch(next.data + row * next.stride, 1, 3);
      write(row);
    }
  }
  /// The remaining rows after this many steps.
  HWY_INLINE void finish(int64_t k_steps) {
    for (int64_t row = k_steps * kRowsPerStep; row < block_.rows; ++row) write(row);
  }

 private:
  static constexpr int kRowsPerStep = kSliceProducts / 2;
  alignas(64) static constexpr float kZeros[amx::kTileRows] = {};
  alignas(64) static constexpr SliceSums kNoSums = {};

  HWY_INLINE void write(int64_t row) {
    alignas(64) float discarded[amx::kTileRows];
    const Floats d;
    const hn::RebindToSigned<Floats> integers;
    const auto slice_sum = [&](int n) HEED_INLINE_LAMBDA {
      return hn::ConvertTo(d, hn::Load(integers, (*sums_)[n] + row * kRowDwords));
    };
    const auto slice_weight = hn::Set(d, 0x1p-8f);
    auto sum = slice_sum(kSlices);
    for (int n = kSlices - 1; n >= 0; --n) sum = hn::MulAdd(sum, slice_weight, slice_sum(n));
    sum = hn::Mul(hn::Mul(sum, b_scales_), hn::Set(d, block_.a_scales[row]));

    const bool exists = row < block_.rows;
    float* const c = exists ? block_.c.data + row * block_.c.stride : discarded;
    const float* const c0 = exists ? block_.c0.data + row * block_.c0.stride : kZeros;
    hn::BlendedStore(hn::Add(sum, hn::MaskedLoad(columns_, d, c0)), columns_, d, c);
  }

  const SliceSums* sums_ = &kNoSums;
  SlicedBlock block_{.a_scales = kZeros, .c0 = {kZeros, 0}};
  hn::Mask<Floats> columns_{};
  hn::Vec<Floats> b_scales_ = hn::Zero(Floats());
};

/// Blocks of C one after the other, each written during the next one.
class SlicedBlockPipeline {
 public:
  /// interleave(n) is called after each slice product, too. The scales must stay valid until the next call
  /// has returned, or finish().
  template <class Interleave>
  HWY_INLINE void multiply(const uint32_t* a, const uint32_t* b, int64_t k_steps, const SlicedBlock& block,
                           const Interleave& interleave) {
    multiply_slices(a, b, k_steps, sums_[now_], [&](int64_t step, auto n) HEED_INLINE_LAMBDA {
      interleave(n);
      previous_.template interleave<n>(step, block.c);
    });
    previous_.finish(k_steps);
    previous_ = {sums_[now_], block};
    now_ = 1 - now_;
  }
  /// Writes the last block.
  HWY_INLINE void finish() {
    previous_.finish(0);
    previous_ = {};
  }

 private:
  alignas(64) SliceSums sums_[2];
  int now_ = 0;
  SlicedRowWriter previous_;
};

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
