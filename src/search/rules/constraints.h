// What a translation must begin with, contain and avoid.
#pragma once

#include <string>
#include <vector>

#include "search/hypothesis.h"
#include "search/rules/search_options.h"
#include "text/tokenizers/translation_tokenizer.h"

namespace heed::search {

struct Constraints {
  std::string prefix = {};  ///< every translation begins with this; its last word must be complete
  /// Every translation contains these, as written or with a capital first letter. If the model's own
  /// translation lacks one, the line is translated again with a constrained search; in a line of several
  /// sentences, the text goes into the one that loses the least probability.
  std::vector<std::string> required = {};
  /// Words and phrases that no translation contains (search/rules/forbidden_words.h).
  std::vector<std::string> forbidden = {};
};

/// The tokens of a required text. Throws kUsage for a blank text, and for one that the vocabulary cannot
/// write.
RequiredPhrase required_phrase(const TranslationTokenizer& tokenizer, const std::string& text);

/// A required text as the model writes it: after the normalization of its tokenizer, which may change the
/// case or the form of characters. Throws the errors of required_phrase().
std::string required_text(const TranslationTokenizer& tokenizer, const std::string& text);

/// Search options with the forbidden words and what required texts need. Throws kUsage if the prefix or a
/// required text contains a forbidden word.
SearchOptions constrained_options(const SearchOptions& options, const TranslationTokenizer& tokenizer,
                                  const Constraints& constraints);

/// One sentence and its constraints, for callers that search without a Translator: attention traces and
/// search trees.
class ConstrainedSentence {
 public:
  /// `source` with its end token. Throws the errors of the functions above.
  ConstrainedSentence(const TranslationTokenizer& tokenizer, const std::vector<int32_t>& source,
                      const SearchOptions& options, const Constraints& constraints);

  /// Those given, with the constraints.
  const SearchOptions& options() const { return options_; }
  /// Number 0, with the prefix but without the required texts. Callers search with this first, and with
  /// requiring() if a required text is missing, as a Translator does.
  const SearchSentence& sentence() const { return sentence_; }
  bool is_satisfied_by(const std::string& translation) const;
  SearchSentence requiring() const;

 private:
  SearchOptions options_;
  SearchSentence sentence_;
  std::vector<std::string> required_;
  std::vector<RequiredPhrase> phrases_;
};

}  // namespace heed::search
