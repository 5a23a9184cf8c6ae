// Numbers: figures or words, with what is before ("€", "minus") and behind them ("million", "%").
#include <algorithm>
#include <utility>

#include "translate/values/reading/figures.h"
#include "translate/values/reading/halves.h"
#include "translate/values/reading/value_readers.h"

namespace heed::translate {
namespace {

bool is_one_of(const TextToken& token, std::span<const std::string_view> words) {
  return std::ranges::find(words, std::string_view(token.lower)) != words.end();
}

constexpr size_t kMaxWhole = 9;  // digits

constexpr std::string_view kDecadeEndings[] = {"s", "er", "ern"};

/// Reads on behind the number proper.
class NumberReader {
 public:
  NumberReader(TextTokens tokens, const ValueLanguage& language) : tokens_(tokens), language_(language) {}

  std::optional<ReadValue> read() {
    read_before();
    if (!read_figures_or_words()) return std::nullopt;
    read_scales();
    read_behind();
    if (says_minus_) {
      if (language_.minus_is_less() && !is_temperature()) return std::nullopt;
      negative_ = true;
    }
    value_.begin = tokens_[0].begin;
    value_.end = tokens_[at_ - 1].end;
    if (negative_ && value_.normal != "0") value_.normal.insert(0, "-");
    if (!otherwise_.empty()) {
      Value other = value_;
      other.normal = otherwise_;
      other.decimals = 0;  // the other of "10,000" is a whole number, or is not written
      other.unit = unit_otherwise_ == Unit::kNone ? value_.unit : unit_otherwise_;
      value_.other_reading = {other};
    }
    return ReadValue{std::move(value_), at_};
  }

 private:
  TextTokens left() const { return tokens_.subspan(at_); }
  bool at_end() const { return at_ == tokens_.size(); }
  bool is_temperature() const { return is_same_unit(value_.unit, Unit::kDegree); }

  void read_before() {
    const bool sign =
        tokens_[0].is("-") && tokens_[0].after_space && tokens_.size() > 1 && !tokens_[1].after_space;
    for (const std::string_view minus : language_.minus)
      says_minus_ = says_minus_ || begins_with(left(), minus);
    negative_ = sign;
    if (sign || says_minus_) ++at_;
    if (at_end()) return;
    if (const Phrase<Unit>* unit = find_phrase(language_.units_before, left())) {
      value_.unit = unit->meaning;
      at_ += phrase_length(unit->words);
    }
  }

  bool read_figures_or_words() {
    if (at_end()) return false;
    if (const auto half = read_half(left(), language_)) {
      value_.normal = half->normal;
      if (half->unit != Unit::kNone) value_.unit = half->unit;
      value_.in_words = left()[0].is_word();
      value_.part = half->part;
      otherwise_ = half->otherwise;
      at_ += half->tokens;
      return true;
    }
    if (read_leading_point()) return true;
    if (const auto figures = read_figures(left(), language_)) {
      value_.normal = figures->normal;
      value_.ill_written = figures->other_mark;
      value_.decimals = figures->decimals;
      otherwise_ = figures->otherwise;
      at_ += figures->tokens;
      skip_dash_of_amount();
      read_ordinal_ending();
      return true;
    }
    if (negative_ && tokens_[0].is("-")) return false;
    const auto words = language_.read_words(left());
    if (!words) return false;
    value_.normal = std::to_string(words->value);
    value_.in_words = true;
    value_.ordinal = words->ordinal;
    value_.decade = words->decade;
    value_.part = words->part;
    value_.optional = words->optional;
    value_.determiner = words->determiner;
    value_.unit = words->unit == Unit::kNone ? value_.unit : words->unit;
    if (words->otherwise != 0) otherwise_ = std::to_string(words->otherwise);
    at_ += words->tokens;
    read_spoken_decimals(*words);
    return true;
  }

  /// "five point two", "drei Komma vierzehn": behind the word, digits or tens.
  void read_spoken_decimals(const WordNumber& whole) {
    constexpr int64_t kMost = 99;
    if (whole.ordinal || whole.determiner || whole.half) return;
    const size_t mark = length_of_any(language_.decimal_words, left());
    if (mark == 0) return;
    std::string fraction;
    size_t tokens = mark;
    while (at_ + tokens < tokens_.size() && tokens_[at_ + tokens].is_word()) {
      const auto next = language_.read_words(left().subspan(tokens));
      if (!next || next->ordinal || next->determiner || next->half || next->value > kMost) break;
      fraction += std::to_string(next->value);
      tokens += next->tokens;
    }
    if (fraction.empty()) return;
    value_.normal = decimal_number(value_.normal, fraction);
    value_.decimals = fraction.size();
    value_.optional = false;
    at_ += tokens;
  }

