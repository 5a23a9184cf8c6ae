#include "inspect/lens/lens_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "inspect/draw/matrix_picture.h"
#include "inspect/lens/lens.h"
#include "inspect/terminal/column_table.h"
#include "inspect/terminal/terminal_text.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

std::string state_name(const LensState& state) {
  if (state.part == "embedding" || state.part == "output") return state.part;
  return fmt::format("{} {}", state.layer, state.part);
}

/// The tokens that a stack reads.
std::vector<std::string> read_labels(const Lens& lens, const LensStack& stack) {
  const bool translates = &stack == &lens.decoder && !lens.encoder.tokens.empty();
  return translates ? translated_token_texts(stack.tokens) : token_texts(stack.tokens);
}

bool has_predictions(const LensStack& stack) {
  return std::any_of(stack.states.begin(), stack.states.end(),
                     [](const LensState& state) { return !state.predictions.empty(); });
}

bool has_added_norms(const LensStack& stack) {
  return std::ranges::any_of(stack.states, [](const LensState& state) { return !state.added_norms.empty(); });
}

void require_value(const LensStack& stack, LensValue value) {
  if (value == LensValue::kPredictions && !has_predictions(stack)) {
    fail(ErrorKind::kUsage,
         "this stack predicts no tokens: choose another stack, or norms instead of predictions");
  }
  if (value == LensValue::kAdded && !has_added_norms(stack)) {
    fail(
        ErrorKind::kUsage,
        "the layers of this stack add nothing to its states, as those of recurrent networks: choose norms or "
        "predictions");
  }
}

std::string cell_of(const LensState& state, LensValue value, size_t token) {
  if (value == LensValue::kNorms) return fmt::format("{:.2f}", state.norms[token]);
  if (value == LensValue::kAdded) {
    return state.added_norms.empty() ? "" : fmt::format("{:.2f}", state.added_norms[token]);
  }
  if (state.predictions.empty()) return "";
  return token_texts({state.predictions[token].front().token})[0];
}

using Rows = std::vector<std::vector<std::string>>;

void add_row(Rows& rows, const std::string& name, const std::vector<std::string>& cells) {
  auto& row = rows.emplace_back(std::vector<std::string>{name});
  row.insert(row.end(), cells.begin(), cells.end());
}

}  // namespace

const LensStack& stack_named(const Lens& lens, const std::string& name) {
  if (name.empty()) return predicting_stack(lens);
  if (name != "encoder" && name != "decoder") {
    fail(ErrorKind::kUsage, "unknown stack '{}': choose encoder or decoder", name);
  }
  const LensStack& stack = name == "encoder" ? lens.encoder : lens.decoder;
  if (stack.tokens.empty()) fail(ErrorKind::kUsage, "this model has no {}: choose no stack", name);
  return stack;
}

LensValue lens_value_named(const LensStack& stack, const std::string& name) {
  const LensValue value = value_in(kLensValues, "value", name);
  return value == LensValue::kPredictions && !has_predictions(stack) ? LensValue::kNorms : value;
}

std::string lens_table(const Lens& lens, const LensStack& stack, LensValue value, int columns) {
  require_value(stack, value);
  Rows rows;
  add_row(rows, "reads", read_labels(lens, stack));
  for (const LensState& state : stack.states) {
    auto& row = rows.emplace_back(std::vector<std::string>{state_name(state)});
    for (size_t n = 0; n < stack.tokens.size(); ++n) row.push_back(cell_of(state, value, n));
  }
  if (value == LensValue::kPredictions) add_row(rows, "expected", token_texts(lens.expected_tokens));
  return column_table(rows, columns);
}

std::string lens_token_table(const Lens& lens, const LensStack& stack, size_t token) {
  const bool predicts = has_predictions(stack);
  Rows rows{{"", "norm", "adds", predicts ? "likeliest tokens" : ""}};
  for (const LensState& state : stack.states) {
    std::string tokens;
    if (!state.predictions.empty()) {
      for (const TokenProbability& each : state.predictions[token]) {
        tokens += fmt::format("{}{} {:.3f}", tokens.empty() ? "" : "  ", token_texts({each.token})[0],
                              each.probability);
      }
    }
    rows.push_back({state_name(state), cell_of(state, LensValue::kNorms, token),
                    cell_of(state, LensValue::kAdded, token), tokens});
  }
  std::vector<int> widths(3, 0);
  for (const auto& row : rows) {
    for (size_t n = 0; n < widths.size(); ++n) widths[n] = std::max(widths[n], display_width(row[n]));
  }
  std::string text = fmt::format("reads \u201C{}\u201D", read_labels(lens, stack)[token]);
  if (predicts)
    text += fmt::format(", expected \u201C{}\u201D", token_texts({lens.expected_tokens[token]})[0]);
  text += "\n\n";
  for (const auto& row : rows) {
    std::string line = fmt::format("{}  {}  {}  {}", fit_left(row[0], widths[0]),
                                   fit_right(row[1], widths[1]), fit_right(row[2], widths[2]), row[3]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

Picture lens_picture(const Lens& lens, const LensStack& stack, LensValue value) {
  require_value(stack, value);
  MatrixPlot plot;
  float largest = 0;
  for (const LensState& state : stack.states) {
    const std::vector<float>& numbers = value == LensValue::kNorms   ? state.norms
                                        : value == LensValue::kAdded ? state.added_norms
                                                                     : state.expected;
    if (numbers.empty()) continue;
    plot.rows.push_back(state_name(state));
    plot.matrix.weights.insert(plot.matrix.weights.end(), numbers.begin(), numbers.end());
    largest = std::max(largest, *std::max_element(numbers.begin(), numbers.end()));
  }
  plot.matrix.queries = static_cast<int>(plot.rows.size());
  plot.matrix.keys = static_cast<int>(stack.tokens.size());
  const bool probabilities = value == LensValue::kPredictions;
  plot.columns = probabilities ? token_texts(lens.expected_tokens) : read_labels(lens, stack);
  MatrixPictureOptions options;
  options.title = lens.target.empty() || &stack == &lens.encoder ? lens.source : lens.target;
  options.scale = probabilities                ? "probability of the expected token"
                  : value == LensValue::kNorms ? "norm"
                                               : "norm of what is added";
  options.most = probabilities ? 1 : std::max(1e-6, std::ceil(static_cast<double>(largest)));
  return matrix_picture({plot}, options);
}

}  // namespace heed
