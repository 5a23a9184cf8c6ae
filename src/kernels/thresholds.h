// All thresholds that decide which kernel runs. README.md has the table of kernels; block sizes of matrix
// products are in gemm/blocking.h.
//
// A choice depends on the sizes of one product or one sequence alone, never on the rest of the batch, so that
// results are batch-invariant; unless the bits are the same. All figures were measured;
// docs/log/performance.md has them.
#pragma once

#include <cstdint>

namespace heed {

/// gemm(): AMX, or bf16 in vectors, instead of oneDNN. Each packed number has to be used often enough (a
/// number of A is used N times), and tiles have to be filled along K.
constexpr bool gemm_pays_on_amx(int64_t m, int64_t n, int64_t k, bool bf16) {
  constexpr int64_t kUses = 32;
  return k >= (bf16 ? 24 : 48) && m * n >= kUses * (m + n);
}

/// Packed float32 weights: int8 slices on AMX, which multiplies 64 of K at a time, instead of FMA.
constexpr bool packed_weights_pay_on_amx(int64_t k) {
  return k >= 32;
}

/// Weights that stay in 16 bits: at most this many rows are multiplied with them as they are, instead of
/// packing them at each call. The bits are the same, so this may depend on the batch. In slices a row costs
/// eight dot products for 32 weights, and packing about as much as five rows.
constexpr int64_t kMostHalfRows = 32, kMostSlicedHalfRows = 5;

/// Packed int8 weights: AMX takes K in whole tiles, without padding.
constexpr bool int8_fits_amx(int64_t k) {
  return k > 0 && k % 64 == 0;
}
/// At most this many rows of them are multiplied in vectors all the same. The sums are exact, so this may
/// depend on the batch. From memory both take as long; from L2 vectors take a quarter less.
constexpr int64_t kMostInt8VectorRows = 3;

/// Attention of at most this many queries per sequence runs as decode attention: for so few queries,
/// transposing the keys costs more than it saves.
constexpr int64_t kDecodeQueries = 4;

/// Attention: bf16x3 on AMX. Splitting keys and values pays off with enough queries, splitting queries and
/// weights with enough keys per query, on average. Blocks of 32 columns have to be whole.
constexpr bool attention_pays_on_amx(int64_t queries, int64_t mean_keys, int64_t key_width,
                                     int64_t value_width) {
  return queries >= 64 && mean_keys >= 96 && key_width % 32 == 0 && value_width % 32 == 0;
}

}  // namespace heed
