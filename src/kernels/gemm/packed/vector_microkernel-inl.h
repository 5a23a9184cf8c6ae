// The micro-kernel of packed products in vector registers, for float32 and int8: MR rows of A times a panel
// of B, all accumulators in registers. What differs between numbers and instruction sets is a type Numbers:
//
//   A, B, Accumulator         the element types
//   kDepth                    K of a step
//   kAdjacent                 K of one column that is adjacent in a panel; divides kDepth
//   kMr, kNrVectors           the size of a block of C, in rows and vectors
//   kLanes                    columns of a vector of accumulators
//   zero(), load_c(), store_c()   a vector of accumulators
//   load_b()                  a step of kLanes columns
//   broadcast_a()             a step of one row, for all lanes
//   multiply_add()            accumulators += broadcast A * B
//   multiply_add_wide(), wide_bits()   only where 16-bit accumulation may overflow: see int8_numbers-inl.h
//
// Each element of C is one sum in the order of K, whatever the number of rows. Included once for each
// instruction set.

#if defined(HEED_KERNELS_VECTOR_MICROKERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_VECTOR_MICROKERNEL_INL_H_
#undef HEED_KERNELS_VECTOR_MICROKERNEL_INL_H_
#else
#define HEED_KERNELS_VECTOR_MICROKERNEL_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm/blocking.h"
#include "kernels/simd/rows-inl.h"
#include "kernels/simd/unroll-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <class Numbers>
concept HasWideSteps = requires {
  Numbers::wide_bits(0, 0);
};

/// Some rows of A times a panel of B, for one block of K.
template <class Numbers>
struct PanelProduct {
  const typename Numbers::A* a;
  int64_t a_stride;
  int64_t k_steps;
  const typename Numbers::B* b;
  const char* next_b;                ///< what is prefetched meanwhile
  int64_t prefetch_step;             ///< bytes of it for each step
  typename Numbers::Accumulator* c;  ///< (rows, kPanelWidth)
  bool accumulate;                   ///< c holds the sums of earlier blocks of K
  const uint8_t* wide;               ///< for each step: see pack_b_int8()
};

/// kRows rows of C, kVectors vectors at a time; in each step kLines cache lines of next_b are prefetched.
template <class Numbers, int kRows, int kVectors, int kLines>
HWY_NOINLINE void multiply_panel_rows(const PanelProduct<Numbers>& p) {
  using A = typename Numbers::A;
  using B = typename Numbers::B;
  using Accumulator = typename Numbers::Accumulator;
  constexpr int kLanes = Numbers::kLanes;
  constexpr int64_t kDepth = Numbers::kDepth, kAdjacent = Numbers::kAdjacent;
  static_assert(kPanelWidth % (kLanes * kVectors) == 0);
  // x86 addresses rows 0 to 2 from one pointer: base, base + stride, base + 2 stride.
  constexpr int kRowsPerPointer = 3, kPointers = (kRows + kRowsPerPointer - 1) / kRowsPerPointer;
  const char* next_b = p.next_b;
  const int64_t prefetch_step = p.prefetch_step;
  for (int64_t n = 0; n < kPanelWidth; n += kLanes * kVectors) {
    typename Numbers::C sums[kRows * kVectors];
    const auto for_each_sum = [&](const auto& body) HEED_INLINE_LAMBDA {
      unroll<kRows>([&](auto row) HEED_INLINE_LAMBDA {
        unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA {
          body(row * kVectors + v, p.c + row * kPanelWidth + n + v * kLanes);
        });
      });
    };
    if (p.accumulate) {
      for_each_sum([&](int i, Accumulator* c) HEED_INLINE_LAMBDA { sums[i] = Numbers::load_c(c); });
    } else {
      for_each_sum([&](int i, Accumulator*) HEED_INLINE_LAMBDA { sums[i] = Numbers::zero(); });
    }
    const B* b = p.b + n * kAdjacent;
    const A* a[kPointers];
    unroll<kPointers>([&](auto i) HEED_INLINE_LAMBDA { a[i] = p.a + i * kRowsPerPointer * p.a_stride; });
    for (int64_t step = 0; step < p.k_steps; ++step, b += kPanelWidth * kDepth, next_b += prefetch_step) {
      typename Numbers::VectorB vectors[kVectors];
      unroll<kVectors>([&](auto v)
                           HEED_INLINE_LAMBDA { vectors[v] = Numbers::load_b(b + v * kLanes * kAdjacent); });
      unroll<kLines>([&](auto i)
                         HEED_INLINE_LAMBDA { __builtin_prefetch(next_b + i * kCacheLineBytes, 0, 2); });
      const auto multiply = [&](const auto& multiply_add) HEED_INLINE_LAMBDA {
        unroll<kRows>([&](auto row) HEED_INLINE_LAMBDA {
          const typename Numbers::BroadcastA x =
              Numbers::broadcast_a(a[row / kRowsPerPointer] + row % kRowsPerPointer * p.a_stride);
          unroll<kVectors>([&](auto v)
                               HEED_INLINE_LAMBDA { multiply_add(sums[row * kVectors + v], x, vectors[v]); });
        });
      };
      const auto multiply_add = [](auto& sum, const auto& x, const auto& w)
                                    HEED_INLINE_LAMBDA { Numbers::multiply_add(sum, x, w); };
      if constexpr (HasWideSteps<Numbers>) {
        if ((p.wide[step] & Numbers::wide_bits(n, kLanes * kVectors)) != 0) {
          multiply([](auto& sum, const auto& x, const auto& w)
                       HEED_INLINE_LAMBDA { Numbers::multiply_add_wide(sum, x, w); });
        } else {
          multiply(multiply_add);
        }
      } else {
        multiply(multiply_add);
      }
      unroll<kPointers>([&](auto i) HEED_INLINE_LAMBDA { a[i] += kDepth; });
    }
    for_each_sum([&](int i, Accumulator* c) HEED_INLINE_LAMBDA { Numbers::store_c(sums[i], c); });
  }
}

