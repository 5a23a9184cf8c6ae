#include "inspect/draw/matrix_picture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "inspect/draw/elements/axis.h"
#include "inspect/draw/elements/heat_map.h"

namespace heed {
namespace {

constexpr double kMatrixMargin = 14, kMatrixGap = 16, kMatrixLabelGap = 4;
constexpr double kMatrixRowWidth = 640;  // cells grow until a row of plots has this width
constexpr double kMatrixSmallestCell = 2, kMatrixLargestCell = 30;
constexpr double kMatrixMaxLabel = 90;
constexpr double kMatrixTitleWidth = 300;  // of a title above narrow plots
constexpr Colour kMasked{0.87, 0.87, 0.87}, kHatching{0.62, 0.62, 0.62};

bool is_masked(float value) {
  return value == -std::numeric_limits<float>::infinity();
}

void check(const std::vector<MatrixPlot>& plots, const MatrixPictureOptions& options) {
  if (plots.empty()) fail(ErrorKind::kUsage, "a picture needs at least one matrix");
  if (!(options.least < options.most)) {
    fail(ErrorKind::kUsage, "the colour range must be increasing, not from {} to {}", options.least,
         options.most);
  }
  for (const MatrixPlot& plot : plots) {
    const AttentionMatrix& m = plot.matrix;
    if (m.queries < 1 || m.keys < 1) fail(ErrorKind::kUsage, "the matrix '{}' is empty", plot.title);
    const auto fits = [](const std::vector<std::string>& names, int count) {
      return names.empty() || static_cast<int>(names.size()) == count;
    };
    if (!fits(plot.rows, m.queries) || !fits(plot.columns, m.keys)) {
      fail(ErrorKind::kShape, "'{}': a ({}, {}) matrix cannot have names for {} rows and {} columns",
           plot.title, m.queries, m.keys, plot.rows.size(), plot.columns.size());
    }
    if (!std::ranges::all_of(m.weights,
                             [](float value) { return std::isfinite(value) || is_masked(value); })) {
      fail(ErrorKind::kNumeric, "'{}' contains NaN or plus infinity", plot.title);
    }
  }
}

std::vector<Label> labels_of(const std::vector<std::string>& names) {
  std::vector<Label> labels;
  for (const std::string& name : names) labels.push_back({visible_text(name), 0, 0});
  return labels;
}

class MatrixLayout {
 public:
  MatrixLayout(const std::vector<MatrixPlot>& plots, const MatrixPictureOptions& options)
      : plots_(plots), options_(options) {
    picture_.font = options.font;
    picture_.background = options.background;
    picture_.title = options.title.empty() ? options.scale : visible_text(options.title);
    style_.size = options.font_size;
    style_.colour = ink_on(options.background);
    style_.max_width = kMatrixMaxLabel;
    per_row_ = options.plots_per_row > 0 ? options.plots_per_row : static_cast<int>(plots.size());
    per_row_ = std::min(per_row_, static_cast<int>(plots.size()));
    choose_cell();
    for (const MatrixPlot& plot : plots_) {
      measure(plot);
      any_masked_ = any_masked_ || std::ranges::any_of(plot.matrix.weights, is_masked);
    }
    if (!options_.y_name.empty()) row_names_ += axis_room();
  }

  Picture draw() {
    const double content = std::max(legend_width(), per_row_ * (plot_width() + kMatrixGap) - kMatrixGap);
    double y = kMatrixMargin, right = kMatrixMargin + content;
    if (!options_.title.empty()) {
      const Box title = draw_title(std::max(content, kMatrixTitleWidth));
      y = title.bottom() + kMatrixGap / 2;
      right = std::max(right, title.right());
    }
    y = draw_scale(y);
    const auto per_row = static_cast<size_t>(per_row_);
    for (size_t first = 0; first < plots_.size(); first += per_row) {
      const size_t last = std::min(plots_.size(), first + per_row);
      measure_row(first, last);
      double x = kMatrixMargin;
      for (size_t n = first; n < last; ++n) {
        // Cells that begin at whole points have sharp edges.
        draw_plot(plots_[n], {std::ceil(x + row_names_), std::ceil(y + title_height())});
        x += plot_width() + kMatrixGap;
      }
      right = std::max(right, x - kMatrixGap);
      y += title_height() + height_ + column_names_ + kMatrixGap;
    }
    picture_.width = std::ceil(right + kMatrixMargin);
    picture_.height = std::ceil(y - kMatrixGap + kMatrixMargin);
    return std::move(picture_);
  }

