// Products of few rows with weights that stay in 16 bits, y = x W^T + b, straight from W: its rows, or its
// paired panels (half_weights.h). They are widened in registers, and memory is read once, at 2 bytes for each
// weight. This is what decoding waits for.
//
// The results are those of multiply_packed_f32() and multiply_packed_int8_slices() with the same weights in
// float32, bit for bit, so a product may be computed this way or that, whatever its number of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory_pool.h"
#include "kernels/gemm/half/half_weights.h"

namespace heed {

struct HalfProductArguments {
  HalfMatrix weight;
  int64_t rows = 0;
  const float* x = nullptr;     ///< (rows, in)
  const float* bias = nullptr;  ///< (out), of which padded_n(out) can be read, or null
  float* y = nullptr;           ///< (rows, out)
};

/// Whether this instruction set has the kernel and it pays off for this many rows.
bool multiplies_halves_f32(int64_t rows);
/// As multiply_packed_f32().
void multiply_halves_f32(const HalfProductArguments& arguments);

/// The scales that pack_b_int8_slices() would give these weights, (blocks of K, out) with padding.
using SliceScales = std::vector<float, PoolAllocator<float>>;
SliceScales slice_scales(const HalfMatrix& weight);
bool multiplies_halves_in_slices(int64_t rows);
/// As multiply_packed_int8_slices(), with the scales of the weights.
void multiply_halves_in_slices(const HalfProductArguments& arguments, const float* scales);

}  // namespace heed
