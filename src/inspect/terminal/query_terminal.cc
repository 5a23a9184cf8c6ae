#include "inspect/terminal/query_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "inspect/trace/label.h"
#include "inspect/trace/trace_labels.h"
#include "models/head_names.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

constexpr int kMinQueryColumns = 20;
constexpr int kPercentColumns = 8;         // "  100.0%"
constexpr int kScaleColumns = 8;           // "0%  100%"
constexpr Colour kBars{0.26, 0.57, 0.78};  // visible on dark and light backgrounds

/// In eighths of a column.
std::string bar_of(double share, int columns) {
  static constexpr const char* kEighths[] = {"",       "\u258F", "\u258E", "\u258D",
                                             "\u258C", "\u258B", "\u258A", "\u2589"};
  const auto eighths = static_cast<int>(std::lround(share * columns * 8));
  std::string bar;
  for (int n = 0; n < eighths / 8; ++n) bar += "\u2588";
  return bar + kEighths[eighths % 8];
}

}  // namespace

std::string query_terminal(const Trace& trace, const QueryChoice& choice,
                           const QueryTerminalOptions& options) {
  if (options.columns < kMinQueryColumns) {
    fail(ErrorKind::kUsage, "a terminal of {} columns is too narrow for attention: use at least {}",
         options.columns, kMinQueryColumns);
  }
  const std::vector<float> weights = query_weights(trace, choice);
  const std::vector<Label> keys = key_labels(trace, choice.stack, "\u2581");
  const Label query = query_labels(trace, choice.stack, "\u2581")[choice.query];
  std::string text;
  if (options.sentences) {
    const auto [source_name, target_name] = sentence_names(trace);
    for (const auto& [name, sentence] :
         {std::pair(source_name, trace.source), std::pair(target_name, trace.target)}) {
      if (!sentence.empty()) {
        text += elide_columns(fmt::format("{}: {}", name, visible_text(sentence)), options.columns) + "\n";
      }
    }
  }
  text += elide_columns(fmt::format("\n{}, layer {}, {}: what \u201C{}\u201D attends to",
                                    stack_name(choice.stack), choice.layer + 1,
                                    trace.heads_averaged ? "mean of all heads"
                                                         : fmt::format("head {}", choice.head + 1),
                                    query.text),
                        options.columns) +
          "\n\n";
  int label_columns = 1;
  for (const Label& key : keys) label_columns = std::max(label_columns, display_width(key.text));
  label_columns = std::min({label_columns, options.max_label_length, options.columns / 3});
  const int room = options.columns - 2 - label_columns - kPercentColumns - 2;
  if (room >= kScaleColumns) {
    text += std::string(static_cast<size_t>(options.columns - room), ' ') + "0%" +
            fmt::format("{:>{}}\n", "100%", room - 2);
  }
  for (size_t n = 0; n < weights.size(); ++n) {
    const double weight = static_cast<double>(weights[n]);
    std::string bar = bar_of(weight, room);
    if (!bar.empty()) bar = "  " + in_colour(bar, kBars, options.colours);
    text += fmt::format("  {}{:>7.1f}%{}\n", fit_left(keys[n].text, label_columns), 100 * weight, bar);
  }
  return text;
}

}  // namespace heed