 private:
  void choose_cell() {
    int most_columns = 1, most = 1;
    for (const MatrixPlot& plot : plots_) {
      most_columns = std::max(most_columns, plot.matrix.keys);
      most = std::max({most, plot.matrix.keys, plot.matrix.queries});
    }
    cell_ = options_.cell;
    if (cell_ > 0) return;
    double least = kMatrixSmallestCell;
    if (options_.decimals >= 0) least = std::max(least, value_room());
    cell_ = std::floor(std::min(kMatrixRowWidth / (per_row_ * most_columns), 3 * kMatrixRowWidth / 4 / most));
    cell_ = std::clamp(cell_, least, std::max(least, kMatrixLargestCell));
  }

  /// The widest number, with padding.
  double value_room() const {
    Text text = value_style();
    double room = 0;
    for (const double value : {options_.least, options_.most}) {
      text.label.text = decimal_text(value, options_.decimals);
      room = std::max(room, picture_.measure(text).width);
    }
    return room + 5;
  }

  Text value_style() const {
    Text text = style_;
    text.size = 0.8 * options_.font_size;
    text.align = Align::kMiddle;
    text.max_width = 0;
    return text;
  }

  AxisLabels axis(const std::vector<std::string>& names, bool columns) const {
    AxisLabels labels = make_axis_labels(picture_, labels_of(names), style_);
    labels.upward = columns && labels.size.width + kMatrixLabelGap > cell_;
    labels.every = std::max(1, static_cast<int>(std::ceil(labels.pitch() / cell_ - 1e-6)));
    return labels;
  }

  void measure(const MatrixPlot& plot) {
    width_ = std::max(width_, plot.matrix.keys * cell_);
    if (!plot.rows.empty()) {
      row_names_ = std::max(row_names_, axis(plot.rows, false).size.width + kMatrixLabelGap);
    }
    Text title = title_style();
    title.label.text = visible_text(plot.title);
    width_ = std::max(width_, picture_.measure(title).width);
  }

  /// The heights of a row of plots.
  void measure_row(size_t first, size_t last) {
    height_ = 0;
    column_names_ = options_.x_name.empty() ? 0 : axis_room();
    double names = 0;
    for (size_t n = first; n < last; ++n) {
      height_ = std::max(height_, plots_[n].matrix.queries * cell_);
      if (plots_[n].columns.empty()) continue;
      names = std::max(names, key_labels_height(axis(plots_[n].columns, true)) + kMatrixLabelGap);
    }
    column_names_ += names;
  }

  Text title_style() const {
    Text text = style_;
    text.max_width = 0;
    return text;
  }
  double title_height() const { return 1.6 * style_.size; }
  double plot_width() const { return row_names_ + width_; }

  /// Up to two lines.
  Box draw_title(double width) {
    Text title = title_style();
    title.size *= 1.35;
    title.bold = true;
    title.label.text = visible_text(options_.title);
    title.max_width = width;
    title.lines = 2;
    title.at = {kMatrixMargin, kMatrixMargin + title.size};
    return picture_.add(title);
  }

  /// The legend; returns where the plots begin.
  double draw_scale(double y) {
    draw_legend(picture_, {kMatrixMargin, y}, scale(), title_style());
    if (any_masked_) {
      const Box box{kMatrixMargin + legend_size(picture_, title_style(), scale()).width + kMatrixGap, y,
                    2 * style_.size, style_.size};
      draw_masked({box.left, box.top}, box.height);
      draw_masked({box.left + box.height, box.top}, box.height);
      picture_.outline(box, kHatching, 0.5);
      Text text = masked_text();
      text.at = {box.right() + kMatrixLabelGap, y + style_.size - 1};
      picture_.add(text);
    }
    return y + legend_size(picture_, title_style(), scale()).height + kMatrixGap / 2;
  }

  Text masked_text() const {
    Text text = title_style();
    text.label.text = options_.masked;
    return text;
  }
  double legend_width() const {
    const double width = legend_size(picture_, title_style(), scale()).width;
    if (!any_masked_) return width;
    return width + kMatrixGap + 2 * style_.size + kMatrixLabelGap + picture_.measure(masked_text()).width;
  }
  double axis_room() const { return 1.6 * style_.size; }

