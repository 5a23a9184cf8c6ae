#include "ops/attention/rotary_frequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace heed::ops {
namespace {

using Kind = RotaryScaling::Kind;

void require_rotary(int64_t head_width, double base, const RotaryScaling& scaling) {
  if (head_width < 2 || head_width % 2 != 0) {
    fail(ErrorKind::kShape, "rotary positions need heads of an even width, not {}", head_width);
  }
  if (!(base > 0) || !std::isfinite(base)) {
    fail(ErrorKind::kUsage, "rotary positions need a finite base above 0, not {}", base);
  }
  if (!(scaling.factor > 0)) {
    fail(ErrorKind::kUsage, "rotary positions need a factor above 0, not {}", scaling.factor);
  }
  const bool has_length = scaling.kind == Kind::kLlama3 || scaling.kind == Kind::kYarn;
  if (has_length && !(scaling.original_length > 0)) {
    fail(ErrorKind::kUsage, "rotary positions need an original length above 0, not {}",
         scaling.original_length);
  }
}

double llama3_frequency(double frequency, const RotaryScaling& s) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  if (wavelength < s.original_length / s.high_frequency_factor) return frequency;
  if (wavelength > s.original_length / s.low_frequency_factor) return frequency / s.factor;
  const double share = (s.original_length / wavelength - s.low_frequency_factor) /
                       (s.high_frequency_factor - s.low_frequency_factor);
  return (1 - share) * frequency / s.factor + share * frequency;
}

/// The pair, as a fraction, that turns so many times in the original length.
double pair_with_turns(double turns, double width, double base, double length) {
  return width * std::log(length / (turns * 2 * std::numbers::pi)) / (2 * std::log(base));
}

void apply_yarn(std::vector<double>& frequencies, int64_t head_width, double base, const RotaryScaling& s) {
  const auto width = static_cast<double>(head_width);
  double low = pair_with_turns(s.beta_fast, width, base, s.original_length);
  double high = pair_with_turns(s.beta_slow, width, base, s.original_length);
  if (s.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, width - 1);
  if (low == high) high += 0.001;
  for (size_t k = 0; k < frequencies.size(); ++k) {
    const double share = std::clamp((static_cast<double>(k) - low) / (high - low), 0.0, 1.0);
    frequencies[k] = frequencies[k] / s.factor * share + frequencies[k] * (1 - share);
  }
}

}  // namespace

std::vector<double> rotary_frequencies(int64_t head_width, double base, const RotaryScaling& scaling) {
  require_rotary(head_width, base, scaling);
  std::vector<double> frequencies;
  for (int64_t k = 0; k < head_width / 2; ++k) {
    const double exponent = 2 * static_cast<double>(k) / static_cast<double>(head_width);
    const double frequency = std::pow(base, -exponent);
    switch (scaling.kind) {
      case Kind::kNone:
      case Kind::kYarn:
        frequencies.push_back(frequency);
        break;
      case Kind::kLinear:
        frequencies.push_back(frequency / scaling.factor);
        break;
      case Kind::kLlama3:
        frequencies.push_back(llama3_frequency(frequency, scaling));
        break;
    }
  }
  if (scaling.kind == Kind::kYarn) apply_yarn(frequencies, head_width, base, scaling);
  return frequencies;
}

}  // namespace heed::ops
