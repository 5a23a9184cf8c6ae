#include "inspect/draw/elements/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace heed {
namespace {

constexpr double kLegendWidth = 128, kLegendGap = 6;
constexpr int kLegendSteps = 64;         // of two points each: whole pixels
constexpr double kSmallestGridCell = 7;  // smaller cells have no lines between them

void draw_grid(Picture& picture, const AttentionMatrix& matrix, Point corner, const HeatMapStyle& style) {
  const Box frame{corner.x, corner.y, matrix.keys * style.cell, matrix.queries * style.cell};
  if (style.cell >= kSmallestGridCell) {
    const Colour none = level_colour(0), ink = ink_on(none);
    const Colour faint{std::lerp(none.red, ink.red, 0.1), std::lerp(none.green, ink.green, 0.1),
                       std::lerp(none.blue, ink.blue, 0.1)};
    for (int key = 1; key < matrix.keys; ++key) {
      const double x = corner.x + key * style.cell;
      picture.add(Polyline{{{x, frame.top}, {x, frame.bottom()}}, faint, 0.3, {}});
    }
    for (int query = 1; query < matrix.queries; ++query) {
      const double y = corner.y + query * style.cell;
      picture.add(Polyline{{{frame.left, y}, {frame.right(), y}}, faint, 0.3, {}});
    }
  }
  picture.outline(frame, style.grid, 0.5);
}

/// Writes the value in the middle of its cell.
void draw_values(Picture& picture, const AttentionMatrix& matrix, Point corner, const HeatMapStyle& style) {
  Text text;
  text.size = style.value_size;
  text.align = Align::kMiddle;
  text.label.text = "0";
  const double baseline = (style.cell + picture.measure(text).ascent) / 2;
  for (int query = 0; query < matrix.queries; ++query) {
    for (int key = 0; key < matrix.keys; ++key) {
      const double weight = static_cast<double>(matrix.at(query, key));
      text.label.text = fmt::format("{:.0f}", 100 * weight);
      text.at = {corner.x + (key + 0.5) * style.cell, corner.y + query * style.cell + baseline};
      text.colour = ink_on(level_colour(colour_level(weight / style.darkest)));
      picture.add(text);
    }
  }
}

/// What stands below the strip of a legend at a share of its width.
std::string legend_number(const ColourScale& scale, double share) {
  return fmt::format("{}{:.4g}", share == 1 && scale.open ? "\u2265" : "",
                     std::lerp(scale.least, scale.most, share));
}

double legend_number_width(const Picture& picture, Text style, const ColourScale& scale, double share) {
  style.label = {legend_number(scale, share), 0, 0};
  return picture.measure(style).width;
}

/// From the corner of a legend to its strip: room for the name, and for half of the first number.
double legend_strip_left(const Picture& picture, const Text& style, const ColourScale& scale) {
  Text name = style;
  name.label = {scale.name, 0, 0};
  return std::max(picture.measure(name).width + kLegendGap,
                  legend_number_width(picture, style, scale, 0) / 2);
}

/// The number of equal parts of the strip whose ends have numbers: the most with room for them.
int legend_parts(const Picture& picture, const Text& style, const ColourScale& scale) {
  constexpr double kBetween = 2;
  for (const int parts : {4, 2}) {
    double widest = 0;
    for (int n = 0; n <= parts; ++n)
      widest = std::max(widest, legend_number_width(picture, style, scale, static_cast<double>(n) / parts));
    if (widest + kBetween <= kLegendWidth / parts) return parts;
  }
  return 1;
}

}  // namespace

AxisLabels make_axis_labels(const Picture& picture, std::vector<Label> labels, const Text& style) {
  AxisLabels axis;
  axis.size = measure_labels(picture, labels, style);
  axis.labels = std::move(labels);
  axis.style = style;
  return axis;
}

double key_labels_height(const AxisLabels& labels) {
  return labels.upward ? labels.size.width : labels.pitch();
}

