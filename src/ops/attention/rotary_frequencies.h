// The frequencies of rotary positions (rotary.h), and how they are changed for texts longer than those a
// model was first trained on.
#pragma once

#include <cstdint>
#include <vector>

namespace heed::ops {

/// With base frequencies f_k = base^(-2k / d_k) and wavelengths 2 pi / f_k, in positions:
///
///   kLinear   f_k / factor (Chen et al., "Extending context window", 2023)
///   kLlama3   f_k if the wavelength is below original_length / high_frequency_factor, f_k / factor if it is
///             above original_length / low_frequency_factor; in between, interpolated over
///             original_length / wavelength (Llama 3.1)
///   kYarn     interpolated from f_k to f_k / factor between the pairs that turn beta_fast and beta_slow
///             times in original_length; sines and cosines times `amplitude` (Peng et al., "YaRN", 2023)
struct RotaryScaling {
  enum class Kind { kNone, kLinear, kLlama3, kYarn };
  Kind kind = Kind::kNone;
  double factor = 1;
  double original_length = 0;
  double low_frequency_factor = 1, high_frequency_factor = 4;  ///< of kLlama3
  // Of kYarn:
  double beta_fast = 32, beta_slow = 1;
  bool truncate = true;  ///< the pairs between which frequencies change are integers
  double amplitude = 1;
  bool operator==(const RotaryScaling&) const = default;
};

/// The angle from one position to the next, for each of the d_k / 2 pairs. Throws kShape for an odd width,
/// kUsage for a base or a scaling that makes no sense.
std::vector<double> rotary_frequencies(int64_t head_width, double base, const RotaryScaling& scaling = {});

}  // namespace heed::ops
