#include "inspect/terminal/curve_terminal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "inspect/draw/elements/chart.h"
#include "inspect/trace/label.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

constexpr int kFewestCurveColumns = 30, kMinRows = 8;
constexpr int kDotsAcross = 2, kDotsDown = 4;
constexpr const char* kCurveMark = "\u25cf";
constexpr int kBraille = 0x2800;  // the pattern without dots

/// The bit of a braille pattern for the dot at [row][column] of a character (The Unicode Standard, block
/// U+2800).
constexpr std::array<std::array<int, kDotsAcross>, kDotsDown> kDots{
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

/// The dots of each character, and the last curve drawn in it.
class DotField {
 public:
  DotField(int columns, int rows)
      : columns_(columns), rows_(rows), dots_(columns * rows), owner_(columns * rows, -1) {}

  /// Draws a straight line between two points in relative coordinates from the lower left corner.
  void draw_line(std::pair<double, double> from, std::pair<double, double> to, int curve) {
    const double x0 = from.first * (width() - 1), x1 = to.first * (width() - 1);
    const double y0 = (1 - from.second) * (height() - 1), y1 = (1 - to.second) * (height() - 1);
    const int steps = static_cast<int>(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0)))) + 1;
    for (int step = 0; step <= steps; ++step) {
      const double share = static_cast<double>(step) / steps;
      set(static_cast<int>(std::lround(std::lerp(x0, x1, share))),
          static_cast<int>(std::lround(std::lerp(y0, y1, share))), curve);
    }
  }

  /// Draws a marked point, in the same coordinates.
  void mark(std::pair<double, double> at, int curve) {
    const double x = at.first * (width() - 1), y = (1 - at.second) * (height() - 1);
    set(static_cast<int>(std::lround(x)), static_cast<int>(std::lround(y)), curve);
    dots_[cell_of(static_cast<int>(std::lround(x)), static_cast<int>(std::lround(y)))] = kMarked;
  }
  static constexpr int kMarked = -1;  ///< in place of dots

  int dots(int column, int row) const { return dots_[row * columns_ + column]; }
  int owner(int column, int row) const { return owner_[row * columns_ + column]; }
  int width() const { return columns_ * kDotsAcross; }
  int height() const { return rows_ * kDotsDown; }

 private:
  int cell_of(int x, int y) const {
    return std::clamp(y, 0, height() - 1) / kDotsDown * columns_ +
           std::clamp(x, 0, width() - 1) / kDotsAcross;
  }
  void set(int x, int y, int curve) {
    const int cell = cell_of(x, y);
    if (owner_[cell] != curve) dots_[cell] = 0;
    owner_[cell] = curve;
    dots_[cell] |= kDots[y % kDotsDown][x % kDotsAcross];
  }

  int columns_, rows_;
  std::vector<int> dots_, owner_;
};

char curve_letter(size_t curve) {
  return static_cast<char>('a' + curve % 26);
}

class CurveWriter {
 public:
  CurveWriter(const std::vector<Curve>& curves, const CurveTerminalOptions& options)
      : curves_(curves), options_(options), ranges_(curve_ranges(curves, options.x_scale, options.y_scale)) {}

  std::string write() {
    // The title, the legend, the axis, its numbers and its name take a row each.
    const bool legend = curves_.size() > 1 || !curves_[0].name.empty();
    int rows = options_.rows - 2 - (legend ? 1 : 0);
    for (const std::string* words : {&options_.title, &options_.x_name}) rows -= words->empty() ? 0 : 1;
    rows = std::max(rows, 2);
    const Axis y_axis(ranges_.low_y, ranges_.high_y, std::max(2, rows / 3), options_.y_scale);
    int numbers = 0;
    for (const Tick& tick : y_axis.ticks()) numbers = std::max(numbers, static_cast<int>(tick.label.size()));
    const int columns = options_.columns - numbers - 2;
    const Axis x_axis(ranges_.low_x, ranges_.high_x, std::max(2, columns / 12), options_.x_scale, false);

    DotField field(columns, rows);
    for (size_t n = 0; n < curves_.size(); ++n) {
      for (const auto& line : curve_lines(curves_[n], x_axis, y_axis, field.width())) {
        for (size_t point = 0; point < line.size(); ++point) {
          if (curves_[n].marked) {
            field.mark(line[point], static_cast<int>(n));
            continue;
          }
          field.draw_line(line[point == 0 ? 0 : point - 1], line[point], static_cast<int>(n));
        }
      }
    }
    if (!options_.title.empty()) add_line(fit_left(visible_text(options_.title), options_.columns));
    if (legend) write_legend();
    write_field(field, y_axis, numbers, rows, columns);
    write_x_axis(x_axis, numbers, columns);
    return std::move(text_);
  }