/// 1 to kMr rows.
template <class Numbers, int kMr, int kVectors, int kLines>
HWY_INLINE void multiply_panel(int64_t rows, const PanelProduct<Numbers>& p) {
  if constexpr (kMr > 1) {
    if (rows < kMr) return multiply_panel<Numbers, kMr - 1, kVectors, kLines>(rows, p);
  }
  multiply_panel_rows<Numbers, kMr, kVectors, kLines>(p);
}

/// B as it was packed: panels of kPanelWidth columns, (k_size / kAdjacent, kPanelWidth, kAdjacent) each.
template <class Numbers>
struct PackedPanels {
  const typename Numbers::B* data;
  int64_t n, k;                   ///< k is padded to whole steps
  const uint8_t* wide = nullptr;  ///< (panels, k / kDepth): see pack_b_int8()
};

/// Rows of A, packed or as they are.
template <typename A>
struct PackedRows {
  const A* data;
  int64_t stride;
};

/// For multiply_packed_b(). pack_a(m0, rows) gives PackedRows; epilogue(m0, row, rows, n, c) writes rows
/// [m0 + row, m0 + row + rows) and up to kPanelWidth columns from `n` on.
template <class Numbers, class PackA, class Epilogue>
class VectorKernel {
 public:
  static constexpr int64_t kNr = kPanelWidth;

  VectorKernel(const PackedPanels<Numbers>& b, PackA& pack_a, const Epilogue& epilogue)
      : panels_(b), pack_a_(pack_a), epilogue_(epilogue) {}

  int64_t mc(int64_t /*m*/) const {
    constexpr int64_t kBlock = 2 * Numbers::kMr;  // so that blocks of C are whole
    const int64_t row = std::max<int64_t>(1, panels_.k * static_cast<int64_t>(sizeof(typename Numbers::A)));
    return std::clamp(kPackedL2Bytes / row / kBlock * kBlock, kBlock, kPackedMc);
  }
  static int64_t kc(int64_t /*k*/) {
    return kPackedL1Bytes / (kPanelWidth * static_cast<int64_t>(sizeof(B)));
  }
  void begin_rows(int64_t m0, int64_t rows) {
    m0_ = m0;
    a_ = pack_a_(m0, rows);
    b_ = panels_.data;
    wide_ = panels_.wide;
  }
  HWY_INLINE void multiply(int64_t rows, int64_t n, int64_t k, int64_t k_size) {
    if constexpr (Numbers::kLanes > 1) {
      if (rows <= kStreamedRows) return multiply_streamed(rows, n, k, k_size);
    }
    // Few rows are one block of C, whose time is that of loading B: more rows, fewer columns, and as many
    // cache lines prefetched as are used.
    constexpr int kFewRows = 2 * Numbers::kMr, kVectors = std::max(1, Numbers::kNrVectors / 2);
    constexpr auto kBytes = kVectors * Numbers::kLanes * Numbers::kDepth * sizeof(B);
    if (rows <= kFewRows) {
      multiply_by<kFewRows, kVectors, std::max(1, static_cast<int>(kBytes / kCacheLineBytes))>(rows, n, k,
                                                                                               k_size);
    } else {
      multiply_by<Numbers::kMr, Numbers::kNrVectors, 1>(rows, n, k, k_size);
    }
  }
  void end_rows() {}

