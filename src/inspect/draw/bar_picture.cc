#include "inspect/draw/bar_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "inspect/trace/trace_labels.h"
#include "models/head_names.h"

namespace heed {
namespace {

constexpr double kBarShare = 0.72;  // of the space of a bar
constexpr double kMaxLabel = 90;    // in points
constexpr double kBarLabelGap = 4;
constexpr int kMaxBins = 100;
constexpr double kMaxBars = 2000;

void check_values(const std::vector<double>& values, bool negative_too) {
  if (values.empty()) fail(ErrorKind::kUsage, "a chart needs at least one value");
  for (size_t n = 0; n < values.size(); ++n) {
    if (std::isfinite(values[n]) && (negative_too || values[n] >= 0)) continue;
    fail(ErrorKind::kNumeric, "value {} is {}: a chart needs {} numbers", n + 1, values[n],
         negative_too ? "finite" : "finite, positive");
  }
}

Axis axis_from_zero(const std::vector<double>& values, double most = 0) {
  return {0, std::max(most, *std::max_element(values.begin(), values.end())), 5};
}

/// Freedman and Diaconis: the bin width is 2 * (interquartile range) / n^(1/3).
int choose_bins(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t count = values.size();
  const double range = values.back() - values.front();
  const double width =
      2 * (values[count * 3 / 4] - values[count / 4]) / std::cbrt(static_cast<double>(count));
  if (!(width > 0)) return std::min<int>(kMaxBins, static_cast<int>(std::ceil(std::sqrt(count))));
  return static_cast<int>(std::clamp(std::ceil(range / width), 1.0, static_cast<double>(kMaxBins)));
}

void draw_bars(Chart& chart, const Axis& axis, const std::vector<double>& values, double share) {
  const double slot = chart.plot().width / static_cast<double>(values.size());
  Boxes bars{{}, series_style(0).colour, false};
  for (size_t n = 0; n < values.size(); ++n) {
    const double top = chart.y_at(axis, values[n]);
    const double left = chart.plot().left + (static_cast<double>(n) + (1 - share) / 2) * slot;
    bars.boxes.push_back({left, top, slot * share, chart.plot().bottom() - top});
  }
  chart.picture().add(std::move(bars));
}

/// In two decimals, or if all values are small, as many as give the largest one two significant digits.
std::string bar_number(double value, double largest) {
  constexpr double kSmallest = 1e-5;  // smaller numbers have exponents
  if (largest > 0 && largest < kSmallest) return fmt::format("{:.2g}", value);
  const double decimals = largest > 0 ? 1 - std::floor(std::log10(largest)) : 2;
  return decimal_text(value, static_cast<int>(std::max(2.0, decimals)));
}

/// Values above their bars, if all of them fit.
void draw_numbers(Chart& chart, const Axis& axis, const std::vector<double>& values) {
  const double slot = chart.plot().width / static_cast<double>(values.size());
  const double largest = *std::ranges::max_element(values);
  std::vector<Text> texts;
  for (size_t n = 0; n < values.size(); ++n) {
    const double x = chart.plot().left + (static_cast<double>(n) + 0.5) * slot;
    texts.push_back(
        chart.label(bar_number(values[n], largest), {x, chart.y_at(axis, values[n]) - 2}, Align::kMiddle));
    texts.back().size *= 0.85;
    if (chart.picture().measure(texts.back()).width > slot - 2) return;
  }
  for (Text& text : texts) chart.picture().add(std::move(text));
}

}  // namespace

Picture bar_picture(const std::vector<Label>& labels, const std::vector<double>& values,
                    const ChartOptions& options, double most) {
  if (labels.size() != values.size()) {
    fail(ErrorKind::kShape, "{} labels for {} bars: give one label per bar", labels.size(), values.size());
  }
  check_values(values, false);
  if (static_cast<double>(values.size()) > kMaxBars) {
    fail(ErrorKind::kUsage, "{} bars are too many for one picture (at most {})", values.size(), kMaxBars);
  }
  const Axis axis = axis_from_zero(values, most);
  const double count = static_cast<double>(values.size());
  Text style;
  style.size = options.font_size;
  style.max_width = kMaxLabel;
  Picture ruler;
  ruler.font = options.font;
  const TextSize size = measure_labels(ruler, labels, style);
  const double pitch = size.ascent + size.descent + 2;
  ChartOptions fitting = options;
  fitting.width = std::max(options.width, count * pitch + 100);
  Chart chart(fitting);
  // Labels are horizontal if the widest fits its slot; at most 70 points are for the numbers of the y axis.
  const bool flat = size.width + kBarLabelGap <= (fitting.width - 70) / count;
  chart.begin(axis, kBarLabelGap + (flat ? pitch : size.width));
  draw_bars(chart, axis, values, kBarShare);
  draw_numbers(chart, axis, values);
  const double slot = chart.plot().width / count;
  for (size_t n = 0; n < labels.size(); ++n) {
    Text text = chart.label("", {}, flat ? Align::kMiddle : Align::kEnd);
    text.label = labels[n];
    text.max_width = kMaxLabel;
    text.upward = !flat;
    const double middle = chart.plot().left + (static_cast<double>(n) + 0.5) * slot;
    const double top = chart.plot().bottom() + kBarLabelGap;
    text.at = flat ? Point{middle, top + size.ascent} : Point{middle + (size.ascent - size.descent) / 2, top};
    chart.picture().add(text);
  }
  return std::move(chart.picture());
}

std::vector<float> query_weights(const Trace& trace, const QueryChoice& choice) {
  check_trace(trace);
  const StackWeights& layers = stack_of(trace, choice.stack);
  const auto within = [](int index, size_t count) {
    return index >= 0 && static_cast<size_t>(index) < count;
  };
  if (!within(choice.layer, layers.size()) || !within(choice.head, layers[choice.layer].size()) ||
      !within(choice.query, layers[choice.layer][choice.head].queries)) {
    fail(ErrorKind::kUsage, "query {} does not exist in {} layer {} head {}", choice.query + 1,
         stack_name(choice.stack), choice.layer + 1, choice.head + 1);
  }
  const AttentionMatrix& matrix = layers[choice.layer][choice.head];
  const auto row = matrix.weights.begin() + static_cast<std::ptrdiff_t>(choice.query) * matrix.keys;
  return {row, row + matrix.keys};
}

Picture query_picture(const Trace& trace, const QueryChoice& choice, ChartOptions options) {
  const std::vector<float> row = query_weights(trace, choice);
  const std::vector<double> weights(row.begin(), row.end());
  const std::vector<Label> queries = query_labels(trace, choice.stack, "");
  if (options.title.empty())
    options.title = fmt::format("What \u201C{}\u201D attends to", queries[choice.query].text);
  if (options.x_name.empty()) options.x_name = "keys";
  if (options.y_name.empty()) options.y_name = "attention weight";
  return bar_picture(key_labels(trace, choice.stack, "_"), weights, options, 1);
}

Picture histogram_picture(const std::vector<double>& values, int bins, const ChartOptions& options) {
  check_values(values, true);
  if (bins < 0 || bins > kMaxBars)
    fail(ErrorKind::kUsage, "a histogram needs 1 to {1} bins, or 0, not {0}", bins, kMaxBars);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const Axis x_axis(*low, *high, 6, AxisScale::kLinear, false);  // throws for a range that overflows
  if (bins == 0) bins = choose_bins(values);
  std::vector<double> counts(bins);
  for (const double value : values) {
    const double bin = x_axis.position(value) * bins;
    counts[std::clamp(static_cast<int>(bin), 0, bins - 1)] += 1;
  }
  const Axis y_axis = axis_from_zero(counts);
  Chart chart(options);
  chart.begin(y_axis, chart.x_axis_room());
  draw_bars(chart, y_axis, counts, bins > 60 ? 1 : 0.94);
  chart.draw_x_axis(x_axis);
  return std::move(chart.picture());
}

}  // namespace heed