 private:
  void add_line(const std::string& line) { text_ += line.substr(0, line.find_last_not_of(' ') + 1) + "\n"; }

  std::string paint(const std::string& text, size_t curve) const {
    return in_colour(text, series_style(curve).colour, options_.colours);
  }

  void write_legend() {
    std::string line;
    int used = 0;
    for (size_t n = 0; n < curves_.size(); ++n) {
      const bool letters = curves_.size() > 1 && options_.colours == TerminalColours::kNone;
      const std::string mark = curves_[n].marked ? kCurveMark
                               : letters         ? std::string(1, curve_letter(n))
                                                 : "\u2501";
      const std::string name =
          elide_columns(mark + " " + visible_text(curves_[n].name), options_.columns - used);
      if (name.empty()) break;
      used += display_width(name) + 3;
      line += paint(name, n) + "   ";
    }
    add_line(line);
  }

  void write_field(const DotField& field, const Axis& y_axis, int numbers, int rows, int columns) {
    const bool letters = curves_.size() > 1 && options_.colours == TerminalColours::kNone;
    for (int row = 0; row < rows; ++row) {
      std::string number;
      for (const Tick& tick : y_axis.ticks()) {
        const double dot = (1 - y_axis.position(tick.value)) * (field.height() - 1);
        if (static_cast<int>(std::lround(dot)) / kDotsDown == row) number = tick.label;
      }
      std::string line = fit_right(number, numbers) + (number.empty() ? " \u2502" : " \u2524");
      for (int column = 0; column < columns;) {  // runs of one curve, each coloured once
        const int owner = field.owner(column, row);
        std::string stretch;
        for (; column < columns && field.owner(column, row) == owner; ++column) {
          if (owner >= 0 && field.dots(column, row) == DotField::kMarked) {
            stretch += kCurveMark;
          } else if (owner < 0 || letters) {
            stretch += owner < 0 ? ' ' : curve_letter(owner);
          } else {
            append_utf8(stretch, static_cast<char32_t>(kBraille + field.dots(column, row)));
          }
        }
        line += owner < 0 || letters ? stretch : paint(stretch, owner);
      }
      add_line(line);
    }
  }

  void write_x_axis(const Axis& x_axis, int numbers, int columns) {
    std::vector<std::string> axis(columns, "\u2500");
    std::string labels(columns, ' ');
    int used = 0;
    for (const Tick& tick : x_axis.ticks()) {
      const int column =
          static_cast<int>(std::lround(x_axis.position(tick.value) * (columns * kDotsAcross - 1))) /
          kDotsAcross;
      const int length = static_cast<int>(tick.label.size());
      axis[column] = "\u252C";
      const int begin = std::clamp(column - length / 2, 0, columns - length);
      if (begin < used) continue;
      labels.replace(begin, length, tick.label);
      used = begin + length + 1;
    }
    std::string line(numbers + 1, ' ');
    line += "\u2514";
    for (const std::string& character : axis) line += character;
    add_line(line);
    add_line(std::string(numbers + 2, ' ') + labels);
    if (options_.x_name.empty()) return;
    const std::string name = elide_columns(visible_text(options_.x_name), columns);
    add_line(std::string(numbers + 2 + (columns - display_width(name)) / 2, ' ') + name);
  }

  const std::vector<Curve>& curves_;
  const CurveTerminalOptions& options_;
  CurveRanges ranges_;
  std::string text_;
};

}  // namespace

std::string curve_terminal(const std::vector<Curve>& curves, const CurveTerminalOptions& options) {
  if (options.columns < kFewestCurveColumns || options.rows < kMinRows) {
    fail(ErrorKind::kUsage, "{} columns and {} rows are too few for a curve: use at least {} and {}",
         options.columns, options.rows, kFewestCurveColumns, kMinRows);
  }
  return CurveWriter(curves, options).write();
}

}  // namespace heed
