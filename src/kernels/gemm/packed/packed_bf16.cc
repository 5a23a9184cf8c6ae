#include "kernels/gemm/packed/packed_bf16.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/gemm/blocking.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/packed/packed_bf16.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/amx/bf16_split-inl.h"
#include "kernels/gemm/amx/packed_b_kernel-inl.h"
#include "kernels/gemm/dot_bf16-inl.h"
#include "kernels/gemm/packed/add_bias-inl.h"
#include "kernels/gemm/packed/packed_b_driver-inl.h"
#include "kernels/gemm/packed/vector_microkernel-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Steps of kBf16Step of K, each 16 dwords of two bf16 numbers, k and k + 16: see pack_bf16_tile().
constexpr int64_t bf16_steps(int64_t in) {
  return (in + kBf16Step - 1) / kBf16Step;
}

/// A panel is (16 steps, kPanelWidth) dwords: four tiles beside one another.
void pack_b_bf16(const float* weights, int64_t out, int64_t in, uint32_t* panels) {
  const Operand w{weights, in, Side::kB, true, out, in};
  alignas(64) uint32_t tile[kTileDwords];
  for (int64_t n = 0; n < padded_n(out); n += kPanelWidth) {
    for (int64_t k = 0; k < in; k += kBf16Step, panels += kRowDwords * kPanelWidth) {
      for (int64_t column = 0; column < kPanelWidth; column += amx::kTileRows) {
        if (n + column < out) {
          pack_bf16_tile<1>(w, n + column, k, tile);
        } else {
          std::fill_n(tile, kTileDwords, 0u);
        }
        for (int64_t r = 0; r < amx::kTileRows; ++r) {
          std::copy_n(tile + r * kRowDwords, kRowDwords, panels + r * kPanelWidth + column);
        }
      }
    }
  }
}

/// Rounds a row of x: kRowDwords for each step of K, which are `step_dwords` apart.
HWY_INLINE void round_bf16_row(const float* x, int64_t in, uint32_t* to, int64_t step_dwords) {
  const Floats d;
  int64_t k = 0;
  for (; k + kBf16Step <= in; k += kBf16Step, to += step_dwords) {
    split_bf16<1>(hn::LoadU(d, x + k), hn::LoadU(d, x + k + kRowDwords), to);
  }
  if (k == in) return;
  alignas(64) float rest[kBf16Step] = {};
  std::copy(x + k, x + in, rest);
  split_bf16<1>(hn::Load(d, rest), hn::Load(d, rest + kRowDwords), to);
}

/// A buffer for packed A of the calling thread.
uint32_t* packed_a_dwords(int64_t size) {
  thread_local std::vector<uint32_t, PoolAllocator<uint32_t>> values;
  values.resize(std::max(values.size(), static_cast<size_t>(size)));
  return values.data();
}

/// For VectorKernel: a step of K is a dword of two numbers.
struct VectorBf16Numbers {
  using A = uint32_t;
  using B = uint32_t;
  using Accumulator = float;
  static constexpr int kDepth = 1, kAdjacent = 1, kMr = 6, kNrVectors = 4;
  static constexpr int kLanes = static_cast<int>(kRowDwords);
  using C = hn::Vec<Floats>;
  using VectorB = hn::Vec<Dwords>;
  using BroadcastA = VectorB;
  static HWY_INLINE C zero() { return hn::Zero(Floats()); }
  static HWY_INLINE VectorB load_b(const uint32_t* p) { return hn::LoadU(Dwords(), p); }
  static HWY_INLINE BroadcastA broadcast_a(const uint32_t* p) { return hn::Set(Dwords(), *p); }
  static HWY_INLINE void multiply_add(C& sum, BroadcastA x, VectorB w) { dot_pairs_bf16(sum, x, w); }
  static HWY_INLINE C load_c(const float* p) { return hn::LoadU(Floats(), p); }
  static HWY_INLINE void store_c(C sum, float* p) { hn::StoreU(sum, Floats(), p); }
};

void multiply_packed_bf16(const PackedBf16Arguments& a) {
  const auto epilogue = [&](int64_t m0, int64_t row, int64_t rows, int64_t n, const float* c) {
    add_bias(a, m0 + row, rows, n, c);
  };
  const int64_t steps = bf16_steps(a.in), k = steps * kRowDwords;
  if (internal::has_amx()) {
    const amx::TileConfig config;
    const auto pack_a = [&](int64_t m0, int64_t rows) {
      const int64_t dwords = AmxRows::bytes(rows, steps) / amx::kDwordBytes;
      const AmxRows packed{reinterpret_cast<char*>(packed_a_dwords(dwords)), steps};
      for (int64_t row = 0; row < rows; ++row) {
        round_bf16_row(a.x + (m0 + row) * a.in, a.in, reinterpret_cast<uint32_t*>(packed.row(row)),
                       kAmxStepBytesOfA / amx::kDwordBytes);
      }
      return packed;
    };
    using Kernel = AmxPackedBKernel<Bf16Numbers<1>, decltype(pack_a), decltype(epilogue)>;
    Kernel kernel({a.panels, a.out, steps}, pack_a, epilogue);
    multiply_packed_b(kernel, a.rows, a.out, steps);
  } else {
    const auto pack_a = [&](int64_t m0, int64_t rows) {
      uint32_t* const packed = packed_a_dwords(rows * k);
      for (int64_t row = 0; row < rows; ++row) {
        round_bf16_row(a.x + (m0 + row) * a.in, a.in, packed + row * k, kRowDwords);
      }
      return PackedRows<uint32_t>{packed, k};
    };
    VectorKernel kernel(PackedPanels<VectorBf16Numbers>{a.panels, a.out, k}, pack_a, epilogue);
    multiply_packed_b(kernel, a.rows, a.out, k);
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace heed {

bool has_bf16_products() {
  return internal::has_avx512_bf16() || internal::has_amx();
}

int64_t bf16_panel_dwords(int64_t out, int64_t in) {
  constexpr int64_t kStep = 32;
  return padded_n(out) * round_up(in, kStep) / 2;
}

void pack_b_bf16([[maybe_unused]] const float* weights, [[maybe_unused]] int64_t out,
                 [[maybe_unused]] int64_t in, [[maybe_unused]] uint32_t* panels) {
  HEED_CHECK(has_bf16_products());
#if HEED_AMX && HWY_TARGETS & HWY_AVX3
  N_AVX3::pack_b_bf16(weights, out, in, panels);
#endif
}

void multiply_packed_bf16([[maybe_unused]] const PackedBf16Arguments& arguments) {
  HEED_CHECK(has_bf16_products());
#if HEED_AMX && HWY_TARGETS & HWY_AVX3
  N_AVX3::multiply_packed_bf16(arguments);
#endif
}

}  // namespace heed
#endif
