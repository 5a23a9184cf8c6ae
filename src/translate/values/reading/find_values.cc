#include "translate/values/reading/find_values.h"

#include <algorithm>
#include <utility>

#include "base/stop.h"
#include "text/unicode/unicode_properties.h"
#include "translate/values/reading/figures.h"
#include "translate/values/reading/halves.h"
#include "translate/values/reading/value_readers.h"

namespace heed::translate {
namespace {

class Finder {
 public:
  Finder(std::string_view text, const ValueLanguage& language)
      : text_(text), language_(language), tokens_(tokenize_values(text)) {
    language_.other_marks = other_marks(tokens_, language);
    spans_ = find_addresses_and_codes(text, tokens_);
  }

  TextValues find() {
    while (at_ < tokens_.size()) {
      StopScope::check();
      note_part_of_day();
      read_part_before_number();
      auto value = read();
      if (!value) {
        ++at_;
        continue;
      }
      read_part_of_day_before(value->value);
      result_.values.push_back(value->value);
      note_certain_time(result_.values.back(), value->tokens);
      at_ += value->tokens;
      complete_range(value->tokens);
      read_lost_time_mark();
      read_second_minus();
    }
    result_.has_time = std::ranges::count(result_.values, ValueKind::kTime, &Value::kind) > 0;
    return std::move(result_);
  }

 private:
  TextTokens left() const { return TextTokens(tokens_).subspan(at_); }

  void note_part_of_day() {
    const std::string_view token = tokens_[at_].lower;
    for (const auto& [word, part] : language_.words_of_part_of_day) {
      const bool joined = language_.joins_words && token.ends_with(word) && !is_weekday(token);
      if (!begins_with(left(), word) && !joined) continue;
      result_.names_morning |= part == PartOfDay::kMorning;
      result_.names_night |= part == PartOfDay::kNight;
      result_.names_afternoon |= part != PartOfDay::kMorning && part != PartOfDay::kNight;
    }
  }

  /// "Sonnabend" is Saturday, and no evening.
  bool is_weekday(std::string_view word) const {
    return std::ranges::find(language_.weekdays, word, &Phrase<int>::words) != language_.weekdays.end();
  }

  struct PartBefore {
    PartOfDay part;
    size_t begin;  ///< token
  };

  /// The part of the day that ends before a token: "por la tarde", "Samstagabend".
  std::optional<PartBefore> part_ending_at(size_t end) const {
    std::optional<PartBefore> longest;
    for (const auto& phrases : {language_.parts_of_day, language_.words_of_part_of_day}) {
      for (const auto& [words, part] : phrases) {
        const size_t length = phrase_length(words);
        if (length > end || (longest && longest->begin <= end - length)) continue;
        if (begins_with(TextTokens(tokens_).subspan(end - length), words)) longest = {part, end - length};
      }
    }
    if (longest || end == 0 || !language_.joins_words) return longest;
    const std::string_view word = tokens_[end - 1].lower;
    for (const auto& [words, part] : language_.words_of_part_of_day) {
      if (word.ends_with(words) && is_weekday(word.substr(0, word.size() - words.size())))
        return PartBefore{part, end - 1};
    }
    return {};
  }

  /// In "heute Abend um 8 Uhr" the time is in the evening, as in "um 8 Uhr abends".
  void read_part_of_day_before(Value& time) const {
    if (time.kind != ValueKind::kTime || !time.on_face) return;
    size_t link = 0;
    for (const std::string_view words : language_.links_of_parts) {
      if (is_behind({&words, 1})) link = std::max(link, phrase_length(words));
    }
    if (link == 0 && !time.other_reading.empty()) return;  // "esta noche las dos": both of them, perhaps
    size_t end = at_ - link;
    if (end > 0 && tokens_[end - 1].is(",")) --end;
    const auto before = part_ending_at(end);
    if (!before || is_behind(language_.before_greetings, before->begin)) return;
    if (before->part == PartOfDay::kMorning && time.minute >= kHalfDayMinutes) return;  // "vormittags um 12"
    constexpr int kSix = 6;  // "nachts um 6" in the morning, "Friday night at 6"
    if (before->part == PartOfDay::kNight && time.minute / kHourMinutes == kSix) return;
    const size_t begin = tokens_[before->begin].begin;
    const Value* last = result_.values.empty() ? nullptr : &result_.values.back();
    if (last != nullptr && last->begin < begin && begin < last->end) return;  // "8 p.m., 9:30"
    time.minute = minute_of_day(time.minute, before->part);
    time.half_day = time.on_face = false;
  }

