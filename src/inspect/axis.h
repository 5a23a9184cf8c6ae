// Axes with round numbers, for pictures and terminals alike.
#pragma once

#include <string>
#include <vector>

namespace heed {

enum class AxisScale { kLinear, kLogarithmic };

struct Tick {
  double value = 0;
  std::string label;
};

/// A range of numbers with ticks, mapped to 0 to 1.
class Axis {
 public:
  /// Covers low to high (widened where they are equal), with about `ticks` ticks at round numbers: steps of
  /// 1, 2 or 5 times a power of ten; on a logarithmic axis powers of ten, with 2 and 5 times them where there
  /// are few. `widen`: the ends move out to the next ticks. Throws kNumeric for numbers that are not finite,
  /// kUsage for a logarithmic axis that would reach 0 or below.
  Axis(double low, double high, int ticks, AxisScale scale = AxisScale::kLinear, bool widen = true);

  /// 0 at the low end, 1 at the high end.
  double position(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  void place_linear(int ticks, bool widen);
  void place_logarithmic(int ticks, bool widen);

  double low_, high_;
  AxisScale scale_;
  std::vector<Tick> ticks_;
};

/// A number as a person would write it on an axis whose ticks are `step` apart and go up to `largest`:
/// "0.05", "20", "1.5M"; thousands are "5k" on an axis that passes ten thousand.
std::string tick_label(double value, double step, double largest);

}  // namespace heed
