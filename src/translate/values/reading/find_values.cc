#include "translate/values/reading/find_values.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/ascii.h"
#include "text/terms/protected_spans.h"
#include "translate/values/reading/figures.h"
#include "translate/values/reading/halves.h"
#include "translate/values/reading/value_readers.h"

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
  const bool parts = has(" ") || has("-") || has("/") || has("+") || has(".") || has("'");
  constexpr size_t kShortest = 5;  // "d.h" is no file
  if (!digits && span.size() < kShortest) return false;
  if (span.starts_with("⟦") || span.starts_with('&') || span.starts_with('%')) return false;
  return address || (digits && (letters || parts)) || (letters && has("."));
}

std::string roman_numeral(int number) {
  constexpr std::array<std::pair<int, std::string_view>, 9> kParts{
      {{100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}}};
  std::string numeral;
  for (const auto& [worth, letters] : kParts) {
    for (; number >= worth; number -= worth) numeral += letters;
  }
  return numeral;
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
      read_lost_time_mark();
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
      if (token.is_digits() && next.is("'")) return true;  // 5'10"
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
    const std::string_view token = tokens_[at_].lower;
    for (const auto& [word, part] : language_.words_of_part_of_day) {
      if (!begins_with(left(), word) && !(language_.joins_words && token.ends_with(word))) continue;
      result_.names_morning |= part != PartOfDay::kAfternoon;
      result_.names_afternoon |= part != PartOfDay::kMorning;
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
    if (find_unit(behind, language_).tokens > 0) return false;
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
    return text_value(2, letters.lower + digits.lower);
  }

  /// A number before a hyphen and capitals or a slash and another: "7664-DA", "2025/2517".
  std::optional<ReadValue> read_joined_code() const {
    constexpr size_t kLeastDigits = 4, kMostLetters = 4;
    const TextTokens tokens = left();
    if (tokens.size() < 3 || !tokens[0].is_digits() || tokens[0].lower.size() < kLeastDigits) return {};
    if (tokens[1].after_space || tokens[2].after_space) return {};
    constexpr size_t kLeastBehind = 3;  // "2023/24" is a season
    if (tokens[1].is("/") && tokens[2].is_digits() && tokens[2].lower.size() >= kLeastBehind)
      return text_value(3, tokens[0].lower + "/" + tokens[2].lower);
    if (!tokens[1].is("-")) return {};
    const size_t letters = tokens[2].lower.size();
    const bool ends = tokens.size() == 3 || tokens[3].after_space || !tokens[3].is("-");
    if (!tokens[2].in_capitals || letters < 2 || letters > kMostLetters || !ends) return {};
    return text_value(3, tokens[0].lower + "-" + tokens[2].lower);
  }

  /// A telephone number in Spain, "612 345 678", rather than millions.
  std::optional<ReadValue> read_spaced_telephone() const {
    constexpr size_t kGroups = 3, kDigits = 3;
    const TextTokens tokens = left();
    if (tokens.size() < kGroups || tokens[0].lower[0] < '6') return {};
    std::string normal;
    for (const TextToken& group : tokens.first(kGroups)) {
      if (!group.is_digits() || group.lower.size() != kDigits || !group.after_space) return {};
      normal += (normal.empty() ? "" : " ") + group.lower;
    }
    if (tokens.size() > kGroups && tokens[kGroups].is_digits()) return {};
    return text_value(kGroups, std::move(normal));
  }

  /// A score or a ratio, "2:1", and a duration, "3:45 min" or "1:02:45". A word of the clock behind it, which
  /// is wrong there, is part of it, and so is a unit behind a time: "20:30 $".
  std::optional<ReadValue> read_ratio() const {
    const TextTokens tokens = left();
    size_t count = 1;
    while (count + 1 < tokens.size() && tokens[count].is(":") && !tokens[count].after_space &&
           tokens[count + 1].is_digits() && !tokens[count + 1].after_space) {
      count += 2;
    }
    if (count == 1 || !tokens[0].is_digits()) return {};
    const TextTokens behind = tokens.subspan(count);
    const bool lasts = length_of_any(language_.durations, behind) > 0;
    const auto within = [](const TextToken& token, int most) {
      return token.lower.size() <= 2 && small_number(token) <= most;
    };
    const bool time = count == 3 && within(tokens[0], kLastHour) && within(tokens[2], kLastMinute) &&
                      tokens[2].lower.size() == 2;
    std::string normal;
    for (const TextToken& token : tokens.first(count)) normal += token.lower;
    const size_t clock = length_of_any(language_.clock_words, behind);
    if (time && !lasts) {
      const size_t unit = clock == 0 ? unit_behind(behind) : 0;
      if (unit == 0 || length_of_any(language_.time_marks, behind) > 0) return {};
      return text_value(count + unit, normal + behind[0].lower);
    }
    ReadValue ratio = text_value(count + clock, normal + (clock > 0 ? " o'clock" : ""));
    if (clock > 0) return ratio;
    for (size_t n = 0; n < count; n += 2) {
      const auto number = read_number(tokens.subspan(n, 1), language_);
      ratio.value.other_reading.push_back(number->value);
      ratio.value.other_reading.back().begin = ratio.value.begin;
      ratio.value.other_reading.back().end = ratio.value.end;
    }
    return ratio;
  }

  /// The tokens of the unit that `tokens` begin with; 0 if it is that of figures behind it: "$5".
  size_t unit_behind(TextTokens tokens) const {
    const Phrase<Unit>* before = find_phrase(language_.units_before, tokens);
    const size_t length = before == nullptr ? 0 : phrase_length(before->words);
    const bool is_amount = length > 0 && length < tokens.size() && tokens[length].is_digits();
    return is_amount ? 0 : find_unit(tokens, language_).tokens;
  }

  /// Digits in words, one by one: "nine one one".
  std::optional<ReadValue> read_spoken_digits() const {
    constexpr size_t kLeast = 3;
    const TextTokens tokens = left();
    Value value{.begin = tokens[0].begin};
    size_t count = 0;
    for (; count < tokens.size() && tokens[count].is_word(); ++count) {
      const auto digit = language_.read_words(tokens.subspan(count, 1));
      if (!digit || digit->ordinal || digit->determiner || digit->half || digit->value > 9) break;
      value.normal += std::to_string(digit->value);
      Value number{.begin = value.begin, .normal = value.normal.substr(count), .in_words = true};
      value.other_reading.push_back(std::move(number));
    }
    if (count < kLeast || value.normal[0] == '0') return {};
    value.end = tokens[count - 1].end;
    for (Value& number : value.other_reading) number.end = value.end;
    return ReadValue{std::move(value), count};
  }

  /// "at 10.30" in a language that writes times with a colon otherwise.
  std::optional<ReadValue> read_time_with_period() const {
    const TextTokens tokens = left();
    if (!language_.twelve_hour || tokens.size() < 3 || !tokens[1].is(".") || tokens[1].after_space) return {};
    const int hour = small_number(tokens[0]), minute = small_number(tokens[2]);
    if (hour < 1 || hour > kLastHour || minute < 0 || minute > kLastMinute || tokens[2].lower.size() != 2)
      return {};
    if (tokens[2].after_space || !is_behind_time_words() ||
        find_unit(tokens.subspan(3), language_).tokens > 0)
      return {};
    if (tokens.size() > 4 && (tokens[3].is(".") || tokens[3].is(",")) && !tokens[3].after_space &&
        !tokens[4].after_space && tokens[4].is_digits())
      return {};
    auto time = read_time(tokens, language_);
    if (time && time->value.kind == ValueKind::kTime && time->tokens > 3) return time;  // "10.30 p.m."
    auto number = read_number(tokens.first(3), language_);
    Value value{.kind = ValueKind::kTime, .begin = tokens[0].begin, .end = tokens[2].end};
    value.minute = hour % 24 * kHourMinutes + minute;
    value.half_day = value.on_face = hour <= 12;
    if (number) value.other_reading = {std::move(number->value)};
    return ReadValue{std::move(value), 3};
  }

  bool is_behind_time_words() const {
    return is_behind(language_.before_times) || is_behind(language_.before_ranges);
  }

  ReadValue text_value(size_t tokens, std::string normal) const {
    Value value{.kind = ValueKind::kText, .begin = tokens_[at_].begin, .end = tokens_[at_ + tokens - 1].end};
    value.normal = std::move(normal);
    return ReadValue{std::move(value), tokens};
  }

  std::optional<ReadValue> read() const {
    if (auto text = read_text()) return text;
    if (auto code = read_spaced_code()) return code;
    const TextToken& token = tokens_[at_];
    constexpr std::string_view kMarksBefore = "-$€£.";
    if (token.kind == TextToken::Kind::kSymbol && kMarksBefore.find(token.lower) == std::string_view::npos)
      return {};
    if (token.is_digits()) {
      for (auto reader : {&Finder::read_joined_code, &Finder::read_spaced_telephone, &Finder::read_ratio,
                          &Finder::read_time_with_period}) {
        if (auto value = (this->*reader)()) return value;
      }
    } else if (token.is_word()) {
      if (auto digits = read_spoken_digits()) return digits;
    }
    if (auto weekday = read_weekday(left(), language_)) return weekday;
    if (auto date = read_date(left(), language_)) return date;
    if (at_ == 0) {
      if (auto marker = read_marker(left())) return marker;
    }
    auto time = read_time(left(), language_);
    // "A las 16 °C" and "halb ein Dutzend" say no time.
    const auto says_time = [&] {
      const bool has_unit = unit_behind(left().subspan(time->tokens)) > 0;
      if (has_unit && !time->value.other_reading.empty()) return false;
      const auto half = read_half(left(), language_);
      return !half || half->tokens <= time->tokens;
    };
    if (time && says_time()) return time;
    if (auto number = read_number(left(), language_)) {
      if (language_.minus_is_less() && is_behind(language_.minus)) read_minus_before(number->value);
      if (token.is(language_.hour_of_one) && is_behind(language_.before_times))
        number->value.optional = false;
      number->value.counts = begins_with_noun(left().subspan(number->tokens));
      read_foreign_thousands(*number);
      const bool first_half = number->value.normal == "0.5" && number->value.in_words && is_behind_ordinal();
      number->value.optional |= first_half;  // "the first half year"
      return number;
    }
    if (auto number = read_broken_number()) return number;
    return read_roman();
  }

  /// "250.000 clients" or "€250.000" in English: nobody counts or pays thousandths. "1.250 clients" may be
  /// points or seconds.
  void read_foreign_thousands(ReadValue& number) const {
    TextTokens tokens = left().first(number.tokens);
    while (!tokens.empty() && !tokens[0].is_digits()) tokens = tokens.subspan(1);
    if (tokens.size() < 3 || tokens[0].lower.size() > 3 || tokens[0].lower[0] == '0') return;
    const bool one_mark = tokens.size() == 3 || (!tokens[3].is_digits() && tokens[3].after_space);
    if (!one_mark || tokens[1].lower[0] != language_.decimal_mark || tokens[2].lower.size() != 3) return;
    const TextTokens behind = left().subspan(number.tokens);
    constexpr size_t kLeast = 4;  // letters; not "of", "and"
    const bool word = !behind.empty() && behind[0].is_word() && behind[0].lower.size() >= kLeast;
    Value& value = number.value;
    if (!is_money(value.unit) && (value.unit != Unit::kNone || !word)) return;
    if (!tokens[2].is("000") && !value.counts) return;
    Value thousands = value;
    thousands.normal = with_zeros(value.normal, 3);
    thousands.ill_written = true;
    thousands.other_reading.clear();
    if (tokens[2].is("000")) {
      value = std::move(thousands);
    } else {
      value.other_reading = {std::move(thousands)};
    }
  }

  /// Whether the last value is an ordinal directly before the current token.
  bool is_behind_ordinal() const {
    return !result_.values.empty() && result_.values.back().ordinal &&
           result_.values.back().end == tokens_[at_ - 1].end;
  }

  /// Whether tokens behind a number begin with a noun that it counts, as far as that can be seen.
  bool begins_with_noun(TextTokens tokens) const {
    if (tokens.empty() || !tokens[0].is_word() || !tokens[0].after_space) return false;
    if (tokens[0].in_capitals || is_behind(language_.before_times))
      return false;  // "17.00 GMT", "um drei Zeugin"
    if (std::ranges::count(language_.plurals, std::string_view(tokens[0].lower)) > 0) return true;
    constexpr size_t kLeast = 5;  // letters of a noun in the plural; not "this"
    if (language_.counts_end_in_s && tokens[0].lower.ends_with('s')) return tokens[0].lower.size() >= kLeast;
    return language_.capital_nouns && tokens[0].capitalized && !read_weekday(tokens, language_) &&
           find_phrase(language_.months, tokens) == nullptr;
  }

  /// "p.m." behind figures that are no time.
  void read_lost_time_mark() {
    const bool behind_figures = at_ < tokens_.size() && tokens_[at_ - 1].kind != TextToken::Kind::kWord &&
                                result_.values.back().kind != ValueKind::kTime;
    const size_t tokens = behind_figures ? length_of_any(language_.time_marks, left()) : 0;
    if (tokens == 0) return;
    Value mark{.begin = tokens_[at_].begin, .end = tokens_[at_ + tokens - 1].end};
    mark.broken = mark.optional = true;
    result_.values.push_back(std::move(mark));
    at_ += tokens;
  }

  /// "Es menos cinco" is minus five; "todos menos cinco" is all but five, and "menos cinco" may be either.
  void read_minus_before(Value& number) const {
    if (!number.other_reading.empty() || number.normal == "0") return;
    Value negative = number;
    negative.normal.insert(0, "-");
    if (is_behind(language_.certain_minus)) {
      number = std::move(negative);
    } else {
      number.other_reading = {std::move(negative)};
    }
  }

  std::optional<ReadValue> read_broken_number() const {
    const TextToken& token = tokens_[at_];
    if (!token.is_word() || language_.is_broken_number == nullptr || !language_.is_broken_number(token.lower))
      return std::nullopt;
    Value value{.begin = token.begin, .end = token.end};
    value.in_words = value.broken = value.optional = true;
    return ReadValue{std::move(value), 1};
  }

  std::optional<ReadValue> read_roman() const {
    const int number = roman_number(tokens_[at_]);
    if (number == 0) return std::nullopt;
    Value value{.begin = tokens_[at_].begin, .end = tokens_[at_].end};
    value.normal = std::to_string(number);
    value.ordinal = value.roman = true;
    // "I", "XL" and "LIX" may be something else.
    constexpr size_t kCertain = 3;
    const std::string& letters = tokens_[at_].lower;
    value.optional = letters.size() < kCertain || letters.find_first_not_of("ivx") != std::string::npos;
    if (roman_numeral(number) != letters) {
      if (value.optional) return std::nullopt;
      value.normal = letters;
      value.broken = true;
    }
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

  /// Minutes of the day of a number that may be a time in front of one: the "9" of "9 bis 16 Uhr", and
  /// "9.30".
  std::optional<int> minute_in_figures(const Value& number) const {
    if (number.kind != ValueKind::kNumber || number.unit != Unit::kNone || number.ordinal) return {};
    std::string_view hour = number.normal, minute = "0";
    const std::string_view figures = text_.substr(number.begin, number.end - number.begin);
    if (const size_t point = figures.find('.'); point != std::string_view::npos) {
      hour = figures.substr(0, point);
      minute = figures.substr(point + 1);
      if (minute.size() != 2) return {};
    }
    const auto hours = parse_integer(hour, 2), minutes = parse_integer(minute, 2);
    if (!hours || !minutes || *hours > kLastHour || *minutes > kLastMinute) return {};
    return static_cast<int>(*hours) * kHourMinutes + static_cast<int>(*minutes);
  }

  /// In "2:30 to 4 p.m." both are in the afternoon.
  void complete_first_time(Value& first, const Value& last) const {
    if (!language_.twelve_hour || first.kind != ValueKind::kTime || last.kind != ValueKind::kTime) return;
    if (!first.half_day || !first.on_face || last.half_day || last.minute < kHalfDayMinutes) return;
    first.half_day = false;
    if (first.minute + kHalfDayMinutes < last.minute) first.minute += kHalfDayMinutes;
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
    constexpr size_t kYearDigits = 4;
    const auto is_number = [](const Value& value, size_t digits) {
      return value.kind == ValueKind::kNumber && value.unit == Unit::kNone && !value.in_words &&
             value.normal.size() == digits && value.other_reading.empty();
    };
    if (linked) complete_first_time(first, last);
    const std::optional<int> from = minute_in_figures(first);
    if (linked) first.linked = last.linked = true;
    if (linked && first.kind == ValueKind::kTime && last.kind == ValueKind::kTime) last.in_range = true;
    if (linked && is_number(first, kYearDigits) && is_number(last, 2)) {  // "1950-53"
      last.other_reading = {last};
      last.other_reading[0].normal.insert(0, first.normal, 0, 2);
    }
    if (!linked || !from || last.kind != ValueKind::kTime || last.half_day || !last.other_reading.empty())
      return;
    int minute = *from;
    if (language_.twelve_hour && last.minute >= kHalfDayMinutes && minute + kHalfDayMinutes < last.minute)
      minute += kHalfDayMinutes;
    Value time{.kind = ValueKind::kTime, .begin = first.begin, .end = first.end, .minute = minute};
    time.linked = true;
    if (language_.twelve_hour) {
      if (*from > kHalfDayMinutes) return;
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
