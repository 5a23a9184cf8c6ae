#include "metrics/ngrams.h"

#include "base/check.h"
#include "text/unicode/utf8.h"

namespace heed {

NgramCounts count_ngrams(std::u32string_view symbols, size_t order) {
  NgramCounts counts;
  for (size_t begin = 0; begin + order <= symbols.size(); ++begin) ++counts[symbols.substr(begin, order)];
  return counts;
}

std::u32string WordNumbers::number(const std::vector<std::string>& words) {
  std::u32string numbers;
  numbers.reserve(words.size());
  for (const std::string& word : words) {
    numbers.push_back(numbers_.emplace(word, static_cast<char32_t>(numbers_.size())).first->second);
  }
  return numbers;
}

void check_scorable(const std::vector<std::string>& hypotheses,
                    const std::vector<std::vector<std::string>>& references) {
  if (hypotheses.empty()) fail(ErrorKind::kUsage, "there are no lines to score");
  if (references.empty()) fail(ErrorKind::kUsage, "there are no references");
  const auto check_text = [](const std::string& text, size_t line, std::string_view where) {
    if (const auto offset = find_invalid_utf8(text)) {
      fail(ErrorKind::kText, "line {} of the {} is not valid UTF-8 (byte {} of the line)", line + 1, where,
           *offset + 1);
    }
  };
  for (size_t line = 0; line < hypotheses.size(); ++line) check_text(hypotheses[line], line, "hypotheses");
  for (size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() != hypotheses.size()) {
      fail(ErrorKind::kUsage, "reference {} has {} lines, but the hypotheses have {}: they must be parallel",
           r + 1, references[r].size(), hypotheses.size());
    }
    for (size_t line = 0; line < references[r].size(); ++line)
      check_text(references[r][line], line, "references");
  }
}

std::vector<std::string> references_of_line(const std::vector<std::vector<std::string>>& references,
                                            size_t line) {
  std::vector<std::string> column;
  for (const std::vector<std::string>& reference : references) column.push_back(reference[line]);
  return column;
}

}  // namespace heed
