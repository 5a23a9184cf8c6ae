#include "inspect/draw/attention_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "inspect/draw/elements/heat_map.h"
#include "inspect/trace/label.h"
#include "inspect/trace/trace_labels.h"

namespace heed {
namespace {

constexpr double kMargin = 14, kGap = 12;  // around the page; between maps
constexpr double kLabelGap = 4;            // between labels and cells
constexpr double kFlatLabelGap = 5;        // between key labels that lie flat
constexpr double kPageShape = 1.35;        // target aspect ratio
constexpr double kRowWidth = 640;          // cells grow until a row of maps has this width, ...
constexpr double kLargestCell = 26;        // ... but not beyond this, ...
constexpr double kLargestLabelCell = 44;   // ... or this, where that lets key labels lie flat, ...
constexpr double kSmallMap = 270;          // ... in a map no wider than this
constexpr double kMaxSide = 480;           // larger maps get cells smaller than the font
constexpr double kSmallestFont = 6;
constexpr size_t kMaxCells = 1500000;  // an SVG with that many has about 80 MB
constexpr double kNarrowestPage = 240;

/// One layer of one stack: maps that share their axes.
struct Block {
  Stack stack = Stack::kEncoder;
  size_t layer = 0;
  std::vector<size_t> heads;
  AxisLabels queries, keys;

  int columns = 1;
  int rows() const { return (static_cast<int>(heads.size()) + columns - 1) / columns; }
};

std::string block_title(const Block& block) {
  switch (block.stack) {
    case Stack::kEncoder:
      return fmt::format("Encoder layer {}", block.layer + 1);
    case Stack::kDecoder:
      return fmt::format("Decoder layer {}", block.layer + 1);
    case Stack::kCross:
      return fmt::format("Cross-attention layer {}", block.layer + 1);
  }
  HEED_CHECK(false);
}

class Layout {
 public:
  Layout(const Trace& trace, const PictureOptions& options) : trace_(trace), options_(options) {
    picture_.font = options.font;
    picture_.background = options.background;
    picture_.title = options.title.empty() ? "Attention" : visible_text(options.title);
    if (!trace.source.empty()) picture_.title += ": " + visible_text(trace.source);
    ink_ = ink_on(options.background);
    collect_blocks();
    choose_font();
    label_blocks();
    choose_columns();
    enlarge_font();
  }

  Picture draw() {
    double y = draw_heading();
    for (const Block& block : blocks_) y = draw_block(block, y) + 1.5 * kGap;
    picture_.width = std::ceil(page_width());
    picture_.height = std::ceil(y - 1.5 * kGap + kMargin);
    return std::move(picture_);
  }

 private:
  void collect_blocks() {
    size_t cells = 0;
    for (const Stack stack : kStacks) {
      const StackWeights& layers = stack_of(trace_, stack);
      for (size_t layer = 0; layer < layers.size(); ++layer) {
        Block block{stack, layer, {}, {}, {}};
        for (size_t head = 0; head < layers[layer].size(); ++head) {
          const AttentionMatrix& matrix = layers[layer][head];
          if (matrix.empty()) continue;
          block.heads.push_back(head);
          cells += matrix.weights.size();
          tokens_ = std::max({tokens_, matrix.queries, matrix.keys});
        }
        if (!block.heads.empty()) blocks_.push_back(std::move(block));
      }
    }
    if (cells > kMaxCells) {
      fail(ErrorKind::kUsage,
           "{} attention weights are too many for a picture (maximum {}): choose a stack, a layer, a head, "
           "or the mean over heads",
           cells, kMaxCells);
    }
  }

  void choose_font() {
    style_.size = std::clamp(options_.font_size * 24 / tokens_, std::min(kSmallestFont, options_.font_size),
                             options_.font_size);
    style_.colour = ink_;
    heading_ = note_ = style_;
    heading_.size = options_.font_size + 1;
    heading_.bold = true;
    note_.size = options_.font_size;
    note_.colour = {(ink_.red + options_.background.red) / 2, (ink_.green + options_.background.green) / 2,
                    (ink_.blue + options_.background.blue) / 2};
  }

  void label_blocks() {
    Text style = style_;
    style.max_width = options_.max_label_width;
    for (const Stack stack : kStacks) {
      const bool used =
          std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.stack == stack; });
      if (!used) continue;
      const AxisLabels queries = make_axis_labels(picture_, query_labels(trace_, stack, "_"), style);
      const AxisLabels keys = make_axis_labels(picture_, key_labels(trace_, stack, "_"), style);
      pitch_ = std::max({pitch_, queries.pitch(), keys.pitch()});
      key_width_ = std::max(key_width_, keys.size.width);
      for (Block& block : blocks_) {
        if (block.stack != stack) continue;
        block.queries = queries;
        block.keys = keys;
      }
    }
    Text value = style_;
    value.size = style_.size * 0.8;
    value.label.text = "100";
    value_width_ = picture_.measure(value).width + 3;
  }