  /// "5,-": no cents.
  void skip_dash_of_amount() {
    const TextTokens behind = left();
    if (behind.size() < 2 || !behind[0].is(std::string_view(&language_.decimal_mark, 1))) return;
    if (behind[0].after_space || behind[1].after_space || !behind[1].is("-")) return;
    if (behind.size() == 2 || !behind[2].is_digits()) at_ += 2;
  }

  /// "Two euros eighty", "one metre seventy-five", "3 Euro 50", "three euros and fifty cents".
  void read_smaller_unit() {
    const bool length = value_.unit == Unit::kMetre;
    if ((!length && !is_money(value_.unit) && value_.unit != Unit::kPounds) || value_.unit == Unit::kCent)
      return;
    if (!parse_integer(value_.normal, kMaxWhole) || at_end()) return;
    if (!tokens_[at_].after_space) return;  // "a $50 lamp"
    const size_t link = length_of_any(language_.smaller_unit_links, left());
    const TextTokens tokens = left().subspan(link);
    const auto smaller = smaller_number(tokens);
    if (!smaller) return;
    const TextTokens behind = tokens.subspan(smaller->tokens);
    const FoundUnit unit = find_unit(behind, language_);
    const bool named =
        length ? unit.unit == Unit::kCentimetre : unit.unit == Unit::kCent || unit.unit == Unit::kPenny;
    constexpr size_t kLongWord = 5;  // letters: "two euros eighty a day", but not "two euros eighty dollars"
    const bool alone = link == 0 && smaller->value >= 10 &&
                       (behind.empty() || !behind[0].is_word() || behind[0].lower.size() <= kLongWord);
    if (!named && (!alone || unit.tokens > 0 || find_phrase(language_.periods, behind) != nullptr)) return;
    constexpr size_t kDecimals = 2;
    std::string digits = std::to_string(smaller->value);
    digits.insert(0, kDecimals - digits.size(), '0');
    value_.normal = decimal_number(value_.normal, digits);
    value_.decimals = kDecimals;
    value_.optional = false;
    at_ += link + smaller->tokens + (named ? unit.tokens : 0);
  }

  /// A whole number below 100 in words, or in figures without marks.
  std::optional<WordNumber> smaller_number(TextTokens tokens) const {
    constexpr int64_t kMost = 99;
    if (tokens.empty()) return {};
    if (tokens[0].is_digits()) {
      const bool more = tokens.size() > 1 && !tokens[1].after_space && !tokens[1].is_word() &&
                        tokens.size() > 2 && !tokens[2].after_space;  // "3 euros 50.5"
      if (more || tokens[0].lower.size() > 2) return {};
      return WordNumber{.value = small_number(tokens[0]), .tokens = 1};
    }
    auto words = language_.read_words(tokens);
    if (!words || words->ordinal || words->determiner || words->half || words->value > kMost) return {};
    return words;
  }

  /// ".08"
  bool read_leading_point() {
    if (at_ + 1 >= tokens_.size() || !tokens_[at_].is(".") || tokens_[at_ + 1].after_space) return false;
    const bool begins = tokens_[at_].after_space || at_ > 0;
    if (!begins || !tokens_[at_ + 1].is_digits() || language_.decimal_mark != '.') return false;
    value_.normal = decimal_number("0", tokens_[at_ + 1].lower);
    at_ += 2;
    return true;
  }

  /// "150-million", "sixty-percent"; but "$5-$10" is a range.
  void skip_hyphen() {
    const bool hyphen = at_ + 1 < tokens_.size() && tokens_[at_].is("-") && !tokens_[at_].after_space;
    if (!hyphen || tokens_[at_ + 1].after_space) return;
    const TextTokens behind = tokens_.subspan(at_ + 1);
    if (find_phrase(language_.scales, behind) || unit_length(behind, language_) > 0) ++at_;
  }