 private:
  using B = typename Numbers::B;
  using Accumulator = typename Numbers::Accumulator;

  static constexpr int kPanelVectors = static_cast<int>(kPanelWidth) / Numbers::kLanes;
  /// Rows whose sums with all columns of a panel fit the registers.
  static constexpr int kStreamedRows = std::max(1, Numbers::kMr* Numbers::kNrVectors / kPanelVectors);

  /// So few rows, as in decoding, take the time of reading B: in order, with all columns of a panel at once,
  /// and prefetched some way ahead, because the hardware prefetcher begins anew in each page.
  HWY_INLINE void multiply_streamed(int64_t rows, int64_t n, int64_t k, int64_t k_size) {
    constexpr int64_t kStepBytes = kPanelWidth * Numbers::kDepth * static_cast<int64_t>(sizeof(B));
    constexpr int64_t kAhead = 4096;
    const bool last_k = k + k_size == panels_.k;
    multiply_panel<Numbers, kStreamedRows, kPanelVectors, kStepBytes / kCacheLineBytes>(
        rows, {.a = a_.data + k,
               .a_stride = a_.stride,
               .k_steps = k_size / Numbers::kDepth,
               .b = b_,
               .next_b = reinterpret_cast<const char*>(b_) + kAhead,
               .prefetch_step = kStepBytes,
               .c = c_,
               .accumulate = k > 0,
               .wide = wide_});
    if (last_k) epilogue_(m0_, 0, rows, n, c_);
    next_block(k_size);
  }

  template <int kMr, int kVectors, int kLines>
  HWY_INLINE void multiply_by(int64_t rows, int64_t n, int64_t k, int64_t k_size) {
    constexpr int64_t kPasses = kPanelWidth / (Numbers::kLanes * kVectors);
    const int64_t k_steps = k_size / Numbers::kDepth;
    const B* const next_b = b_ + k_size * kPanelWidth;
    const B* const end =
        std::min(next_b + k_size * kPanelWidth, panels_.data + padded_n(panels_.n) * panels_.k);
    const char* prefetched = reinterpret_cast<const char*>(next_b);
    // Evenly over all steps: prefetches in quick succession would delay each other and the loads after them.
    const int64_t all_steps = std::max<int64_t>(1, kPasses * k_steps * ((rows + kMr - 1) / kMr));
    const int64_t prefetch_step =
        std::min(kLines * kCacheLineBytes, (reinterpret_cast<const char*>(end) - prefetched) / all_steps + 1);
    const bool last_k = k + k_size == panels_.k;
    for_each_block<kMr>(rows, [&](int64_t row, int64_t count) {
      // Without another block of K, all blocks of C use the same memory.
      Accumulator* const c = c_ + (k == 0 && last_k ? 0 : row * kPanelWidth);
      multiply_panel<Numbers, kMr, kVectors, kLines>(count, {.a = a_.data + row * a_.stride + k,
                                                             .a_stride = a_.stride,
                                                             .k_steps = k_steps,
                                                             .b = b_,
                                                             .next_b = prefetched,
                                                             .prefetch_step = prefetch_step,
                                                             .c = c,
                                                             .accumulate = k > 0,
                                                             .wide = wide_});
      if (last_k) epilogue_(m0_, row, count, n, c);
      prefetched += kPasses * k_steps * prefetch_step;
    });
    next_block(k_size);
  }

  void next_block(int64_t k_size) {
    b_ += k_size * kPanelWidth;
    if constexpr (HasWideSteps<Numbers>) wide_ += k_size / Numbers::kDepth;
  }

  PackedPanels<Numbers> panels_;
  PackA& pack_a_;
  const Epilogue& epilogue_;
  int64_t m0_ = 0;
  PackedRows<typename Numbers::A> a_{};
  const B* b_ = nullptr;           ///< B is read once from beginning to end for each block of rows
  const uint8_t* wide_ = nullptr;  ///< likewise
  alignas(64) Accumulator c_[kPackedMc * kPanelWidth];
};

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
