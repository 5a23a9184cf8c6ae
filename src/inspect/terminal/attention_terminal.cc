#include "inspect/terminal/attention_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.h"
#include "inspect/trace/label.h"
#include "inspect/trace/trace_labels.h"
#include "models/head_names.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

constexpr int kMinColumns = 20;
constexpr int kColumnGap = 2;      // between heads
constexpr int kValueColumns = 4;   // "100" and the shade or a space
constexpr int kNarrowestHead = 7;  // room for "Head 12"
constexpr int kMostKeyRows = 10;
constexpr int kLegendColumns = 50;  // for the colours and what they mean

/// Characters for cells without colours, with their minimum weights.
constexpr std::array<std::pair<double, std::string_view>, 5> kShades{
    {{0.0, " "}, {0.05, "\u2591"}, {0.2, "\u2592"}, {0.4, "\u2593"}, {0.7, "\u2588"}}};

std::string_view shade_of(double weight) {
  std::string_view shade = kShades[0].second;
  for (const auto& [least, character] : kShades) {
    if (weight >= least) shade = character;
  }
  return shade;
}

std::string without_end_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

class Writer {
 public:
  Writer(const Trace& trace, const TerminalOptions& options) : trace_(trace), options_(options) {}

  std::string write() {
    if (options_.sentences) {
      const auto [source, target] = sentence_names(trace_);
      write_sentence(source, trace_.source);
      write_sentence(target, trace_.target);
    }
    for (const Stack stack : kStacks) {
      const StackWeights& layers = stack_of(trace_, stack);
      for (size_t layer = 0; layer < layers.size(); ++layer) write_layer(stack, layer);
    }
    write_legend();
    return std::move(text_);
  }

 private:
  void line(std::string content) { text_ += without_end_spaces(std::move(content)) + "\n"; }

  void write_sentence(const std::string& name, const std::string& sentence) {
    if (!sentence.empty()) line(fit_left(name + ": " + visible_text(sentence), options_.columns));
  }

  /// Determines the widths for this stack: query labels, and cells of two columns if a whole head fits,
  /// else of one;
  /// double-width characters need two.
  void measure(Stack stack) {
    query_labels_ = query_labels(trace_, stack, "\u2581");
    key_labels_ = key_labels(trace_, stack, "\u2581");
    label_columns_ = 1;
    for (const Label& label : query_labels_)
      label_columns_ = std::max(label_columns_, display_width(label.text));
    label_columns_ = std::min({label_columns_, std::max(1, options_.max_label_length), options_.columns / 3});
    const int room = options_.columns - label_columns_ - 1;
    const int keys = static_cast<int>(key_labels_.size());
    int widest = 1;
    key_rows_ = 1;
    for (const Label& label : key_labels_) {
      const auto characters =
          downward_characters(label.text, std::clamp(options_.max_label_length, 1, kMostKeyRows));
      key_rows_ = std::max(key_rows_, static_cast<int>(characters.size()));
      for (const std::string& character : characters) widest = std::max(widest, display_width(character));
    }
    cell_columns_ = options_.values ? kValueColumns : (keys * 2 <= room ? 2 : widest);
    keys_per_matrix_ = std::max(1, std::min(keys, room / cell_columns_));
    matrix_columns_ = std::max(keys_per_matrix_ * cell_columns_, kNarrowestHead);
    heads_per_row_ = std::max(1, (room + kColumnGap) / (matrix_columns_ + kColumnGap));
  }

  void write_layer(Stack stack, size_t layer) {
    std::vector<size_t> heads;
    const auto& matrices = stack_of(trace_, stack)[layer];
    for (size_t head = 0; head < matrices.size(); ++head) {
      if (!matrices[head].empty()) heads.push_back(head);
    }
    if (heads.empty()) return;
    measure(stack);
    line("");
    line(fmt::format("{} layer {}", stack_name(stack), layer + 1));
    const auto [rows, columns] = axis_texts(trace_, stack);
    line(elide_columns(fmt::format("rows: {} tokens (queries); columns: {} tokens (keys)", rows, columns),
                       options_.columns));
    const int keys = static_cast<int>(key_labels_.size());
    for (size_t first = 0; first < heads.size(); first += heads_per_row_) {
      const size_t end = std::min(heads.size(), first + heads_per_row_);
      const std::vector<size_t> row(heads.begin() + first, heads.begin() + end);
      for (int key = 0; key < keys; key += keys_per_matrix_) {
        write_matrices(matrices, row, key, std::min(keys, key + keys_per_matrix_));
      }
    }
  }