  /// A grey cell, hatched from lower left to upper right, continuous with its neighbours.
  void draw_masked(Point corner, double side) {
    picture_.fill({corner.x, corner.y, side, side}, kMasked);
    for (const double share : {0.5, 1.0, 1.5}) {
      const double from = std::max(0.0, share - 1) * side, to = std::min(1.0, share) * side;
      picture_.add(
          Polyline{{{corner.x + from, corner.y + to}, {corner.x + to, corner.y + from}}, kHatching, 0.5, {}});
    }
  }

  void draw_axis_name(const std::string& words, Point middle, bool upward) {
    if (words.empty()) return;
    Text name = title_style();
    name.label.text = visible_text(words);
    name.align = Align::kMiddle;
    name.upward = upward;
    name.at = middle;
    picture_.add(name);
  }

  ColourScale scale() const { return {options_.scale, options_.least, options_.most}; }

  void draw_plot(const MatrixPlot& plot, Point corner) {
    Text title = title_style();
    title.label.text = visible_text(plot.title);
    title.at = {corner.x, corner.y - 0.5 * style_.size};
    picture_.add(title);
    AttentionMatrix shares = plot.matrix;
    for (float& value : shares.weights) {
      value = static_cast<float>((static_cast<double>(value) - options_.least) /
                                 (options_.most - options_.least));
      value = std::clamp(value, 0.0f, 1.0f);
    }
    HeatMapStyle style;
    style.cell = cell_;
    draw_cells(picture_, shares, corner, style);
    const Box frame{corner.x, corner.y, plot.matrix.keys * cell_, plot.matrix.queries * cell_};
    for (int row = 0; row < plot.matrix.queries; ++row) {
      for (int column = 0; column < plot.matrix.keys; ++column) {
        if (is_masked(plot.matrix.at(row, column)))
          draw_masked({frame.left + column * cell_, frame.top + row * cell_}, cell_);
      }
    }
    if (any_masked_) picture_.outline(frame, style.grid, 0.5);  // the grey lies on half of it
    draw_axis_name(options_.y_name, {corner.x - row_names_ + style_.size, frame.top + frame.height / 2},
                   true);
    draw_axis_name(options_.x_name,
                   {frame.left + frame.width / 2, frame.bottom() + column_names_ - 0.3 * style_.size}, false);
    if (options_.decimals >= 0) draw_values(plot.matrix, shares, corner);
    if (!plot.rows.empty()) {
      draw_query_labels(picture_, axis(plot.rows, false), corner.x - kMatrixLabelGap, corner.y, cell_);
    }
    if (!plot.columns.empty()) {
      draw_key_labels(picture_, axis(plot.columns, true), corner.x,
                      corner.y + plot.matrix.queries * cell_ + kMatrixLabelGap, cell_);
    }
  }

  void draw_values(const AttentionMatrix& matrix, const AttentionMatrix& shares, Point corner) {
    Text text = value_style();
    text.label = {"0", 0, 0};
    const double baseline = (cell_ + picture_.measure(text).ascent) / 2;
    for (int row = 0; row < matrix.queries; ++row) {
      for (int column = 0; column < matrix.keys; ++column) {
        const bool masked = is_masked(matrix.at(row, column));
        text.label.text = masked
                              ? options_.masked_number
                              : decimal_text(static_cast<double>(matrix.at(row, column)), options_.decimals);
        text.at = {corner.x + (column + 0.5) * cell_, corner.y + row * cell_ + baseline};
        const double share = static_cast<double>(shares.at(row, column));
        text.colour = ink_on(masked ? kMasked : level_colour(colour_level(share)));
        picture_.add(text);
      }
    }
  }

  const std::vector<MatrixPlot>& plots_;
  const MatrixPictureOptions& options_;
  Picture picture_;
  Text style_;
  int per_row_ = 1;
  double cell_ = 0, width_ = 0, height_ = 0;  // of a cell; of the widest matrix; of the tallest one of a row
  double row_names_ = 0, column_names_ = 0;   // space for names, including axis names; those of a row
  bool any_masked_ = false;
};

}  // namespace

void set_colour_range(MatrixPictureOptions& options, double least, double most) {
  constexpr int kSteps = 8;
  const Axis range(least, most, kSteps);
  options.least = range.low();
  options.most = range.high();
}

Picture matrix_picture(const std::vector<MatrixPlot>& plots, const MatrixPictureOptions& options) {
  check(plots, options);
  return MatrixLayout(plots, options).draw();
}

}  // namespace heed