  /// Whether one of some phrases stands directly before a token, by default the current one.
  bool is_behind(std::span<const std::string_view> phrases) const { return is_behind(phrases, at_); }
  bool is_behind(std::span<const std::string_view> phrases, size_t token) const {
    return std::ranges::any_of(phrases, [&](std::string_view phrase) {
      const size_t length = phrase_length(phrase);
      return length <= token && begins_with(TextTokens(tokens_).subspan(token - length), phrase);
    });
  }

  /// The token that a value begins with.
  size_t token_of(const Value& value) const {
    return static_cast<size_t>(std::ranges::lower_bound(tokens_, value.begin, {}, &TextToken::begin) -
                               tokens_.begin());
  }

  /// Whether a time in words is one because of the words before it: "at ten forty", "from noon"; but not "at
  /// five to ten percent".
  bool is_certainly_time(const Value& value, size_t tokens) const {
    if (value.kind != ValueKind::kTime) return false;
    // "A las 21 horas", but not "a las dos horas de llegar".
    const auto* period = find_phrase(language_.periods, left().subspan(tokens - 1));
    constexpr int kAfternoonBegins = 13 * kHourMinutes;
    if (period != nullptr && period->meaning == Period::kHour && value.minute >= kAfternoonBegins &&
        is_behind(language_.before_clock_times))
      return true;
    if (!(value.in_words || value.optional)) return false;
    const TextTokens behind = left().subspan(tokens);
    if (find_unit(behind, language_).tokens > 0) return false;
    return is_behind(language_.before_times) || (value.optional && is_behind(language_.before_ranges));
  }

  /// The words for scores as well as times before the current token; null: none.
  const Phrase<bool>* before_score() const {
    const auto found = std::ranges::find_if(language_.before_scores, [&](const Phrase<bool>& each) {
      return is_behind({&each.words, 1});
    });
    return found == language_.before_scores.end() ? nullptr : &*found;
  }

  BeforeTime before_time() const {
    if (before_score() != nullptr) return BeforeTime::kTimesOrScores;
    return is_behind(language_.before_times) ? BeforeTime::kTimes : BeforeTime::kOther;
  }

