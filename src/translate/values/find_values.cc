#include "translate/values/find_values.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "text/terms/protected_spans.h"
#include "translate/values/figures.h"
#include "translate/values/value_readers.h"

namespace heed::translate {
namespace {

/// Whether a protected span is an address or a code, rather than an emoji or a format string.
bool is_text_value(std::string_view span) {
  const auto has = [&](std::string_view part) { return span.find(part) != std::string_view::npos; };
  const bool digits =
      std::ranges::any_of(span, [](char c) { return is_ascii_digit(static_cast<unsigned char>(c)); });
  const bool letters = std::ranges::any_of(span, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return is_ascii_letter(byte) || byte >= 0x80;
  });
  const bool address = has("@") || has("://") || has("www.");
  const bool parts = has(" ") || has("-") || has("/") || has("+") || has(".");
  constexpr size_t kShortest = 5;  // "d.h" is no file
  if (!digits && span.size() < kShortest) return false;
  if (span.starts_with("⟦") || span.starts_with('&') || span.starts_with('%')) return false;
  return address || (digits && (letters || parts)) || (letters && has("."));
}

/// "XIV" is 14; 0 for what is no Roman number.
int roman_number(const TextToken& token) {
  if (!token.in_capitals || token.lower.size() > 8) return 0;
  if (token.lower.size() == 1 && !token.is("v") && !token.is("x")) return 0;
  int total = 0, last = 0;
  for (auto letter = token.lower.rbegin(); letter != token.lower.rend(); ++letter) {
    constexpr std::string_view kLetters = "ivxlc";
    constexpr std::array kWorth{1, 5, 10, 50, 100};
    const size_t index = kLetters.find(*letter);
    if (index == std::string_view::npos) return 0;
    total += kWorth[index] < last ? -kWorth[index] : kWorth[index];
    last = std::max(last, kWorth[index]);
  }
  return total;
}

class Finder {
 public:
  Finder(std::string_view text, const ValueLanguage& language)
      : text_(text), language_(language), tokens_(tokenize_values(text)) {
    language_.other_marks = other_marks(tokens_, language);
    if (!may_hold_text_values()) return;
    for (const ProtectedSpan& span : find_protected_spans(text)) {
      if (span.kind != SpanKind::kExact) continue;
      if (is_text_value(text.substr(span.begin, span.end - span.begin))) spans_.push_back(span);
    }
  }

  TextValues find() {
    while (at_ < tokens_.size()) {
      note_part_of_day();
      const auto value = read();
      if (!value) {
        ++at_;
        continue;
      }
      result_.values.push_back(value->value);
      if (is_certainly_time(result_.values.back(), value->tokens)) {
        result_.values.back().other_reading.clear();
        result_.values.back().optional = false;
      }
      at_ += value->tokens;
      complete_range(value->tokens);
    }
    return std::move(result_);
  }

 private:
  TextTokens left() const { return TextTokens(tokens_).subspan(at_); }

  /// Whether to look for addresses and codes, which takes longer than everything else.
  bool may_hold_text_values() const {
    for (size_t n = 0; n < tokens_.size(); ++n) {
      const TextToken& token = tokens_[n];
      if (token.is("@") || token.is("www")) return true;
      if (token.is_digits() && token.lower[0] == '0' && token.lower.size() > 1 && token.after_space)
        return true;
      if (n + 1 == tokens_.size() || tokens_[n + 1].after_space) continue;
      const TextToken& next = tokens_[n + 1];
      const bool code = (token.is_word() && next.is_digits()) || (token.is_digits() && next.in_capitals);
      if (code || (token.is("+") && next.is_digits()) || (token.is("/") && next.is("/"))) return true;
      const bool joins = n > 0 && !token.after_space && (token.is(".") || token.is("-") || token.is("/"));
      const TextToken* before = joins ? &tokens_[n - 1] : nullptr;
      if (before == nullptr) continue;
      if (token.is(".") && next.is_word() && next.lower.size() > 1) return true;   // heed.de
      if (!token.is(".") && before->in_capitals && next.is_digits()) return true;  // LH-4713
      const bool more =
          n + 2 < tokens_.size() && tokens_[n + 2].is(token.lower) && !tokens_[n + 2].after_space;
      if (before->is_digits() && next.is_digits() && more) return true;  // 192.168.0.1, 2024-03-12
    }
    return false;
  }

  void note_part_of_day() {
    const auto& words = language_.words_of_part_of_day;
    if (std::ranges::find(words, std::string_view(tokens_[at_].lower)) != words.end()) {
      result_.names_part_of_day = true;
    }
  }

  /// Whether one of some phrases stands directly before the current token.
  bool is_behind(std::span<const std::string_view> phrases) const {
    return std::ranges::any_of(phrases, [&](std::string_view phrase) {
      const size_t length = phrase_length(phrase);
      return length <= at_ && begins_with(TextTokens(tokens_).subspan(at_ - length), phrase);
    });
  }

  /// Whether a time in words is one because of the words before it: "at ten forty", "from noon"; but not "at
  /// five to ten percent".
  bool is_certainly_time(const Value& value, size_t tokens) const {
    if (value.kind != ValueKind::kTime || !(value.in_words || value.optional)) return false;
    const TextTokens behind = left().subspan(tokens);
    if (!behind.empty() && find_phrase(language_.units, behind) != nullptr) return false;
    return is_behind(language_.before_times) || (value.optional && is_behind(language_.before_ranges));
  }

