#include "cli/options/text_table.h"

#include <algorithm>

#include "text/unicode/utf8.h"

namespace heed::cli {
namespace {

std::string padded(const std::string& text, int width, bool left) {
  const std::string spaces(static_cast<size_t>(std::max(0, width - display_width(text))), ' ');
  return left ? text + spaces : spaces + text;
}

}  // namespace

std::string text_table(const std::vector<std::vector<std::string>>& rows, size_t left) {
  std::vector<int> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      line += (c == 0 ? "" : "  ") + padded(row[c], widths[c], c < left);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace heed::cli
