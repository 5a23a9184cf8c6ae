#include "inspect/terminal/column_table.h"

#include <algorithm>

#include "base/check.h"
#include "inspect/terminal/terminal_text.h"
#include "inspect/trace/label.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

constexpr int kLeastTableColumns = 40, kTableGap = 2;

}  // namespace

void require_table_columns(int columns) {
  if (columns < kLeastTableColumns) {
    fail(ErrorKind::kUsage, "a terminal of {} columns is too narrow for this table: use at least {}", columns,
         kLeastTableColumns);
  }
}

std::string column_table(const std::vector<std::vector<std::string>>& rows, int columns, int cell_columns) {
  require_table_columns(columns);
  int first = 1, widest = 1;
  for (const auto& row : rows) {
    first = std::max(first, display_width(row[0]));
    for (size_t n = 1; n < row.size(); ++n) widest = std::max(widest, display_width(row[n]));
  }
  first = std::min(first, columns / 2);
  widest = std::min(widest, cell_columns);
  const size_t count = rows[0].size() - 1;
  const auto fitting = static_cast<size_t>(std::max(1, (columns - first) / (widest + kTableGap)));
  std::string text;
  for (size_t begin = 0; begin < count; begin += fitting) {
    if (begin > 0) text += "\n";
    for (const auto& row : rows) {
      std::string line = fit_left(row[0], first);
      for (size_t n = begin; n < std::min(count, begin + fitting); ++n) {
        line += std::string(kTableGap, ' ') + fit_left(row[n + 1], widest);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }
  return text;
}

std::vector<std::string> token_texts(const std::vector<std::string>& tokens) {
  std::vector<std::string> texts;
  for (const Label& label : token_labels(tokens, "\u2581")) texts.push_back(label.text);
  return texts;
}

std::vector<std::string> translated_token_texts(const std::vector<std::string>& tokens) {
  std::vector<std::string> texts = token_texts(tokens);
  if (!tokens.empty() && is_special_token(tokens[0])) texts[0] = token_texts({"<s>"})[0];
  return texts;
}

std::string quoted_choice(const std::string& token, const std::string& instead) {
  const std::string quoted = fmt::format("\u201C{}\u201D", token_texts({token})[0]);
  return instead.empty() ? quoted : fmt::format("{} and not {}", quoted, quoted_choice(instead, ""));
}

}  // namespace heed
