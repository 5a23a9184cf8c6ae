#include "translate/values/languages/number_words.h"

#include <algorithm>

namespace heed::translate {
namespace {

const NumberWord* find_word(const NumberGrammar& grammar, const TextToken& token) {
  if (!token.is_word()) return nullptr;
  const auto found = std::ranges::find(grammar.words, std::string_view(token.lower), &NumberWord::word);
  return found == grammar.words.end() ? nullptr : &*found;
}

/// A number as it is read, word for word.
class Accumulator {
 public:
  explicit Accumulator(const NumberGrammar& grammar) : grammar_(grammar) {}

  /// Adds a word, with the link ("and", "-") before it; false if it does not continue the number.
  bool add(const NumberWord& word, std::string_view link) {
    if (!continues(word, link)) return false;
    switch (word.role) {
      case NumberWord::Role::kHundred:
        group_ *= word.value;
        break;
      case NumberWord::Role::kThousand:
        total_ += std::max<int64_t>(group_, 1) * word.value;
        group_ = 0;
        break;
      default:
        group_ += year_ ? group_ * 99 + word.value : word.value;
    }
    year_ = false;
    last_ = &word;
    return true;
  }
  int64_t value() const { return total_ + group_; }

 private:
  bool is_behind(NumberWord::Role role) const { return last_ != nullptr && last_->role == role; }
  bool continues(const NumberWord& word, std::string_view link) {
    const NumberWord::Role role = word.role;
    const bool is_first = last_ == nullptr;
    const bool after_large = is_first || is_behind(NumberWord::Role::kHundred) ||
                             is_behind(NumberWord::Role::kHundreds) || is_behind(NumberWord::Role::kThousand);
    if (!link.empty() && link == grammar_.after_ten) {
      return is_behind(NumberWord::Role::kTen) && group_ % 10 == 0 && role == NumberWord::Role::kUnit;
    }
    if (!link.empty() && (is_first || !after_large || role == NumberWord::Role::kHundred ||
                          role == NumberWord::Role::kThousand)) {
      return false;
    }
    switch (role) {
      case NumberWord::Role::kUnit:
        return after_large || (is_behind(NumberWord::Role::kTen) && grammar_.after_ten_optional);
      case NumberWord::Role::kTen:
      case NumberWord::Role::kTeen:
        return after_large || begins_year(word.value);
      case NumberWord::Role::kHundreds:
        return is_first || is_behind(NumberWord::Role::kThousand);
      case NumberWord::Role::kHundred:
        return !is_first && group_ > 0 && group_ < 100;
      case NumberWord::Role::kThousand:
        return total_ == 0 && (is_first || group_ > 0);
    }
    return false;
  }
  /// "nineteen" before "eighty-four"; "ten" before "sixty-six", which can be no minutes.
  bool begins_year(int64_t next) {
    constexpr int64_t kFirst = 10, kFirstWithMinutes = 13, kLast = 20, kMinutes = 60;
    year_ = grammar_.years && total_ == 0 && group_ >= (next < kMinutes ? kFirstWithMinutes : kFirst) &&
            group_ <= kLast;
    return year_;
  }

  const NumberGrammar& grammar_;
  int64_t total_ = 0, group_ = 0;  // complete thousands, and what is not multiplied yet
  bool year_ = false;
  const NumberWord* last_ = nullptr;
};

/// The link at the beginning of some tokens; empty if there is none.
std::string_view link_of(const NumberGrammar& grammar, TextTokens tokens) {
  if (tokens.empty()) return {};
  const bool joins = tokens[0].is_word() || !tokens[0].after_space;
  for (const std::string_view link : {grammar.after_ten, grammar.after_hundred}) {
    if (!link.empty() && tokens[0].is(link) && joins) return link;
  }
  return {};
}

}  // namespace

std::optional<WordNumber> read_number_words(const NumberGrammar& grammar, TextTokens tokens) {
  Accumulator number(grammar);
  WordNumber read;
  while (!read.ordinal) {
    const std::string_view link = read.tokens == 0 ? "" : link_of(grammar, tokens.subspan(read.tokens));
    const size_t next = read.tokens + (link.empty() ? 0 : 1);
    const NumberWord* word = next < tokens.size() ? find_word(grammar, tokens[next]) : nullptr;
    if (word == nullptr || !number.add(*word, link)) break;
    read.tokens = next + 1;
    read.ordinal = word->ordinal;
  }
  if (read.tokens == 0) return std::nullopt;
  read.value = number.value();
  // "One" is a pronoun, and "a hundred" an estimate.
  const bool vague = read.value == 0 || read.value == 1 || read.value == 100 || read.value == 1000;
  read.optional = (vague && read.tokens <= 2) || (read.ordinal && has_other_senses(read.value));
  return read;
}

std::optional<WordNumber> read_optional_number(std::span<const Phrase<int>> words, TextTokens tokens) {
  const Phrase<int>* phrase = find_phrase(words, tokens);
  if (phrase == nullptr) return std::nullopt;
  return WordNumber{phrase->meaning, phrase_length(phrase->words), false, true, true};
}

}  // namespace heed::translate