  /// Leaves out what a time could be instead if the words before it say that it is one. Two numbers in
  /// figures stay for a translation, where "it's 20 to 9" may be a score.
  void note_certain_time(Value& time, size_t tokens) const {
    if (!is_certainly_time(time, tokens)) return;
    constexpr size_t kPair = 2;
    const bool figures = time.other_reading.size() == kPair && !time.other_reading[0].in_words;
    const Phrase<bool>* score = figures ? before_score() : nullptr;
    if (score != nullptr && score->meaning && time.on_face) return;
    time.optional = false;
    time.is_time_in_source = figures;
    if (!figures) time.other_reading.clear();
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
    auto time = read_time(tokens, language_, BeforeTime::kTimes);
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

  /// What a tokenizer writes for bytes that are no character.
  std::optional<ReadValue> read_replacement() const {
    const TextToken& token = tokens_[at_];
    if (!token.is(kReplacementCharacter)) return {};
    Value value{.kind = ValueKind::kText, .begin = token.begin, .end = token.end, .normal = token.lower};
    value.broken = true;
    return ReadValue{std::move(value), 1};
  }

  std::optional<ReadValue> read() const {
    if (auto replacement = read_replacement()) return replacement;
    if (auto text = read_text()) return text;
    if (auto code = read_code(left(), language_, is_behind(language_.before_durations))) return code;
    const TextToken& token = tokens_[at_];
    constexpr std::string_view kMarksBefore = "-$€£.";
    if (token.kind == TextToken::Kind::kSymbol && kMarksBefore.find(token.lower) == std::string_view::npos)
      return {};
    if (token.is_digits()) {
      if (auto time = read_time_with_period()) return time;
    }
    if (auto weekday = read_weekday(left(), language_)) return weekday;
    const Value* before = result_.values.empty() ? nullptr : &result_.values.back();
    if (auto weekday = read_short_weekday(tokens_, at_, before, language_)) return weekday;
    if (auto date = read_date(left(), language_); date && !is_behind(language_.before_labels)) return date;
    if (at_ == 0) {
      if (auto marker = read_marker(left(), language_)) return marker;
    }
    auto time = read_time(left(), language_, before_time());
    // "A las 16 °C" and "halb ein Dutzend" say no time.
    const auto says_time = [&] {
      if (!time->value.other_reading.empty() && counts_what_follows(*time)) return false;
      const auto half = read_half(left(), language_);
      return !half || half->tokens <= time->tokens;
    };
    if (time && says_time()) return time;
    if (auto number = read_number(left(), language_)) {
      if (language_.minus_is_less() && is_behind(language_.minus)) read_minus_before(number->value);
      number->value.may_be_hour = is_behind(language_.before_times);
      number->value.behind_for = at_ > 0 && tokens_[at_ - 1].is(language_.for_whom);
      if (token.is(language_.hour_of_one) && number->value.may_be_hour) number->value.optional = false;
      number->value.counts =  // not "um drei Zeugin"
          !number->value.may_be_hour && begins_with_noun(left().subspan(number->tokens), language_);
      read_foreign_thousands(*number);
      read_minutes_behind_hours(number->value);
      read_inches(*number);
      number->value.optional &= !(number->value.decade && is_behind(language_.before_sure_decades));
      if (is_behind(language_.before_decades) && !begins_range_of_years(left().subspan(number->tokens)))
        read_decade_of_year(number->value);
      const bool first_half = number->value.normal == "0.5" && number->value.in_words && is_behind_ordinal();
      number->value.optional |= first_half;  // "the first half year"
      return number;
    }
    if (auto number = read_broken_number()) return number;
    auto roman = read_roman(token);
    if (roman && is_of_century()) roman->value.optional = false;
    return roman;
  }

  /// Whether a word for a century stands beside the current token: "siglo II", "II. Jahrhundert".
  bool is_of_century() const {
    const TextTokens behind = left().subspan(left().size() > 1 && left()[1].is(".") ? 2 : 1);
    return is_behind(language_.centuries) || length_of_any(language_.centuries, behind) > 0;
  }

  /// Whether what could be a time counts what stands behind it: "las 16 °C", "five to six days", "las cuatro
  /// científicas".
  bool counts_what_follows(const ReadValue& time) const {
    const TextTokens behind = left().subspan(time.tokens);
    if (unit_length(behind, language_) > 0) return true;
    if (time.value.in_words && find_phrase(language_.periods, behind) != nullptr) return true;
    constexpr size_t kLeast = 5;  // letters of a noun in the plural
    const bool noun = language_.article_before_times && !behind.empty() && behind[0].is_word() &&
                      behind[0].lower.size() >= kLeast &&
                      (behind[0].lower.ends_with("as") || behind[0].lower.ends_with("es"));
    return noun && !is_behind(language_.before_clock_times) &&
           std::ranges::find(language_.behind_times, std::string_view(behind[0].lower)) ==
               language_.behind_times.end();
  }

  /// "250.000 clients" or "€250.000" in English: nobody counts or pays thousandths. "1.250 clients" may be
  /// points or seconds. "1,250 pesos" in Spanish are of the Americas, where thousands are written so; euros
  /// are not, and petrol is "1,459 €".
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
    if (!tokens[2].is("000") && !value.counts && !is_money(value.unit)) return;
    Value thousands = value;
    thousands.normal = with_zeros(value.normal, 3);
    thousands.decimals = 0;
    thousands.ill_written = true;
    thousands.other_reading.clear();
    const bool of_americas =
        language_.other_marks != OtherMarks::kNever && is_money(value.unit) && value.unit != Unit::kEuro;
    if (tokens[2].is("000") || of_americas) {
      value = std::move(thousands);
    } else {
      value.other_reading = {std::move(thousands)};
    }
  }

  /// In "11h 20m" are no metres.
  void read_minutes_behind_hours(Value& number) const {
    if (number.unit != Unit::kMetre || at_ < 2 || !tokens_[at_ - 1].is("h") || !tokens_[at_ - 2].is_digits())
      return;
    number.unit = Unit::kNone;
    number.of_duration = true;
  }

  /// "2020 a 2024" behind "años" are years. Two that are listed, "1980 y 1990", may be decades.
  bool begins_range_of_years(TextTokens behind) const {
    const size_t range = length_of_any(language_.ranges, behind);
    return range > 0 && !behind[0].is(language_.conjunction) && behind.size() > range &&
           behind[range].is_digits() && behind[range].lower.size() == kYearDigits;
  }

  /// "La década de 1990", which others say as "los 90".
  static void read_decade_of_year(Value& number) {
    const std::string_view year = number.normal;
    if (number.in_words || year.size() != kYearDigits || !names_decade(year)) return;
    if (number.unit != Unit::kNone || !number.other_reading.empty()) return;
    number.decade = true;
    number.other_reading = {number};
    number.other_reading[0].normal = number.normal.substr(2);
  }

