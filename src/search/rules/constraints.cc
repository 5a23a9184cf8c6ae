#include "search/rules/constraints.h"

#include <algorithm>
#include <memory>

#include "base/text/ascii.h"
#include "base/text/option_error.h"
#include "search/rules/forbidden_words.h"
#include "search/rules/piece_start.h"
#include "text/terms/protected_spans.h"
#include "text/unicode/whitespace.h"

namespace heed::search {

RequiredPhrase required_phrase(const TranslationTokenizer& tokenizer, const std::string& text) {
  RequiredPhrase phrase{.ids = tokenizer.target_phrase(text)};
  // The tokenizer's normalization removes characters such as U+200B.
  if (strip(text).empty() || strip(tokenizer.decode(phrase.ids)).empty()) {
    fail_option("$require: a required text must not be blank");
  }
  phrase.ends_in_digit = is_ascii_digit(text.back());
  if (std::ranges::count(phrase.ids, tokenizer.unknown_id()) > 0) {
    fail_option("$require: the model cannot write '{}', since its vocabulary lacks some of the characters",
                text);
  }
  return phrase;
}

std::string required_text(const TranslationTokenizer& tokenizer, const std::string& text) {
  return tokenizer.decode(required_phrase(tokenizer, text).ids);
}

SearchOptions constrained_options(const SearchOptions& options, const TranslationTokenizer& tokenizer,
                                  const Constraints& constraints) {
  SearchOptions result = options;
  if (!constraints.required.empty() && result.piece_starts == nullptr) {
    result.piece_starts =
        std::make_shared<const std::vector<PieceStart>>(piece_starts(tokenizer.vocabulary()));
  }
  if (constraints.forbidden.empty()) return result;
  const auto words = std::make_shared<const ForbiddenWords>(tokenizer.vocabulary(), constraints.forbidden);
  if (const std::string word = words->found_in(constraints.prefix); !word.empty()) {
    fail_option("$prefix contains '{}', which $forbid excludes: leave out one of them", word);
  }
  for (const std::string& text : constraints.required) {
    const std::string word = words->found_in(text);
    if (!word.empty()) fail_option("$require: '{}' contains '{}', which $forbid excludes", text, word);
  }
  result.forbidden_words = words;
  return result;
}

ConstrainedSentence::ConstrainedSentence(const TranslationTokenizer& tokenizer,
                                         const std::vector<int32_t>& source, const SearchOptions& options,
                                         const Constraints& constraints)
    : options_(constrained_options(options, tokenizer, constraints)),
      sentence_{.number = 0, .source = source} {
  sentence_.prefix = tokenizer.target_phrase(constraints.prefix);
  for (const std::string& text : constraints.required) {
    required_.push_back(required_text(tokenizer, text));
    phrases_.push_back(required_phrase(tokenizer, text));
  }
}

bool ConstrainedSentence::is_satisfied_by(const std::string& translation) const {
  std::vector<RequiredText> wanted;
  for (const std::string& text : required_) wanted.push_back({text, SpanKind::kTerm});
  return missing_texts(translation, wanted).empty();
}

SearchSentence ConstrainedSentence::requiring() const {
  SearchSentence result = sentence_;
  result.required = phrases_;
  return result;
}

}  // namespace heed::search