  /// "5th", "30-jährig", "1990s"
  void read_ordinal_ending() {
    if (at_end()) return;
    const TextToken& next = tokens_[at_];
    const bool joined = !next.after_space;
    if (joined && is_one_of(next, language_.ordinal_endings)) {
      value_.ordinal = true;
      if (language_.one_ordinal_ending &&
          value_.normal + next.lower != language_.write_ordinal(value_.normal))
        value_.ill_written = true;
      ++at_;
    } else if (joined && next.is(".") && language_.ordinal_period) {
      const bool last = at_ + 1 == tokens_.size() || tokens_[at_ + 1].capitalized;
      value_.ordinal = value_.normal.size() <= 2 && !last;
    } else if (joined) {
      read_decade();
    }
  }

  /// "1990s", "1990's", "90er Jahre": a decade, of which others say the last two digits only.
  void read_decade() {
    const bool hyphen = begins_with(left(), "- er") && !left()[1].after_space;  // "1990-er"
    const TextTokens behind = left().subspan(hyphen ? 1 : 0);
    const size_t digits = value_.normal.size();
    const bool decade = names_decade(value_.normal);
    const bool of_year = behind[0].is("'") && decade && digits == kYearDigits;
    if (of_year ? !begins_with(behind, "' s") : !is_one_of(behind[0], kDecadeEndings)) return;
    if (digits == kYearDigits) otherwise_ = value_.normal.substr(2);
    const bool years = begins_with(behind, "er jahre") || begins_with(behind, "er jahren") ||
                       begins_with(behind, "er - jahre") || begins_with(behind, "er - jahren");
    // "30s" may be an age, "747s" are aircraft, and "1900s" a century; nobody means the "200s".
    const bool no_decade = digits == 3 && value_.normal.ends_with("00");
    value_.optional = !no_decade && (!decade || (digits == 2 && !years));
    value_.decade = decade;
  }

  /// The zeros of the letter directly behind an amount: "£14m", "$5k", "50K"; 0 if there is none.
  int zeros_of_letter() const {
    constexpr int kThousand = 3, kMillion = 6;
    if (tokens_[at_].after_space || !tokens_[at_ - 1].is_digits()) return 0;
    if (tokens_[at_].is("k")) return kThousand;
    return tokens_[at_].is("m") && value_.unit != Unit::kNone ? kMillion : 0;
  }

  void read_scales() {
    while (!at_end()) {
      skip_hyphen();
      if (const int zeros = zeros_of_letter(); zeros > 0) {
        if (value_.unit == Unit::kNone) {  // a run: "5K"
          otherwise_ = value_.normal;
          unit_otherwise_ = Unit::kKilometre;
        }
        value_.normal = with_zeros(value_.normal, zeros);
        ++at_;
        return;
      }
      const Phrase<int>* scale = find_phrase(language_.scales, left());
      if (scale == nullptr || value_.ordinal) return;
      value_.normal = with_zeros(value_.normal, scale->meaning);
      value_.decimals = 0;
      if (!otherwise_.empty()) otherwise_ = with_zeros(otherwise_, scale->meaning);
      // "A million" is a number, "a thousand" an estimate, "ein paar Millionen" another.
      constexpr int kMillion = 6;
      const bool estimate = value_.determiner && !value_.normal.starts_with('1');
      if (!estimate && scale->meaning >= kMillion && value_.normal.size() > kMillion) value_.optional = false;
      at_ += phrase_length(scale->words);
    }
  }

  /// Whether the next tokens, a unit's, are the sign of a currency that belongs to figures directly behind
  /// it: "a $50 lamp".
  bool begins_amount(size_t unit) const {
    const TextTokens behind = left().subspan(unit);
    return find_phrase(language_.units_before, left()) != nullptr && !behind.empty() &&
           behind[0].is_digits() && !behind[0].after_space;
  }

  /// "De" of "un millón de metros cúbicos".
  void skip_scale_link() {
    std::string_view link = language_.scale_link;
    if (link.starts_with(' ')) link.remove_prefix(1);
    if (link.empty() || at_end() || at_ == 0 || !tokens_[at_].is(link)) return;
    const bool scaled = find_phrase(language_.scales, tokens_.subspan(at_ - 1)) != nullptr;
    if (scaled && find_unit(left().subspan(1), language_).tokens > 0) ++at_;
  }

