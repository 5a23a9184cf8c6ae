// The table of sinusoidal positions (Vaswani et al., 2017, section 3.5). heed/positions.h has the formulas.
#pragma once

#include <cstdint>
#include <functional>

#include "heed/positions.h"
#include "heed/tensor.h"

namespace heed::nn {

/// The frequencies w_k, k = 0 ... ceil(D/2) - 1, whose sines and cosines sin(i w_k), cos(i w_k) are the
/// vector of position i.
enum class SinusoidFrequencies {
  kByWidth,   ///< 10000^(-2k/D), as in the paper and in transformers' Marian models
  kByHalves,  ///< 10000^(-k/(D/2 - 1)), so that the last is 1/10000, as in Marian, fairseq and M2M-100
};

/// fairseq's sinusoidal positions from the number `first` on, (length, D): sines, then cosines of the
/// frequencies kByHalves, computed in float32 as transformers does; an odd width has a last column of zeros.
/// Throws like sinusoid_table(), and kShape for a width below 4.
Tensor fairseq_sinusoid_table(int64_t length, int64_t width, DType dtype = DType::kFloat32,
                              int64_t first = 0);

/// (length, width), computed in float64. An odd width has one more sine than cosines. Throws kShape for a
/// length below 0 or a width below 1.
Tensor sinusoid_table(int64_t length, int64_t width, SinusoidLayout layout, DType dtype = DType::kFloat32);

/// The positions of a stack as ComputedTensor::values. Files may hold them rounded to 16 bits; other toolkits
/// then compute with the rounded values.
struct SinusoidalPositions {
  int64_t width = 1;
  SinusoidLayout layout = SinusoidLayout::kHalves;
  /// Makes the stack compute with these float32 rows (length, width) in place of its first rows.
  std::function<void(const Tensor& rows)> store;

  Tensor operator()(int64_t size) const { return sinusoid_table(size / width, width, layout); }
};

}  // namespace heed::nn
