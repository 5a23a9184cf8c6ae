// Sinusoidal positions (Vaswani et al., 2017, section 3.5).
#pragma once

#include "heed/tensor.h"

namespace heed::nn {

/// With angle(i, k) = i / 10000^(2k / D):
enum class SinusoidLayout {
  kInterleaved,  ///< column 2k is sin(angle(i, k)), column 2k + 1 is cos(angle(i, k)): the paper's
  kHalves,       ///< column k is the sine, column D/2 + k the cosine: Marian's in Hugging Face's library
};

/// The rows of positions 0 to count - 1: (count, width). The angle is computed in float64. An odd width has
/// one sine more than cosines.
Tensor sinusoidal_positions(int64_t count, int64_t width, SinusoidLayout layout,
                            DType dtype = DType::kFloat32);

}  // namespace heed::nn