  /// "78 m2" is 78 m², and the 2 no number.
  void skip_exponent() {
    using enum Unit;
    const bool length = value_.unit == kKilometre || value_.unit == kMetre || value_.unit == kCentimetre ||
                        value_.unit == kMillimetre;
    if (!length || at_end() || tokens_[at_].after_space) return;
    if (tokens_[at_].is("2") && value_.unit == kMetre) value_.unit = kSquareMetre;
    if (tokens_[at_].is("2") && value_.unit == kKilometre) value_.unit = kSquareKilometre;
    if (tokens_[at_].is("3") && value_.unit == kMetre) value_.unit = kCubicMetre;
    if (tokens_[at_].is("2") || tokens_[at_].is("3")) ++at_;
  }

  void read_behind() {
    if (!at_end()) {
      skip_hyphen();
      skip_scale_link();
      // "€3.5%" are no percent, a fifth bar is no pressure, and "octavo grado" no temperature.
      const FoundUnit unit = find_unit(left(), language_);
      const bool counted =
          value_.ordinal && (is_same_unit(unit.unit, Unit::kBar) || is_same_unit(unit.unit, Unit::kDegree));
      if (unit.tokens > 0 && !counted && !begins_amount(unit.tokens) &&
          (value_.unit == Unit::kNone || is_same_unit(value_.unit, unit.unit))) {
        value_.unit = unit.unit;
        if (unit.unit == Unit::kPercent && value_.normal != "1")
          value_.optional = false;  // "a hundred percent"
        at_ += unit.tokens;
        if (unit.unit == Unit::kBars && value_.normal.find('.') != std::string::npos)
          value_.unit = Unit::kBar;  // nobody counts 2.4 bars to drink at
        skip_exponent();
        read_smaller_unit();
      }
    }
    for (const std::string_view below : language_.below_zero) {
      // "drei Grad minus", and without the unit "10 below zero".
      const size_t length = phrase_length(below);
      const bool temperature = is_temperature() || (value_.unit == Unit::kNone && length > 1);
      if (at_end() || !temperature || negative_ || says_minus_ || !begins_with(left(), below)) continue;
      if (value_.unit == Unit::kNone) value_.unit = Unit::kDegree;
      negative_ = true;
      at_ += length;
    }
  }

  TextTokens tokens_;
  const ValueLanguage& language_;
  Value value_;
  std::string otherwise_;
  Unit unit_otherwise_ = Unit::kNone;  // kNone: the same unit
  bool negative_ = false, says_minus_ = false;
  size_t at_ = 0;
};

}  // namespace

std::optional<ReadValue> read_number(TextTokens tokens, const ValueLanguage& language) {
  return NumberReader(tokens, language).read();
}

bool begins_with_noun(TextTokens tokens, const ValueLanguage& language) {
  if (tokens.empty() || !tokens[0].is_word() || !tokens[0].after_space) return false;
  if (tokens[0].in_capitals) return false;  // "17.00 GMT"
  if (is_one_of(tokens[0], language.plurals)) return true;
  constexpr size_t kLeast = 5;  // letters of a noun in the plural; not "this"
  if (language.counts_end_in_s && tokens[0].lower.ends_with('s')) return tokens[0].lower.size() >= kLeast;
  return language.capital_nouns && tokens[0].capitalized && !read_weekday(tokens, language) &&
         find_phrase(language.months, tokens) == nullptr &&
         find_phrase(language.short_months, tokens) == nullptr;
}

std::optional<ReadValue> read_marker(TextTokens tokens, const ValueLanguage& language) {
  constexpr int kMaxMarker = 99;
  if (tokens.size() < 3 || (!tokens[1].is(".") && !tokens[1].is(")")) || tokens[1].after_space ||
      !tokens[2].after_space) {
    return std::nullopt;
  }
  // "10. bis 12. Mai" begins with a day.
  const size_t link = language.ordinal_period ? length_of_any(language.ranges, tokens.subspan(2)) : 0;
  if (link > 0 && tokens.size() > link + 2 && tokens[link + 2].is_digits()) return std::nullopt;
  const int number = small_number(tokens[0]);
  const bool letter = tokens[0].is_word() && tokens[0].lower.size() == 1 && tokens[1].is(")");
  if (!letter && (number < 1 || number > kMaxMarker)) return std::nullopt;
  Value marker{.kind = ValueKind::kMarker, .begin = tokens[0].begin, .end = tokens[1].end};
  marker.normal = letter ? tokens[0].lower : std::to_string(number);
  return ReadValue{std::move(marker), 2};
}

}  // namespace heed::translate
