#include "inspect/attribution/attribution_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "inspect/draw/matrix_picture.h"
#include "inspect/terminal/column_table.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

constexpr Colour kFor{0.26, 0.57, 0.78}, kAgainst{0.84, 0.38, 0.30};  // visible on dark and light backgrounds

/// The tokens that any of the explained ones reads: source tokens, then target tokens.
std::vector<std::string> read_texts(const Attribution& attribution) {
  size_t most = 0;
  for (const TokenAttribution& each : attribution.tokens) most = std::max(most, each.values.size());
  std::vector<std::string> tokens = attribution.source_tokens;
  tokens.insert(tokens.end(), attribution.target_tokens.begin(), attribution.target_tokens.end());
  tokens.resize(std::min(most, tokens.size()));
  return token_texts(tokens);
}

std::string explained_text(const Attribution& attribution, const TokenAttribution& each) {
  std::string token = token_texts({attribution.target_tokens[static_cast<size_t>(each.token)]})[0];
  if (each.instead.empty()) return token;
  return fmt::format("{} and not {}", token, token_texts({each.instead})[0]);
}

std::string signed_number(double value) {
  return fmt::format("{:+.2f}", value);
}

std::string bars(const Attribution& attribution, int columns, TerminalColours colours) {
  const TokenAttribution& each = attribution.tokens[0];
  const std::vector<std::string> tokens = read_texts(attribution);
  int width = display_width("sum");
  for (const std::string& token : tokens) width = std::max(width, display_width(token));
  width = std::min(width, columns / 3);
  double largest = 1e-9;
  for (const float value : each.values) largest = std::max(largest, std::abs(static_cast<double>(value)));
  const int room = std::max(1, columns - width - 14);
  std::string text;
  for (size_t n = 0; n < each.values.size(); ++n) {
    const auto value = static_cast<double>(each.values[n]);
    std::string bar;
    for (int64_t k = std::lround(std::abs(value) / largest * room); k > 0; --k) bar += "\u2588";
    if (!bar.empty()) bar = "  " + in_colour(bar, value < 0 ? kAgainst : kFor, colours);
    text += fmt::format("  {}  {:>7}{}\n", fit_left(tokens[n], width), signed_number(value), bar);
  }
  return text + fmt::format("  {}  {:>7}\n", fit_left("sum", width), signed_number(each.sum));
}

}  // namespace

std::string attribution_table(const Attribution& attribution, int columns, TerminalColours colours) {
  require_table_columns(columns);
  std::string text;
  if (attribution.tokens.size() == 1) {
    const TokenAttribution& each = attribution.tokens[0];
    text = "what speaks for " +
           quoted_choice(attribution.target_tokens[static_cast<size_t>(each.token)], each.instead);
    if (attribution.method != AttributionMethod::kRollout) {
      text += fmt::format(": {} {:.3f}", each.instead.empty() ? "ln P" : "difference of ln P",
                          each.log_probability);
    }
    return text + "\n\n" + bars(attribution, columns, colours);
  }
  const std::vector<std::string> tokens = read_texts(attribution);
  std::vector<std::vector<std::string>> rows{{""}};
  for (const TokenAttribution& each : attribution.tokens)
    rows[0].push_back(explained_text(attribution, each));
  for (size_t n = 0; n < tokens.size(); ++n) {
    auto& row = rows.emplace_back(std::vector<std::string>{tokens[n]});
    for (const TokenAttribution& each : attribution.tokens) {
      row.push_back(n < each.values.size() ? signed_number(static_cast<double>(each.values[n])) : "");
    }
  }
  const auto add = [&](const std::string& name, const auto& value_of) {
    auto& row = rows.emplace_back(std::vector<std::string>{name});
    for (const TokenAttribution& each : attribution.tokens) row.push_back(signed_number(value_of(each)));
  };
  add("sum", [](const TokenAttribution& each) { return each.sum; });
  if (attribution.method != AttributionMethod::kRollout) {
    add("ln P", [](const TokenAttribution& each) { return each.log_probability; });
  }
  return column_table(rows, columns);
}

Picture attribution_picture(const Attribution& attribution) {
  MatrixPlot plot;
  plot.columns = read_texts(attribution);
  plot.matrix.keys = static_cast<int>(plot.columns.size());
  plot.matrix.queries = static_cast<int>(attribution.tokens.size());
  float least = 0, most = 0;
  for (const TokenAttribution& each : attribution.tokens) {
    plot.rows.push_back(explained_text(attribution, each));
    for (const float value : each.values) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
    auto& cells = plot.matrix.weights;
    cells.insert(cells.end(), each.values.begin(), each.values.end());
    cells.resize(cells.size() + plot.columns.size() - each.values.size(),
                 -std::numeric_limits<float>::infinity());
  }
  MatrixPictureOptions options;
  options.title = attribution.target.empty() ? attribution.source : attribution.target;
  options.scale = attribution.method == AttributionMethod::kRollout ? "share" : "contribution to ln P";
  set_colour_range(options, static_cast<double>(least), static_cast<double>(most));
  options.masked = "not read";
  options.masked_number = "";
  options.decimals = attribution.method == AttributionMethod::kRollout ? 2 : 1;
  return matrix_picture({plot}, options);
}

}  // namespace heed
