#include "kernels/gemm/packed/packed_f32.h"

#include <algorithm>

#include "kernels/gemm/blocking.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/packed/packed_f32.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/packed/add_bias-inl.h"
#include "kernels/gemm/packed/packed_b_driver-inl.h"
#include "kernels/gemm/packed/vector_microkernel-inl.h"
#include "kernels/simd/fma_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// For VectorKernel.
struct F32Numbers {
  using A = float;
  using B = float;
  using Accumulator = float;
  static constexpr int kDepth = 1, kAdjacent = 1;
#if HWY_TARGET == HWY_SCALAR
  // Vectors of the compiler: every processor of the architecture has at least 16 bytes.
  using C = float __attribute__((vector_size(16), aligned(4), may_alias));
  static constexpr int kMr = 4, kLanes = 4, kNrVectors = 2;
  static HWY_INLINE C zero() {
    return C{};
  }
  static HWY_INLINE C load_b(const float* p) {
    return *reinterpret_cast<const C*>(p);
  }
  static HWY_INLINE C broadcast_a(const float* p) {
    return C{*p, *p, *p, *p};
  }
  static HWY_INLINE void multiply_add(C& sum, C x, C w) {
    sum += x * w;
  }
  static HWY_INLINE C load_c(const float* p) {
    return load_b(p);
  }
  static HWY_INLINE void store_c(C sum, float* p) {
    *reinterpret_cast<C*>(p) = sum;
  }
#else
  using D = hn::ScalableTag<float>;
  using C = hn::Vec<D>;
  static constexpr int kMr = kFmaMr, kNrVectors = kFmaNrVectors;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  static HWY_INLINE C zero() {
    return hn::Zero(D());
  }
  static HWY_INLINE C load_b(const float* p) {
    return hn::LoadU(D(), p);
  }
  static HWY_INLINE C broadcast_a(const float* p) {
    return hn::Set(D(), *p);
  }
  static HWY_INLINE void multiply_add(C& sum, C x, C w) {
    sum = hn::MulAdd(x, w, sum);
  }
  static HWY_INLINE C load_c(const float* p) {
    return hn::LoadU(D(), p);
  }
  static HWY_INLINE void store_c(C sum, float* p) {
    hn::StoreU(sum, D(), p);
  }
#endif
  using VectorB = C;
  using BroadcastA = C;
};

void multiply_packed_f32(const PackedF32Arguments& a) {
  const auto pack_a = [&](int64_t m0, int64_t /*rows*/) {  // A is used as it is
    return PackedRows<float>{a.x + m0 * a.in, a.in};
  };
  const auto epilogue = [&](int64_t m0, int64_t row, int64_t rows, int64_t n, const float* c) {
    add_bias(a, m0 + row, rows, n, c);
  };
  VectorKernel kernel(PackedPanels<F32Numbers>{a.panels, a.out, a.in}, pack_a, epilogue);
  multiply_packed_b(kernel, a.rows, a.out, a.in);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {

HEED_EXPORT(multiply_packed_f32);

void multiply_packed_f32(const PackedF32Arguments& arguments) {
  HEED_SELECT(multiply_packed_f32)(arguments);
}

void pack_b_f32(const float* weights, int64_t out, int64_t in, float* panels) {
  constexpr int64_t kBlock = 16;  // of K: what is written of it fits L1
  for (int64_t n = 0; n < out; n += kPanelWidth, panels += kPanelWidth * in) {
    const int64_t columns = std::min(kPanelWidth, out - n);
    if (columns < kPanelWidth) std::fill_n(panels, kPanelWidth * in, 0.0f);
    for (int64_t begin = 0; begin < in; begin += kBlock) {
      const int64_t end = std::min(begin + kBlock, in);
      for (int64_t column = 0; column < columns; ++column) {
        const float* row = weights + (n + column) * in;
        for (int64_t k = begin; k < end; ++k) panels[k * kPanelWidth + column] = row[k];
      }
    }
  }
}

}  // namespace heed
#endif