  /// Writes heads side by side, for keys [begin, end).
  void write_matrices(const std::vector<AttentionMatrix>& matrices, const std::vector<size_t>& heads,
                      int begin, int end) {
    const bool part = end - begin < static_cast<int>(key_labels_.size());
    line("");
    std::string captions(label_columns_ + 1, ' ');
    for (const size_t head : heads) {
      std::string caption = trace_.heads_averaged ? "Mean" : fmt::format("Head {}", head + 1);
      if (part) caption += fmt::format(", keys {} to {}", begin + 1, end);
      captions += fit_left(caption, matrix_columns_) + std::string(kColumnGap, ' ');
    }
    line(without_end_spaces(captions));
    write_key_labels(heads.size(), begin, end);
    const int padding = matrix_columns_ - (end - begin) * cell_columns_ + kColumnGap;
    for (size_t query = 0; query < query_labels_.size(); ++query) {
      std::string cells = fit_right(query_labels_[query].text, label_columns_) + " ";
      for (const size_t head : heads) {
        for (int key = begin; key < end; ++key) {
          cells += cell(static_cast<double>(matrices[head].at(static_cast<int>(query), key)));
        }
        if (head != heads.back()) cells += std::string(padding, ' ');
      }
      line(std::move(cells));
    }
  }

  /// Writes the key labels vertically, aligned to the cells.
  void write_key_labels(size_t matrices, int begin, int end) {
    std::vector<std::vector<std::string>> names;
    size_t rows = 0;
    for (int key = begin; key < end; ++key) {
      names.push_back(downward_characters(key_labels_[key].text, key_rows_));
      rows = std::max(rows, names.back().size());
    }
    for (size_t row = 0; row < rows; ++row) {
      std::string labels;
      for (const auto& name : names) {
        const size_t above = rows - name.size();
        const std::string character = row < above ? "" : name[row - above];
        labels += options_.values ? fit_right(character, cell_columns_) : fit_left(character, cell_columns_);
      }
      const std::string padding(matrix_columns_ - (end - begin) * cell_columns_ + kColumnGap, ' ');
      std::string content(label_columns_ + 1, ' ');
      for (size_t n = 0; n < matrices; ++n) content += labels + padding;
      line(std::move(content));
    }
  }

  std::string cell(double weight) const {
    std::string content;
    if (options_.values) {
      content = fmt::format("{:>{}.0f}", 100 * weight, kValueColumns - 1);
      content = options_.colours == TerminalColours::kNone ? std::string(shade_of(weight)) + content
                                                           : " " + content;
    } else if (options_.colours == TerminalColours::kNone) {
      for (int n = 0; n < cell_columns_; ++n) content += shade_of(weight);
    } else {
      content.assign(cell_columns_, ' ');
    }
    return on_colour(content, level_colour(colour_level(weight)), options_.colours);
  }

  void write_legend() {
    constexpr int kSteps = 11;
    line("");
    if (options_.colours == TerminalColours::kNone) {
      std::string legend = "weight:";
      for (const auto& [least, shade] : kShades) {
        if (least > 0) legend += fmt::format(" {} {:g}", shade, least);
      }
      return line(elide_columns(legend + "+", options_.columns));
    }
    std::string legend = options_.columns >= kLegendColumns ? "attention weight: 0 " : "0 ";
    for (int n = 0; n < kSteps; ++n) {
      const int level = colour_level(static_cast<double>(n) / (kSteps - 1));
      legend += on_colour(" ", level_colour(level), options_.colours);
    }
    legend += " 1";
    line(options_.columns >= kLegendColumns ? legend + " (darker: more)" : legend);
  }

  const Trace& trace_;
  const TerminalOptions& options_;
  std::string text_;
  std::vector<Label> query_labels_, key_labels_;
  int label_columns_ = 0, key_rows_ = 0, cell_columns_ = 0, keys_per_matrix_ = 0, matrix_columns_ = 0;
  int heads_per_row_ = 1;
};

}  // namespace

std::string attention_terminal(const Trace& trace, const TerminalOptions& options) {
  check_trace(trace);
  if (options.columns < kMinColumns) {
    fail(ErrorKind::kUsage, "a terminal of {} columns is too narrow for attention: use at least {}",
         options.columns, kMinColumns);
  }
  return Writer(trace, options).write();
}

}  // namespace heed