  /// Increases the font size if the cells are larger than needed.
  void enlarge_font() {
    const double size = std::min(options_.font_size, style_.size * cell_ / pitch_);
    if (size <= style_.size) return;
    style_.size = size;
    pitch_ = key_width_ = 0;
    label_blocks();
    place_labels();
  }

  /// The cell size with `columns` maps per row.
  double cell_for(int columns) const {
    const double least = options_.values ? std::max(pitch_, value_width_) : pitch_;
    if (options_.cell > 0) return options_.cell;
    if (tokens_ * least > kMaxSide && !options_.values) return std::min(least, kMaxSide / tokens_);
    const double flat = key_width_ + kFlatLabelGap;
    const bool lies_flat = flat <= kLargestLabelCell && flat * tokens_ <= kSmallMap;
    const double largest = std::max({least, kLargestCell, lies_flat ? flat : 0});
    return std::ceil(std::clamp(kRowWidth / (columns * tokens_), least, largest));
  }

  /// Chooses the direction of key labels and which labels to draw.
  void place_labels() {
    for (Block& block : blocks_) {
      block.keys.upward = block.keys.size.width + kFlatLabelGap > cell_;
      block.queries.every = block.keys.every =
          std::max(1, static_cast<int>(std::ceil(pitch_ / cell_ - 1e-6)));
    }
  }

  void use_columns(int columns) {
    cell_ = cell_for(columns);
    for (Block& block : blocks_) block.columns = std::min(columns, static_cast<int>(block.heads.size()));
    place_labels();
  }

  /// Tries numbers of maps per row without gaps in the last row.
  void choose_columns() {
    int heads = 1;
    for (const Block& block : blocks_) heads = std::max(heads, static_cast<int>(block.heads.size()));
    if (options_.heads_per_row > 0) return use_columns(std::min(options_.heads_per_row, heads));
    double best = std::numeric_limits<double>::infinity();
    int chosen = 1;
    for (int columns = 1; columns <= heads; ++columns) {
      if (heads % columns != 0) continue;
      use_columns(columns);
      double height = 0;
      for (const Block& block : blocks_) height += block_height(block);
      const double misfit = std::abs(std::log(page_width() / height / kPageShape));
      if (misfit < best) {
        best = misfit;
        chosen = columns;
      }
    }
    use_columns(chosen);
  }

  double map_width(const Block& block) const {
    Text caption = note_;
    caption.label.text =
        trace_.heads_averaged ? "Mean of heads" : fmt::format("Head {}", block.heads.back() + 1);
    return std::max(static_cast<double>(block.keys.labels.size()) * cell_, picture_.measure(caption).width);
  }
  double map_height(const Block& block) const {
    return static_cast<double>(block.queries.labels.size()) * cell_;
  }
  double gutter(const Block& block) const {
    return note_.size * 1.6 + block.queries.size.width + label_gap();
  }
  /// Space between labels and cells: if not every token is labelled, labels extend beyond their cells.
  double label_gap() const { return std::max(kLabelGap, (pitch_ - cell_) / 2 + 1); }
  /// Space between maps, for the same reason.
  double gap() const { return std::max(kGap, pitch_ - cell_ + 2); }
  double caption_height() const { return note_.size * 1.5; }

  Text axis_name(const Block& block, bool queries) const {
    const auto [query_text, key_text] = axis_texts(trace_, block.stack);
    Text name = note_;
    name.align = Align::kMiddle;
    name.upward = queries;
    name.label.text = queries ? fmt::format("queries: {}", query_text) : fmt::format("keys: {}", key_text);
    return name;
  }
  /// The height of the rows, or of the axis name next to them if larger.
  double rows_height(const Block& block) const {
    const double maps =
        block.rows() * (caption_height() + map_height(block) + gap()) - gap() - caption_height();
    return std::max(maps, picture_.measure(axis_name(block, true)).width);
  }
  /// The same for columns.
  double columns_width(const Block& block) const {
    const double maps = block.columns * (map_width(block) + gap()) - gap();
    return std::max(maps, picture_.measure(axis_name(block, false)).width);
  }
  double block_width(const Block& block) const { return gutter(block) + columns_width(block); }
  double block_height(const Block& block) const {
    return heading_.size * 1.6 + caption_height() + rows_height(block) + label_gap() +
           key_labels_height(block.keys) + note_.size * 1.8;
  }
  double page_width() const {
    double width = std::max(kNarrowestPage, legend_size(picture_, note_).width);
    for (const Block& block : blocks_) width = std::max(width, block_width(block));
    return width + 2 * kMargin;
  }

