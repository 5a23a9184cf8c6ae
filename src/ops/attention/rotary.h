// Rotary positions (Su et al., "RoFormer: enhanced Transformer with rotary position embedding", 2021).
//
// The features of a query or key are taken in pairs as points of a plane, and each pair is rotated by an
// angle proportional to the position i:
//
//   (a, b) -> (a cos t - b sin t, a sin t + b cos t),   t = i * base^(-2k / d_k),   k = 0 .. d_k / 2 - 1
//
// A dot product of two points rotated by t and u depends on t - u alone, so scores depend on the distance of
// query and key, not on their positions.
#pragma once

#include <vector>

#include "autograd/tape.h"
#include "ops/attention/rotary_frequencies.h"

namespace heed::ops {

/// Which two features are pair k. A model trained with one needs that one.
enum class RotaryLayout {
  kHalves,       ///< k and d_k / 2 + k: GPT-NeoX, and Llama in Hugging Face's layout
  kInterleaved,  ///< 2k and 2k + 1: the paper, and Llama as it was published
};

/// The rotation of each row.
struct RotaryAngles {
  Tensor cosines, sines;  ///< (rows, d_k / 2)
  RotaryLayout layout = RotaryLayout::kHalves;
};

struct RotaryOptions {
  int64_t head_width = 64;  ///< d_k, even
  double base = 10000;
  RotaryScaling scaling{};  ///< of the frequencies, to reach further than in training
  RotaryLayout layout = RotaryLayout::kHalves;
  DType dtype = DType::kFloat32;  ///< of the rows to rotate; angles are computed in float64
};

/// For rows at these positions. Throws kShape for an odd width.
RotaryAngles rotary_angles(const std::vector<int32_t>& positions, const RotaryOptions& options);

/// Rotates columns [0, turned) of x (rows, any width), heads of d_k side by side, and copies the others.
/// Throws kShape for shapes that do not match.
Var rotate(const Var& x, int64_t turned, const RotaryAngles& angles);

}  // namespace heed::ops
