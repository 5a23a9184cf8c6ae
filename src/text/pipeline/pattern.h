// Patterns of tokenizer.json: literal text, or a regular expression in Oniguruma's syntax, which Hugging
// Face's tokenizers use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The bytes [begin, end) of a text.
struct Match {
  uint32_t begin = 0, end = 0;
};

/// Immutable and thread-safe.
class Pattern {
 public:
  /// Neither may be empty.
  static Pattern literal(std::string text);
  /// Throws kFormat, with Oniguruma's message, for an invalid expression.
  static Pattern regex(const std::string& expression);

  /// All matches from left to right, without overlaps. Throws kText if a regular expression takes too many
  /// steps in a text.
  std::vector<Match> find_in(std::string_view text) const;
  /// The text with each match replaced.
  std::string replaced(std::string_view text, std::string_view by) const;

 private:
  struct Regex;
  std::string text_;  // of a literal
  std::shared_ptr<const Regex> regex_;
};

}  // namespace heed
