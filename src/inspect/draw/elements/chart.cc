#include "inspect/draw/elements/chart.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "inspect/trace/label.h"

namespace heed {
namespace {

constexpr double kChartMargin = 12, kTick = 3, kChartGap = 4;
constexpr double kSmallestPlot = 40;

}  // namespace

SeriesStyle series_style(size_t n) {
  static constexpr std::array<unsigned, 7> kColours{0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7,
                                                    0xE69F00, 0x56B4E9, 0x000000};
  static const std::array<std::vector<double>, 4> kDashes{{{}, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}}};
  return {Colour::from_hex(kColours[n % kColours.size()]), kDashes[n % kDashes.size()]};
}

Chart::Chart(const ChartOptions& options) : options_(options), ink_(ink_on(options.background)) {
  if (!(options.font_size >= 1 && options.font_size <= 100) || !(options.width > 0) ||
      !(options.height > 0)) {
    fail(ErrorKind::kUsage, "a chart needs a width and a height above 0 and a font of 1 to 100 points");
  }
  picture_.width = options.width;
  picture_.height = options.height;
  picture_.background = options.background;
  picture_.font = options.font;
  picture_.title = visible_text(options.title.empty() ? options.y_name : options.title);
  const Colour& paper = options.background;
  faint_ = {(ink_.red + 5 * paper.red) / 6, (ink_.green + 5 * paper.green) / 6,
            (ink_.blue + 5 * paper.blue) / 6};
  top_ = kChartMargin;
  if (options.title.empty()) return;
  Text title = label(visible_text(options.title), {kChartMargin, top_}, Align::kStart);
  title.size = options.font_size * 1.25;
  title.bold = true;
  title.lines = 2;
  title.max_width = options.width - 2 * kChartMargin;
  title.at.y += picture_.measure(title).ascent;
  top_ = picture_.add(title).bottom() + 2 * kChartGap;
}

Text Chart::label(const std::string& text, Point at, Align align) const {
  Text label;
  label.label.text = text;
  label.at = at;
  label.align = align;
  label.size = options_.font_size;
  label.colour = ink_;
  return label;
}

void Chart::add_legend(const std::vector<std::string>& names) {
  constexpr double kSample = 22;  // length of the line before a name
  const double row = options_.font_size * 1.5;
  double x = kChartMargin;
  for (size_t n = 0; n < names.size(); ++n) {
    Text name = label(visible_text(names[n]), {}, Align::kStart);
    name.max_width = options_.width - 2 * kChartMargin - kSample - kChartGap;
    const double width = kSample + kChartGap + picture_.measure(name).width;
    if (x > kChartMargin && x + width > options_.width - kChartMargin) {
      x = kChartMargin;
      top_ += row;
    }
    const SeriesStyle style = series_style(n);
    const double middle = top_ + options_.font_size * 0.6;
    picture_.add(Polyline{{{x, middle}, {x + kSample, middle}}, style.colour, 1.5, style.dashes});
    name.at = {x + kSample + kChartGap, top_ + options_.font_size * 0.95};
    picture_.add(name);
    x += width + 3 * kChartGap;
  }
  top_ += row + kChartGap;
}

double Chart::x_axis_room() const {
  return kTick + options_.font_size * 1.4;
}

void Chart::begin(const Axis& y_axis, double below) {
  const double size = options_.font_size;
  double numbers = 0;
  for (const Tick& tick : y_axis.ticks()) {
    numbers = std::max(numbers, picture_.measure(label(tick.label, {}, Align::kEnd)).width);
  }
  const double name_room = size * 1.5;
  plot_.left = kChartMargin + (options_.y_name.empty() ? 0 : name_room) + numbers + kChartGap + kTick;
  plot_.top = top_ + size / 2;
  plot_.width = options_.width - kChartMargin - size - plot_.left;
  plot_.height =
      options_.height - kChartMargin - (options_.x_name.empty() ? 0 : name_room) - below - plot_.top;
  if (plot_.width < kSmallestPlot || plot_.height < kSmallestPlot) {
    fail(ErrorKind::kUsage,
         "a chart of {} x {} points has no room for its labels: make it larger, or the font smaller",
         options_.width, options_.height);
  }
  for (const Tick& tick : y_axis.ticks()) {
    const double y = y_at(y_axis, tick.value);
    picture_.add(Polyline{{{plot_.left, y}, {plot_.right(), y}}, faint_, 0.5, {}});
    picture_.add(label(tick.label, {plot_.left - kTick - kChartGap, y + size * 0.36}, Align::kEnd));
  }
  picture_.add(Polyline{{{plot_.left, plot_.bottom()}, {plot_.right(), plot_.bottom()}}, ink_, 0.75, {}});
  Text name = label(visible_text(options_.x_name),
                    {plot_.left + plot_.width / 2, options_.height - kChartMargin}, Align::kMiddle);
  name.max_width = plot_.width;
  name.at.y -= picture_.measure(name).descent;
  picture_.add(name);
  name.label.text = visible_text(options_.y_name);
  name.max_width = plot_.height;
  name.upward = true;
  name.at = {kChartMargin + size * 0.8, plot_.top + plot_.height / 2};
  picture_.add(name);
}

void Chart::draw_x_axis(const Axis& x_axis) {
  double used = -1e9;  // labels that would touch the previous one are omitted, their ticks are drawn
  for (const Tick& tick : x_axis.ticks()) {
    const double x = x_at(x_axis, tick.value);
    picture_.add(Polyline{{{x, plot_.bottom()}, {x, plot_.bottom() + kTick}}, ink_, 0.75, {}});
    const Text text =
        label(tick.label, {x, plot_.bottom() + kTick + options_.font_size * 1.2}, Align::kMiddle);
    const double half = picture_.measure(text).width / 2;
    if (x - half < used + kChartGap || x + half > options_.width) continue;
    used = x + half;
    picture_.add(text);
  }
}

}  // namespace heed