  /// The "in" of "5 ft 3 in" and "(0.039 in)".
  void read_inches(ReadValue& number) const {
    const TextTokens behind = left().subspan(number.tokens);
    if (language_.short_inches.empty() || number.value.unit != Unit::kNone || number.value.in_words) return;
    if (behind.empty() || !behind[0].is(language_.short_inches)) return;
    const bool before_mark =
        behind.size() == 1 || (behind[1].kind == TextToken::Kind::kSymbol && !behind[1].after_space);
    const bool behind_feet = at_ > 0 && !result_.values.empty() &&
                             result_.values.back().unit == Unit::kFoot &&
                             result_.values.back().end == tokens_[at_ - 1].end;
    if (!before_mark && !behind_feet) return;
    number.value.unit = Unit::kInch;
    number.value.end = behind[0].end;
    ++number.tokens;
  }

  /// Whether the last value is an ordinal directly before the current token.
  bool is_behind_ordinal() const {
    return !result_.values.empty() && result_.values.back().ordinal &&
           result_.values.back().end == tokens_[at_ - 1].end;
  }

  /// "p.m." behind figures that are no time.
  void read_lost_time_mark() {
    const bool behind_figures = at_ < tokens_.size() && tokens_[at_ - 1].kind != TextToken::Kind::kWord &&
                                result_.values.back().kind != ValueKind::kTime;
    const size_t tokens = behind_figures ? length_of_any(language_.time_marks, left()) : 0;
    add_broken(tokens);
  }

  /// "Below zero" behind "minus five degrees".
  void read_second_minus() {
    const Value& value = result_.values.back();
    const bool below = value.normal.starts_with('-') && is_same_unit(value.unit, Unit::kDegree);
    add_broken(below && at_ < tokens_.size() ? length_of_any(language_.below_zero, left()) : 0);
  }

  /// "Die Hälfte von" before "500.000", which is half a million itself.
  void read_part_before_number() {
    const size_t tokens = length_of_any(language_.parts_before, left());
    if (tokens == 0 || read_half(left(), language_) || at_ + tokens == tokens_.size()) return;
    const TextTokens behind = left().subspan(tokens);
    const auto number = read_number(behind, language_);
    const bool counts = number && !number->value.optional && !number->value.ordinal;
    if (!counts && find_phrase(language_.scales, behind) == nullptr) return;
    add_broken(tokens);
    result_.values.back().part = true;
  }