  /// A flight or a train: "LH 6887". A number that may be a year is none: "WM 2022".
  std::optional<ReadValue> read_spaced_code() const {
    const TextToken& letters = tokens_[at_];
    if (!letters.in_capitals || letters.lower.size() != 2 || at_ + 1 == tokens_.size()) return std::nullopt;
    const TextToken& digits = tokens_[at_ + 1];
    const size_t length = digits.lower.size();
    const bool year = length == 4 && (digits.lower.starts_with("19") || digits.lower.starts_with("20"));
    if (!digits.is_digits() || !digits.after_space || length < 3 || length > 4 || year) return std::nullopt;
    if (find_phrase(language_.units_before, left()) != nullptr) return std::nullopt;
    Value code{.kind = ValueKind::kText, .begin = letters.begin, .end = digits.end};
    code.normal = letters.lower + digits.lower;
    return ReadValue{std::move(code), 2};
  }

  std::optional<ReadValue> read() const {
    if (auto text = read_text()) return text;
    if (auto code = read_spaced_code()) return code;
    const TextToken& token = tokens_[at_];
    constexpr std::string_view kMarksBefore = "-$€£";
    if (token.kind == TextToken::Kind::kSymbol && kMarksBefore.find(token.lower) == std::string_view::npos)
      return {};
    if (auto date = read_date(left(), language_)) return date;
    if (at_ == 0) {
      if (auto marker = read_marker(left())) return marker;
    }
    if (auto time = read_time(left(), language_)) return time;
    if (auto number = read_number(left(), language_)) return number;
    return read_roman();
  }

  std::optional<ReadValue> read_roman() const {
    const int number = roman_number(tokens_[at_]);
    if (number == 0) return std::nullopt;
    Value value{.begin = tokens_[at_].begin, .end = tokens_[at_].end};
    value.normal = std::to_string(number);
    value.ordinal = value.optional = true;
    return ReadValue{std::move(value), 1};
  }

  /// An address or a code; dates such as 2024-03-12 are dates.
  std::optional<ReadValue> read_text() const {
    const size_t begin = tokens_[at_].begin;
    const auto span = std::ranges::find(spans_, begin, &ProtectedSpan::begin);
    if (span == spans_.end()) return std::nullopt;
    auto date = read_date(left(), language_);
    if (date && date->value.end == span->end) return date;
    Value text{.kind = ValueKind::kText, .begin = span->begin, .end = span->end};
    text.normal = letters_and_digits(text_.substr(span->begin, span->end - span->begin));
    size_t tokens = 0;
    for (; at_ + tokens < tokens_.size() && tokens_[at_ + tokens].begin < span->end; ++tokens) {
      const TextToken& token = tokens_[at_ + tokens];
      if (!token.is_digits()) continue;
      if (const auto number = read_number({&token, 1}, language_))
        text.other_reading.push_back(number->value);
    }
    for (Value& number : text.other_reading) {
      number.begin = text.begin;
      number.end = text.end;
    }
    return ReadValue{std::move(text), tokens};
  }

  /// In "from 2 to 8 p.m." both are times. `tokens`: the length of the time that was just read.
  void complete_range(size_t tokens) {
    std::vector<Value>& values = result_.values;
    if (values.size() < 2 || at_ < tokens + 2) return;
    Value &last = values.back(), &first = values[values.size() - 2];
    const TextToken& link = tokens_[at_ - tokens - 1];
    const bool linked =
        std::ranges::find(language_.ranges, std::string_view(link.lower)) != language_.ranges.end() &&
        tokens_[at_ - tokens - 2].end == first.end;
    const bool is_hour = first.kind == ValueKind::kNumber && first.unit == Unit::kNone && !first.ordinal &&
                         first.normal.size() <= 2 && first.normal[0] != '-';
    if (linked && first.kind == ValueKind::kTime && last.kind == ValueKind::kTime) last.in_range = true;
    if (!linked || !is_hour || last.kind != ValueKind::kTime || last.half_day || !last.other_reading.empty())
      return;
    int minute = std::stoi(first.normal) * kHourMinutes;
    if (minute >= 2 * kHalfDayMinutes) return;
    if (language_.twelve_hour && last.minute >= kHalfDayMinutes && minute + kHalfDayMinutes < last.minute)
      minute += kHalfDayMinutes;
    Value time{.kind = ValueKind::kTime, .begin = first.begin, .end = first.end, .minute = minute};
    if (language_.twelve_hour) {
      if (minute > kHalfDayMinutes && std::stoi(first.normal) > 12) return;
      time.other_reading = {std::move(first)};
    }
    first = std::move(time);
    last.in_range = true;
  }

  std::string_view text_;
  ValueLanguage language_;  ///< with what the figures of the text say about marks
  std::vector<TextToken> tokens_;
  std::vector<ProtectedSpan> spans_;
  TextValues result_;
  size_t at_ = 0;
};

}  // namespace

std::string letters_and_digits(std::string_view text) {
  std::string result;
  for (const TextToken& token : tokenize_values(text)) {
    if (token.kind != TextToken::Kind::kSymbol) result += token.lower;
  }
  return result;
}

TextValues find_values(std::string_view text, const ValueLanguage& language) {
  return Finder(text, language).find();
}

}  // namespace heed::translate
