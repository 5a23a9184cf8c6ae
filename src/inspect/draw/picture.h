// A picture as a list of shapes (display list).
//
// Layout code builds it, picture_file.h renders it, and tests check it for overlaps. Lengths are in points
// (1/72 inch); x grows to the right, y downwards.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "inspect/draw/elements/colour_map.h"
#include "inspect/trace/label.h"

namespace heed {

struct Point {
  double x = 0, y = 0;
};

struct Box {
  double left = 0, top = 0, width = 0, height = 0;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

/// Boxes of one colour. Vector files slightly enlarge adjoining boxes (cells of a heat map), since viewers
/// would otherwise show seams.
struct Boxes {
  std::vector<Box> boxes;
  Colour fill;
  bool adjoining = false;
};

/// A line through points.
struct Polyline {
  std::vector<Point> points;
  Colour colour;
  double width = 0.75;
  std::vector<double> dashes;  ///< lengths on, off, on, ...; empty: solid
};

/// Alignment of a text relative to its point, in its writing direction.
enum class Align { kStart, kMiddle, kEnd };

/// Text of up to `lines` lines.
struct Text {
  Label label;
  Point at;                     ///< of the baseline of the first line
  Align align = Align::kStart;  ///< the part of the baseline at `at`
  bool upward = false;          ///< written from bottom to top
  double size = 9;              ///< font size
  bool bold = false;
  Colour colour{0.13, 0.13, 0.13};
  double max_width = 0;  ///< wider text is wrapped or ends in "…"; 0: no limit
  int lines = 1;         ///< maximum number of lines
  // Filled in by Picture::add.
  Box bounds;  ///< of the ink, on the page
  bool elided = false;
};

/// How far the ink of a text reaches from its baseline, and from its start.
struct TextSize {
  double width = 0, ascent = 0, descent = 0;
  bool elided = false;
};

using PictureShape = std::variant<Boxes, Polyline, Text>;

struct Picture {
  double width = 0, height = 0;
  Colour background{1, 1, 1};
  /// Font families in order of preference; missing glyphs come from other fonts.
  std::string font = "Noto Sans, DejaVu Sans, sans-serif";
  /// Title of the file and text alternative.
  std::string title;
  std::vector<PictureShape> shapes;  ///< in the order of drawing

  void add(Boxes boxes) { shapes.emplace_back(std::move(boxes)); }
  void add(Polyline line) { shapes.emplace_back(std::move(line)); }
  /// Measures the text; returns its bounds.
  Box add(Text text);
  /// A filled box, and the line around one.
  void fill(Box box, Colour colour) { add(Boxes{{box}, colour, false}); }
  void outline(Box box, Colour colour, double line_width);
  /// Appends another picture below this one.
  void add_below(const Picture& other);
  /// All texts, in the order of drawing.
  std::vector<Text> texts() const;

  TextSize measure(const Text& text) const;
};

/// The maximum size of several labels of one style with a common baseline.
TextSize measure_labels(const Picture& picture, const std::vector<Label>& labels, const Text& style);

}  // namespace heed