  /// Draws title, sentences and legend; returns the top of the blocks.
  double draw_heading() {
    double y = kMargin;
    if (!options_.title.empty()) {
      Text title = heading_;
      title.size *= 1.25;
      y = draw_lines(title, options_.title, kMargin, y) + kGap / 2;
    }
    if (options_.sentences) {
      const auto [source, target] = sentence_names(trace_);
      y = draw_sentence(source, trace_.source, y);
      y = draw_sentence(target, trace_.target, y);
    }
    ColourScale scale;
    scale.most = options_.darkest;
    scale.open = options_.darkest < 1;
    draw_legend(picture_, {kMargin, y + 2}, scale, note_);
    return y + 2 + legend_size(picture_, note_).height + kGap;
  }

  /// Draws up to two lines of text from `x` to the margin; returns their bottom.
  double draw_lines(Text text, const std::string& words, double x, double y) {
    text.label.text = visible_text(words);
    text.max_width = page_width() - kMargin - x;
    text.lines = 2;
    const TextSize size = picture_.measure(text);
    text.at = {x, y + std::max(size.ascent, text.size)};
    return std::max(picture_.add(text).bottom(), text.at.y + 0.35 * text.size);
  }

  double draw_sentence(const std::string& name, const std::string& sentence, double y) {
    if (sentence.empty()) return y;
    const double end = draw_lines(style_at(options_.font_size + 1), sentence, kMargin + 4.5 * note_.size, y);
    Text label = note_;
    label.label.text = name;
    label.at = {kMargin, picture_.texts().back().at.y};
    picture_.add(label);
    return end + 4;
  }

  Text style_at(double size) const {
    Text text = style_;
    text.size = size;
    return text;
  }

  /// Returns the bottom.
  double draw_block(const Block& block, double top) {
    Text title = heading_;
    title.label.text = block_title(block);
    title.at = {kMargin, top + heading_.size};
    picture_.add(title);
    const double left = kMargin + gutter(block), first = top + heading_.size * 1.6 + caption_height();
    const double row_height = caption_height() + map_height(block) + gap();
    const double column_width = map_width(block) + gap();
    const int heads = static_cast<int>(block.heads.size());
    for (int n = 0; n < heads; ++n) {
      const int row = n / block.columns, column = n % block.columns;
      const Point corner{left + column * column_width, first + row * row_height};
      draw_map(block, block.heads[n], corner);
      if (column == 0) {
        draw_query_labels(picture_, block.queries, corner.x - label_gap(), corner.y, cell_);
      }
      if (n / block.columns == block.rows() - 1 || n + block.columns >= heads) {
        draw_key_labels(picture_, block.keys, corner.x, corner.y + map_height(block) + label_gap(), cell_);
      }
    }
    Text name = axis_name(block, true);
    name.at = {kMargin + note_.size, first + rows_height(block) / 2};
    picture_.add(name);
    const double end = top + block_height(block);
    name = axis_name(block, false);
    name.at = {left + columns_width(block) / 2, end - 0.4 * note_.size};
    picture_.add(name);
    return end;
  }

  void draw_map(const Block& block, size_t head, Point corner) {
    Text caption = note_;
    caption.colour = ink_;
    caption.label.text = trace_.heads_averaged ? "Mean of heads" : fmt::format("Head {}", head + 1);
    caption.at = {corner.x, corner.y - 0.45 * caption.size};
    picture_.add(caption);
    HeatMapStyle style;
    style.cell = cell_;
    style.darkest = options_.darkest;
    style.values = options_.values;
    style.value_size = 0.8 * style_.size;
    draw_cells(picture_, stack_of(trace_, block.stack)[block.layer][head], corner, style);
  }

  const Trace& trace_;
  const PictureOptions& options_;
  Picture picture_;
  std::vector<Block> blocks_;
  int tokens_ = 1;  // of the longest axis
  Colour ink_;
  Text style_, heading_, note_;  // tokens; headings; captions and axis names
  double pitch_ = 0, key_width_ = 0, value_width_ = 0, cell_ = 0;
};

}  // namespace

Picture attention_picture(const Trace& trace, const PictureOptions& options) {
  check_trace(trace);
  if (!(options.font_size >= 1 && options.font_size <= 100) || options.cell < 0 ||
      options.heads_per_row < 0) {
    fail(ErrorKind::kUsage,
         "a picture needs a font of 1 to 100 points, no negative sizes, and a darkest weight above 0, at "
         "most 1");
  }
  return Layout(trace, options).draw();
}

}  // namespace heed