  /// The next tokens as a value that says nothing.
  void add_broken(size_t tokens) {
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

  /// An address or a code; dates such as 2024-03-12 are dates, but no versions.
  std::optional<ReadValue> read_text() const {
    const size_t begin = tokens_[at_].begin;
    const auto span = std::ranges::lower_bound(spans_, begin, {}, &ProtectedSpan::begin);
    if (span == spans_.end() || span->begin != begin) return std::nullopt;
    const std::string_view written = text_.substr(span->begin, span->end - span->begin);
    auto date = read_date(left(), language_);
    if (date && date->value.end == span->end && written.find('.') == std::string_view::npos) return date;
    Value text{.kind = ValueKind::kText, .begin = span->begin, .end = span->end};
    text.normal = letters_and_digits(written);
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

  /// Whether the hour of a time is written as on the 24-hour clock: "las 18", but not "las 6 de la tarde".
  bool is_on_24_hour_clock(const Value& time) const {
    if (language_.twelve_hour) return false;
    const std::string hour = std::to_string(time.minute / kHourMinutes);
    for (size_t n = token_of(time); n < tokens_.size() && tokens_[n].end <= time.end; ++n) {
      if (tokens_[n].is(hour)) return true;
    }
    return false;
  }

  /// In "2:30 to 4 p.m." both are in the afternoon, and in "las 10 a las 18" both are on the 24-hour clock.
  void complete_first_time(Value& first, const Value& last) const {
    if (first.kind != ValueKind::kTime || last.kind != ValueKind::kTime) return;
    if (!first.half_day || !first.on_face || last.half_day) return;
    if (!language_.twelve_hour && last.on_face) return;
    if (is_on_24_hour_clock(last)) {
      if (!first.other_reading.empty()) first.half_day = false;  // "halb acht bis 20 Uhr" may be half an hour
      return;
    }
    if (last.minute < kHalfDayMinutes) {  // "las 3 y las 5 de la mañana"
      if (!language_.twelve_hour && first.minute < last.minute) first.half_day = false;
      return;
    }
    first.half_day = false;
    if (first.minute + kHalfDayMinutes < last.minute) first.minute += kHalfDayMinutes;
  }

  /// Whether a value ends where a word of ranges begins that ends before a token: "3." before "bis zum".
  bool stands_before_range(const Value& value, size_t token) const {
    return std::ranges::any_of(language_.ranges, [&](std::string_view range) {
      const size_t length = phrase_length(range);
      if (length >= token || !begins_with(TextTokens(tokens_).subspan(token - length), range)) return false;
      size_t before = token - length - 1;
      const bool period =
          value.ordinal && tokens_[before].is(".") && !tokens_[before].after_space && before > 0;
      if (period) --before;
      return tokens_[before].end == value.end;
    });
  }

  /// Whether a word of ranges before a named time says only when: "el día 6 a mediodía", unlike "de 6 a
  /// mediodía".
  bool says_when(const Value& first, size_t token) const {
    return token > 0 && tokens_[token - 1].is(language_.at_named_times) &&
           find_phrase(language_.named_times, TextTokens(tokens_).subspan(token)) != nullptr &&
           first.kind != ValueKind::kTime && !is_behind(language_.before_ranges, token_of(first));
  }

  /// The zeros of the words for scales in a value.
  int zeros_of_scales(const Value& value) const {
    int zeros = 0;
    for (TextTokens left = TextTokens(tokens_).subspan(token_of(value));
         !left.empty() && left[0].end <= value.end; left = left.subspan(1)) {
      const Phrase<int>* scale = find_phrase(language_.scales, left);
      if (scale != nullptr) zeros += scale->meaning;
    }
    return zeros;
  }

  /// In "30 to 50 thousand" the 30 may be thousands, too.
  void share_scale(Value& first, const Value& last) const {
    if (first.kind != ValueKind::kNumber || last.kind != ValueKind::kNumber || !first.other_reading.empty())
      return;
    const int zeros = zeros_of_scales(last);
    if (zeros == 0 || zeros_of_scales(first) > 0) return;
    first.other_reading = {first};
    first.other_reading[0].normal = with_zeros(first.normal, zeros);
  }

  /// In "from 2 to 8 p.m." both are times. `tokens`: the length of the time that was just read.
  void complete_range(size_t tokens) {
    std::vector<Value>& values = result_.values;
    if (values.size() < 2 || at_ < tokens + 2) return;
    Value &last = values.back(), &first = values[values.size() - 2];
    const bool linked = stands_before_range(first, at_ - tokens) && !says_when(first, at_ - tokens);
    const auto is_number = [](const Value& value, size_t digits) {
      return value.kind == ValueKind::kNumber && value.unit == Unit::kNone && !value.in_words &&
             value.normal.size() == digits && value.other_reading.empty();
    };
    if (linked) complete_first_time(first, last);
    const std::optional<int> from = minute_in_figures(first);
    if (linked) first.linked = last.linked = true;
    if (linked && is_behind(language_.before_ranges, token_of(first)) && last.begin > first.end &&
        has_letter(text_.substr(first.end, last.begin - first.end)))
      first.from_to = last.from_to = true;
    if (linked) share_scale(first, last);
    for (Value* value : {&first, &last}) {
      if (linked && is_zero_in_words(*value)) value->optional = false;  // "two to zero"
    }
    if (linked && first.kind == ValueKind::kTime && last.kind == ValueKind::kTime) last.in_range = true;
    if (linked && is_number(first, kYearDigits) && is_number(last, 2)) {  // "1950-53"
      last.other_reading = {last};
      last.other_reading[0].normal.insert(0, first.normal, 0, 2);
    }
    if (!linked || !from || last.kind != ValueKind::kTime || last.half_day || !last.other_reading.empty())
      return;
    int minute = *from;
    const bool afternoon = last.minute >= kHalfDayMinutes && !last.on_face && !is_on_24_hour_clock(last);
    if (afternoon && minute + kHalfDayMinutes < last.minute) minute += kHalfDayMinutes;
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
  const std::vector<TextToken> tokens = tokenize_values(text);
  for (size_t n = 0; n < tokens.size(); ++n) {
    result += tokens[n].kind != TextToken::Kind::kSymbol ? tokens[n].lower
                                                         : exponent_of(TextTokens(tokens).subspan(n, 1));
  }
  return result;
}

TextValues find_values(std::string_view text, const ValueLanguage& language) {
  return Finder(text, language).find();
}

}  // namespace heed::translate
