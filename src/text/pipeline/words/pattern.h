// Patterns of tokenizer.json: literal text, or a regular expression in Oniguruma's syntax, which Hugging
// Face's tokenizers use.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The bytes [begin, end) of a text.
struct Match {
  uint32_t begin = 0, end = 0;
};

/// The steps that regular expressions may take in one text: while a budget exists, all searches of its thread
/// share it. A search takes from it how far it reads (text/pipeline/words/counted_expression.h), and the
/// retries
/// ("backtracking") beyond the first few. Without a budget, each find_in() has its own. It counts, so that a
/// text that fails does so on every machine.
class PatternBudget {
 public:
  /// For a text of so many bytes.
  explicit PatternBudget(size_t bytes);
  ~PatternBudget();
  PatternBudget(const PatternBudget&) = delete;
  PatternBudget& operator=(const PatternBudget&) = delete;

 private:
  friend class Pattern;
  uint64_t left_;
  PatternBudget* outer_;
};

/// Immutable and thread-safe.
class Pattern {
 public:
  /// Neither may be empty.
  static Pattern literal(std::string text);
  /// Throws kFormat, with Oniguruma's message, for an invalid expression.
  static Pattern regex(const std::string& expression);

  /// All matches from left to right, without overlaps. Throws kText if regular expressions exceed the
  /// budget of a text, and Cancelled (base/stop.h).
  std::vector<Match> find_in(std::string_view text) const;
  /// The text with each match replaced. Throws TextTooLong if it would have more bytes than `limit`.
  std::string replaced(std::string_view text, std::string_view by,
                       size_t limit = std::numeric_limits<size_t>::max()) const;

 private:
  struct Regex;
  /// The next match from `at` on, in found(). Takes from the budget. The result is that of onig_search().
  int search(std::string_view text, size_t at, PatternBudget& budget) const;
  std::string text_;  // of a literal
  std::shared_ptr<const Regex> regex_;
};

}  // namespace heed
