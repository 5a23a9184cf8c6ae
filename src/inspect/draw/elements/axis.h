// Axes with round tick values, for pictures and terminals.
#pragma once

#include <string>
#include <vector>

namespace heed {

enum class AxisScale { kLinear, kLogarithmic };

struct Tick {
  double value = 0;
  std::string label;
};

/// A range of numbers with ticks, mapped to [0, 1].
class Axis {
 public:
  /// Covers [low, high] (extended if they are equal), with about `ticks` ticks in steps of 1, 2 or 5 times
  /// a power of ten;
  /// on a logarithmic axis powers of ten, and 2 and 5 times them if there are few. `widen`: extend the ends
  /// to the next ticks. Throws kNumeric for non-finite numbers, kUsage for a logarithmic axis with numbers of
  /// 0 or below.
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

/// Formats a tick label on an axis with ticks `step` apart, up to `largest`: "0.05", "20", "1.5M"; "5k" on
/// axes beyond ten thousand. Different ticks have different labels.
std::string tick_label(double value, double step, double largest);

/// A number with this many decimals; without a sign if all of its digits are 0.
std::string decimal_text(double value, int decimals);

}  // namespace heed
