#include "inspect/draw/elements/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace heed {
namespace {

/// The smallest of 1, 2, 5, 10 times a power of ten that is at least `step`.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// The decimals in which multiples of `step` differ.
int decimals_of(double step) {
  return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 17);
}

/// Removes trailing zeros of a fraction.
std::string trim_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

}  // namespace

std::string tick_label(double value, double step, double largest) {
  if (std::abs(value) < step * 1e-6) return "0";
  const double size = std::abs(value);
  if (size >= 1e15 || size < 1e-4) {
    const double digits = std::floor(std::log10(size) + 1e-9) - std::floor(std::log10(step) + 1e-9) + 1;
    return fmt::format("{:.{}g}", value, static_cast<int>(std::clamp(digits, 3.0, 17.0)));
  }
  for (const auto& [unit, name] :
       {std::pair{1e12, "T"}, std::pair{1e9, "G"}, std::pair{1e6, "M"}, std::pair{1e3, "k"}}) {
    constexpr int kMostDigits = 3;  // with more, a smaller unit is easier to read
    if (size < unit || largest < std::max(unit, 1e4) || decimals_of(step / unit) > kMostDigits) continue;
    return trim_zeros(fmt::format("{:.{}f}", value / unit, decimals_of(step / unit))) + name;
  }
  return trim_zeros(fmt::format("{:.{}f}", value, decimals_of(step)));
}

std::string decimal_text(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find_first_of("123456789") == std::string::npos) std::erase(text, '-');
  return text;
}

Axis::Axis(double low, double high, int ticks, AxisScale scale, bool widen)
    : low_(low), high_(high), scale_(scale) {
  HEED_CHECK(low <= high || !std::isfinite(low) || !std::isfinite(high));
  if (!std::isfinite(low) || !std::isfinite(high) || !std::isfinite(high - low)) {
    fail(ErrorKind::kNumeric, "an axis cannot range from {} to {}: these and their difference must be finite",
         low, high);
  }
  ticks = std::max(ticks, 2);
  if (scale == AxisScale::kLogarithmic) {
    if (low <= 0)
      fail(ErrorKind::kUsage, "a logarithmic axis needs numbers above 0, but the smallest is {}", low);
    place_logarithmic(ticks, widen);
  } else {
    place_linear(ticks, widen);
  }
}

void Axis::place_linear(int ticks, bool widen) {
  // Below this range, adjacent ticks would round to the same number.
  const double least = std::max(std::max(std::abs(low_), std::abs(high_)) * 1e-9, 1e-300);
  if (high_ - low_ < least) {
    const double margin = std::max(std::abs(low_) * 0.1, low_ == 0 ? 1.0 : least);
    low_ -= low_ == 0 ? 0 : margin;
    high_ += margin;
  }
  const double step = round_step((high_ - low_) / ticks);
  if (widen) {
    low_ = std::floor(low_ / step + 1e-9) * step;
    high_ = std::ceil(high_ / step - 1e-9) * step;
  }
  const double first = std::ceil(low_ / step - 1e-9), last = std::floor(high_ / step + 1e-9);
  const double largest = std::max(std::abs(low_), std::abs(high_));
  const auto count = static_cast<int64_t>(last - first) + 1;
  for (int64_t n = 0; n < count; ++n) {
    const double value = (first + static_cast<double>(n)) * step;
    ticks_.push_back({value, tick_label(value, step, largest)});
  }
}

void Axis::place_logarithmic(int ticks, bool widen) {
  if (high_ < low_ * 1.0001) {
    low_ /= 1.5;
    high_ *= 1.5;
  }
  const double decades = std::log10(high_ / low_);
  std::vector<double> factors{1};
  if (decades * 2 < ticks) factors = {1, 2, 5};
  const int every = std::max(1, static_cast<int>(std::ceil(decades / ticks)));
  std::vector<double> values;
  for (int power = static_cast<int>(std::floor(std::log10(low_))) - 1; power <= std::log10(high_) + 1;
       ++power) {
    if (power % every != 0) continue;
    for (const double factor : factors) values.push_back(factor * std::pow(10, power));
  }
  if (widen) {
    const auto below = [&](double value) { return value <= low_ * (1 + 1e-9); };
    const auto largest = std::find_if(values.rbegin(), values.rend(), below);
    if (largest != values.rend()) low_ = *largest;
    const auto above =
        std::find_if(values.begin(), values.end(), [&](double v) { return v >= high_ * (1 - 1e-9); });
    if (above != values.end()) high_ = *above;
  }
  for (const double value : values) {
    if (value >= low_ * (1 - 1e-9) && value <= high_ * (1 + 1e-9))
      ticks_.push_back({value, tick_label(value, value, high_)});
  }
}

double Axis::position(double value) const {
  if (scale_ == AxisScale::kLogarithmic) return std::log(value / low_) / std::log(high_ / low_);
  return (value - low_) / (high_ - low_);
}

}  // namespace heed
