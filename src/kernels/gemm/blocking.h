// Block sizes of matrix products. Which kernel multiplies is in kernels/thresholds.h.
//
// C (M x N) = A (M x K) B (K x N). The names are those of BLIS: a micro-kernel computes MR x NR of C; blocks
// of MC rows of A stay in L2, KC of K in L1. In inference, y = x W^T + b, A is x and B is W^T: M counts
// tokens, K inputs, N outputs.
#pragma once

#include <cstdint>

#include "kernels/simd/simd.h"

namespace heed {

// ---- Products with packed B: weights in inference ---------------------------------------------------------
// The driver is packed_b_driver-inl.h.

/// Columns of B, that is outputs, of a packed panel.
constexpr int64_t kPanelWidth = 64;
/// Numbers along K that a packed panel of int8 keeps together for each column: one dword.
constexpr int64_t kPanelDepth = 4;
/// MC: rows of A that are multiplied with all of B before the next ones.
constexpr int64_t kPackedMc = 96;
/// MC where K is large, as bytes of these rows: beside them, L2 holds the next panel of B.
constexpr int64_t kPackedL2Bytes = 600 << 10;
/// KC, as bytes of a panel: half of a 64 KB L1, or all but the rows of a 48 KB one.
constexpr int64_t kPackedL1Bytes = 32 << 10;
/// On AMX, MC where K is small: more rows share what is read of B.
constexpr int64_t kPackedAmxMc = 256;
/// As int8 slices: KC at most, and MC where K is large, as dwords of packed A (1 MB).
constexpr int64_t kPackedInt8SlicesKc = 384, kPackedInt8SlicesL2Dwords = 256 << 10;

/// N in whole panels.
constexpr int64_t padded_n(int64_t n) {
  return round_up(n, kPanelWidth);
}
/// K of packed int8 weights: whole steps of any micro-kernel, two dwords.
constexpr int64_t padded_k(int64_t k) {
  return round_up(k, 2 * kPanelDepth);
}

/// Quantized activations have 7 bits: 0 to this.
constexpr int kMaxActivation = 127;

// ---- Products that pack both operands at each call: gemm() on AMX -----------------------------------------
// The driver is pack_both_driver-inl.h.

/// The packed block of the operand that stays in L2, in dwords (768 KB).
constexpr int64_t kPackBothL2Dwords = 192 << 10;
/// KC at most.
constexpr int64_t kPackBothInt8SlicesKc = 256, kPackBothBf16Kc = 1536;
/// In bf16 without AMX: a panel of B and a quarter of one of A are in a 32 KB L1.
constexpr int64_t kPackBothVectorBf16Kc = 384;

}  // namespace heed