void draw_cells(Picture& picture, const AttentionMatrix& matrix, Point corner, const HeatMapStyle& style) {
  // Cells of one colour are one shape, and adjacent cells of one colour in a row one box, which keeps files
  // small.
  std::array<std::vector<Box>, kColourLevels> boxes;
  for (int query = 0; query < matrix.queries; ++query) {
    int last = -1;
    for (int key = 0; key < matrix.keys; ++key) {
      const int level = colour_level(static_cast<double>(matrix.at(query, key)) / style.darkest);
      if (level == last) {
        boxes[level].back().width += style.cell;
      } else {
        boxes[level].push_back(
            {corner.x + key * style.cell, corner.y + query * style.cell, style.cell, style.cell});
      }
      last = level;
    }
  }
  for (int level = 0; level < kColourLevels; ++level) {
    if (boxes[level].empty()) continue;
    picture.add(Boxes{std::move(boxes[level]), level_colour(level), true});
  }
  draw_grid(picture, matrix, corner, style);
  if (style.values) draw_values(picture, matrix, corner, style);
}

void draw_query_labels(Picture& picture, const AxisLabels& labels, double right, double top, double cell) {
  const double baseline = (cell + labels.size.ascent - labels.size.descent) / 2;
  for (size_t n = 0; n < labels.labels.size(); n += labels.every) {
    Text text = labels.style;
    text.label = labels.labels[n];
    text.align = Align::kEnd;
    text.at = {right, top + static_cast<double>(n) * cell + baseline};
    picture.add(text);
  }
}

void draw_key_labels(Picture& picture, const AxisLabels& labels, double left, double top, double cell) {
  for (size_t n = 0; n < labels.labels.size(); n += labels.every) {
    Text text = labels.style;
    text.label = labels.labels[n];
    text.upward = labels.upward;
    const double begin = left + static_cast<double>(n) * cell;
    if (labels.upward) {
      text.align = Align::kEnd;
      text.at = {begin + (cell + labels.size.ascent - labels.size.descent) / 2, top};
    } else {
      text.align = Align::kMiddle;
      text.at = {begin + cell / 2, top + labels.size.ascent};
    }
    picture.add(text);
  }
}

void draw_legend(Picture& picture, Point corner, const ColourScale& scale, const Text& style) {
  Text text = style;
  text.label = {scale.name, 0, 0};
  const Box strip{std::ceil(corner.x + legend_strip_left(picture, style, scale)), corner.y, kLegendWidth,
                  style.size};
  text.at = {corner.x, corner.y + style.size - 1};
  picture.add(text);
  for (int step = 0; step < kLegendSteps; ++step) {  // overlapping the previous one, without seams
    const double begin = step * strip.width / kLegendSteps;
    const Colour colour = level_colour(colour_level(static_cast<double>(step) / (kLegendSteps - 1)));
    picture.fill({strip.left + begin, strip.top, strip.width - begin, strip.height}, colour);
  }
  picture.outline(strip, {0.6, 0.6, 0.6}, 0.5);
  text.align = Align::kMiddle;
  const int parts = legend_parts(picture, style, scale);
  for (int n = 0; n <= parts; ++n) {
    const double share = static_cast<double>(n) / parts;
    const double x = strip.left + share * strip.width;
    picture.add(Polyline{{{x, strip.bottom()}, {x, strip.bottom() + 2}}, {0.6, 0.6, 0.6}, 0.5, {}});
    text.label.text = legend_number(scale, share);
    text.at = {x, strip.bottom() + 3 + style.size};
    picture.add(text);
  }
}

Box legend_size(const Picture& picture, const Text& style, const ColourScale& scale) {
  const double beyond = std::max(style.size, legend_number_width(picture, style, scale, 1) / 2);
  return {0, 0, legend_strip_left(picture, style, scale) + kLegendWidth + 1 + beyond, 2 * style.size + 5};
}

}  // namespace heed
