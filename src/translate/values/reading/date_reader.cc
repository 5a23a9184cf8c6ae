// Dates, in words and in figures.
#include <algorithm>
#include <utility>

#include "translate/values/reading/value_readers.h"

namespace heed::translate {
namespace {

constexpr int kMaxDay = 31, kMaxMonth = 12;

/// Reads tokens from left to right.
class Cursor {
 public:
  Cursor(TextTokens tokens, const ValueLanguage& language) : tokens_(tokens), language_(language) {}

  size_t at() const { return at_; }
  void move_to(size_t at) { at_ = at; }
  bool at_end() const { return at_ >= tokens_.size(); }
  const TextToken& token() const { return tokens_[at_]; }
  TextTokens left() const { return tokens_.subspan(at_); }

  /// A number of digits from 1 to `most`; 0 if there is none.
  int digits(int most, size_t least_length = 1, size_t most_length = 2) {
    if (at_end()) return 0;
    const int number = small_number(token());
    const size_t length = token().lower.size();
    if (number < 1 || number > most || length < least_length || length > most_length) return 0;
    ++at_;
    return number;
  }
  bool mark(std::string_view mark) {
    if (at_end() || !token().is(mark) || token().after_space) return false;
    ++at_;
    return true;
  }
  /// "3", "3.", "3rd", "third", "dritten"
  int day() {
    const size_t begin = at_;
    if (const int day = digits(kMaxDay)) {
      if (language_.ordinal_period && !mark(".")) return fail(begin);
      const bool ending = !at_end() && !token().after_space &&
                          std::ranges::find(language_.ordinal_endings, std::string_view(token().lower)) !=
                              language_.ordinal_endings.end();
      if (ending) ++at_;
      return day;
    }
    const auto words = at_end() ? std::nullopt : language_.read_words(left());
    if (!words || words->half || words->value < 1 || words->value > kMaxDay) return fail(begin);
    if (!words->ordinal && !language_.cardinal_days) return fail(begin);
    at_ += words->tokens;
    return static_cast<int>(words->value);
  }
  int month() {
    if (at_end() || !token().is_word()) return 0;
    const Phrase<int>* name = find_phrase(language_.months, left());
    short_month_ = name == nullptr;
    if (short_month_) name = find_phrase(language_.short_months, left());
    if (name == nullptr) return 0;
    const bool needs_capital =
        std::ranges::find(language_.capital_months, name->words) != language_.capital_months.end();
    if (needs_capital && !token().capitalized) return 0;
    // "Nov." of an English text is copied in a Spanish one.
    const bool may_have_capital = token().in_capitals || (token().begin == 0 && token().capitalized);
    copied_month_ = short_month_ && !may_have_capital && token().capitalized != language_.capital_weekdays;
    at_ += phrase_length(name->words);
    if (short_month_) mark(".");
    return name->meaning;
  }
  /// Whether the last month was abbreviated.
  bool is_short_month() const { return short_month_; }
  /// Whether its abbreviation is written as in another language.
  bool is_copied_month() const { return copied_month_; }
  int year() {
    const size_t begin = at_;
    day_links();
    const int year = digits(9999, 4, 4);
    const bool joined = year != 0 && !at_end() && !token().after_space && token().is(":");
    return year == 0 || joined ? fail(begin) : year;
  }
  void day_links() {
    for (const std::string_view link : language_.day_links) {
      if (begins_with(left(), link)) {
        at_ += phrase_length(link);
        return;
      }
    }
  }

 private:
  int fail(size_t begin) {
    at_ = begin;
    return 0;
  }

  TextTokens tokens_;
  const ValueLanguage& language_;
  size_t at_ = 0;
  bool short_month_ = false, copied_month_ = false;
};

Value date_value(int day, int month, int year) {
  return {.kind = ValueKind::kDate, .day = day, .month = month, .year = year};
}

/// A year of two digits is of the last or of this century.
int full_year(int year) {
  constexpr int kThisCentury = 50;
  if (year == 0 || year >= 100) return year;
  return year < kThisCentury ? 2000 + year : 1900 + year;
}

/// "12.03.2024", "3/12/24", "2024-03-12"
std::optional<Value> read_numeric(Cursor& cursor, const ValueLanguage& language) {
  const size_t begin = cursor.at();
  if (const int year = cursor.digits(9999, 4, 4); year != 0) {
    const bool first = cursor.mark("-");
    const int month = cursor.digits(kMaxMonth, 2);
    const bool second = first && month != 0 && cursor.mark("-");
    const int day = cursor.digits(kMaxDay, 2);
    if (second && day != 0) return date_value(day, month, year);
    cursor.move_to(begin);
    return std::nullopt;
  }
  const int first = cursor.digits(kMaxDay);
  const bool slash = first != 0 && cursor.mark("/"), dot = first != 0 && !slash && cursor.mark(".");
  const bool dash = first != 0 && !slash && !dot && cursor.mark("-");
  const int second = slash || dot || dash ? cursor.digits(kMaxDay) : 0;
  const std::string_view mark = slash ? "/" : dot ? "." : "-";
  const bool third = second != 0 && cursor.mark(mark);
  int year = third ? cursor.digits(9999, 4, 4) : 0;
  if (third && year == 0 && !dash) year = full_year(cursor.digits(99, 2));
  const bool month_first = language.month_first && slash && first <= kMaxMonth;
  Value date = month_first ? date_value(second, first, year) : date_value(first, second, year);
  if (year == 0 || (first > kMaxMonth && second > kMaxMonth)) {
    cursor.move_to(begin);
    return std::nullopt;
  }
  if (date.month > kMaxMonth && !language.month_first) {  // 7/21/2024 is no date where the day is first
    cursor.move_to(begin);
    return std::nullopt;
  }
  if (date.month > kMaxMonth) {
    std::swap(date.day, date.month);
  } else if (month_first && date.day <= kMaxMonth) {
    date.other_reading = {date_value(date.month, date.day, year)};
    date.other_reading[0].ill_written = true;
  } else if (language.month_first && !month_first) {
    date.ill_written = true;
  }
  return date;
}

/// "24.10." in German
std::optional<Value> read_day_and_month(Cursor& cursor, const ValueLanguage& language) {
  const size_t begin = cursor.at();
  const int day = language.ordinal_period ? cursor.digits(kMaxDay) : 0;
  const bool first = day != 0 && cursor.mark(".");
  const int month = first ? cursor.digits(kMaxMonth) : 0;
  if (month != 0 && cursor.mark(".") &&
      (cursor.at_end() || cursor.token().after_space || !cursor.token().is_digits())) {
    return date_value(day, month, 0);
  }
  cursor.move_to(begin);
  return std::nullopt;
}

/// "12. März 2024", "12th of March", "12 de marzo de 2024"
std::optional<Value> read_day_first(Cursor& cursor, const ValueLanguage&) {
  const size_t begin = cursor.at();
  const bool figures = cursor.token().is_digits();  // "un mar" is a sea
  if (const int day = cursor.day(); day != 0) {
    cursor.day_links();
    const int month = cursor.month();
    if (month != 0 && (figures || !cursor.is_short_month())) return date_value(day, month, cursor.year());
  }
  cursor.move_to(begin);
  return std::nullopt;
}

bool is_end_mark(const TextToken& token) {
  constexpr std::string_view kMarks = ".,;:!?)";
  return token.kind == TextToken::Kind::kSymbol && !token.after_space &&
         kMarks.find(token.lower) != std::string_view::npos;
}

/// Whether a number counts what stands behind it: "5 dollars", "3 people", "3 times", "2 days".
bool counts(TextTokens behind, const ValueLanguage& language) {
  return unit_length(behind, language) > 0 || begins_with_noun(behind, language) ||
         find_phrase(language.periods, behind) != nullptr || length_of_any(language.multipliers, behind) > 0;
}

/// "March 12, 2024", "March 2024", "March"; "Januar 10." where the day is first elsewhere.
std::optional<Value> read_month_first(Cursor& cursor, const ValueLanguage& language) {
  const size_t begin = cursor.at();
  const int month = cursor.month();
  if (month == 0) return std::nullopt;
  const size_t behind = cursor.at();
  if (language.month_first) {
    const bool the = !cursor.at_end() && cursor.token().is("the");
    if (the) cursor.move_to(cursor.at() + 1);
    const bool figures = !cursor.at_end() && cursor.token().is_digits();
    const int day = figures || !cursor.is_short_month() ? cursor.day() : 0;
    const int year = day != 0 ? cursor.year() : 0;
    if (year == 0 && cursor.is_short_month() && counts(cursor.left(), language)) {  // "I gave Mar 5 dollars"
      cursor.move_to(begin);
      return std::nullopt;
    }
    if (day != 0) return date_value(day, month, year);
    cursor.move_to(behind);
  } else if (cursor.is_short_month()) {
    // "al mar. 5 personas"
  } else if (const int day = cursor.digits(kMaxDay); day != 0) {
    const TextTokens left = cursor.left();
    const bool goes_on = left.size() > 1 && left[1].is_digits() && !left[1].after_space;
    if (left.empty() || (is_end_mark(left[0]) && !goes_on)) {  // no "Januar 10 Prozent" or "Januar 2,5"
      Value date = date_value(day, month, 0);
      date.ill_written = true;
      return date;
    }
    cursor.move_to(behind);
  }
  if (cursor.is_short_month()) {
    const bool alone = cursor.year() == 0;
    cursor.move_to(alone ? begin : behind);
    if (alone) return std::nullopt;
  }
  // "Diciembre de 21" is no day.
  cursor.day_links();
  const int year = cursor.at() > behind && !language.month_first ? full_year(cursor.digits(kMaxDay, 2)) : 0;
  if (year == 0) cursor.move_to(behind);
  Value date = date_value(0, month, year);
  date.optional = true;
  return date;
}

}  // namespace

std::optional<ReadValue> read_date(TextTokens tokens, const ValueLanguage& language) {
  Cursor cursor(tokens, language);
  for (const auto& read : {read_numeric, read_day_and_month, read_day_first, read_month_first}) {
    auto date = read(cursor, language);
    if (!date) continue;
    date->short_month = cursor.is_short_month();
    date->ill_written |= cursor.is_copied_month();
    const size_t begin = tokens[0].begin, end = tokens[cursor.at() - 1].end;
    for (Value* each : {&*date, date->other_reading.empty() ? nullptr : &date->other_reading[0]}) {
      if (each == nullptr) continue;
      each->begin = begin;
      each->end = end;
    }
    return ReadValue{std::move(*date), cursor.at()};
  }
  return std::nullopt;
}

std::optional<ReadValue> read_weekday(TextTokens tokens, const ValueLanguage& language) {
  const TextToken& token = tokens[0];
  if (!token.is_word()) return std::nullopt;
  if (const Phrase<int>* day = find_phrase(language.relative_days, tokens)) {
    const size_t length = phrase_length(day->words);
    Value value{.kind = ValueKind::kWeekday, .begin = token.begin, .end = tokens[length - 1].end};
    value.normal = std::to_string(day->meaning);
    return ReadValue{std::move(value), length};
  }
  const std::string_view word = token.lower;
  for (const auto& [name, number] : language.weekdays) {
    const bool begins = word.starts_with(name);
    if (!begins && !(language.joins_words && word.ends_with(name))) continue;
    const std::string_view rest = word.substr(begins ? name.size() : 0);
    const bool whole = rest.empty() || std::ranges::count(language.behind_weekdays, rest) > 0;
    if (!whole && !language.joins_words) continue;
    Value weekday{.kind = ValueKind::kWeekday, .begin = token.begin, .end = token.end};
    weekday.normal = std::to_string(number);
    const bool name_of_person = token.capitalized && token.begin > 0 && !language.capital_weekdays;
    weekday.optional = !whole || name_of_person;  // "Karfreitag", "Plácido Domingo"
    return ReadValue{std::move(weekday), 1};
  }
  return std::nullopt;
}

namespace {

/// Whether a hyphen joins a word that is no weekday: "Do-it-yourself", unlike "Mo-Fr".
bool joins_other_word(TextTokens tokens, const ValueLanguage& language) {
  constexpr size_t kJoined = 2;
  if (tokens.size() < kJoined || !tokens[0].is("-") || tokens[0].after_space) return false;
  return tokens[1].is_word() && !tokens[1].after_space && !read_weekday(tokens.subspan(1), language) &&
         find_phrase(language.short_weekdays, tokens.subspan(1)) == nullptr;
}

const Phrase<int>* find_short_weekday(TextTokens tokens, const ValueLanguage& language) {
  if (tokens.empty() || !tokens[0].is_word()) return nullptr;
  const bool period = tokens.size() > 1 && tokens[1].is(".") && !tokens[1].after_space;
  if (joins_other_word(tokens.subspan(1), language)) return nullptr;
  const bool written = language.capital_weekdays ? tokens[0].capitalized && !tokens[0].in_capitals : period;
  return written ? find_phrase(language.short_weekdays, tokens) : nullptr;
}

/// Between two weekdays of a list or a range, or in front of a time: "/" of "Sa/So".
size_t length_of_link(TextTokens tokens, const ValueLanguage& language) {
  constexpr std::string_view kMarks = ",/&+";
  if (tokens.empty()) return 0;
  const bool mark = tokens[0].kind == TextToken::Kind::kSymbol && kMarks.find(tokens[0].lower) != kMarks.npos;
  return mark ? 1 : length_of_any(language.ranges, tokens);
}

bool begins_with_time(TextTokens tokens, const ValueLanguage& language) {
  const auto time = tokens.empty() ? std::nullopt : read_time(tokens, language, BeforeTime::kOther);
  return time && time->value.kind == ValueKind::kTime &&
         std::ranges::any_of(tokens.first(time->tokens), &TextToken::is_digits);
}

/// Whether two hours of a range stand behind a weekday without a word for times: "Fri 8-12", unlike "8-12
/// people".
bool are_hours(const TextToken& first, TextTokens last, const ValueLanguage& language) {
  const int from = small_number(first), to = last.empty() ? -1 : small_number(last[0]);
  if (to <= from || to > kLastHour) return false;
  const TextTokens behind = last.subspan(1);
  const bool goes_on = behind.size() > 1 && !behind[0].after_space && !behind[1].after_space;
  return !goes_on && !counts(behind, language);
}

/// A date with its day, a time in figures, or the first hour of a range of them: "9–18 Uhr".
bool begins_with_day_or_time(TextTokens tokens, const ValueLanguage& language) {
  if (tokens.empty()) return false;
  if (begins_with_time(tokens, language)) return true;
  const auto date = read_date(tokens, language);
  if (date && date->value.day != 0) return true;
  size_t hour = tokens[0].is_digits() ? 1 : 0;
  constexpr size_t kWithMinutes = 3;  // tokens
  if (hour > 0 && tokens.size() > kWithMinutes && tokens[2].is_digits() &&
      (tokens[1].is(":") || tokens[1].is(".")))
    hour = kWithMinutes;
  const TextTokens behind = tokens.subspan(hour);
  const size_t range = hour > 0 ? length_of_any(language.ranges, behind) : 0;
  if (range == 0) return false;
  const TextTokens last = behind.subspan(range);
  return begins_with_time(last, language) || (hour == 1 && are_hours(tokens[0], last, language));
}

/// Whether `tokens` is what may stand behind the abbreviation of a weekday. `link`: with a word such as "at"
/// in front of the time, "Mo um 9 Uhr", unlike "So um 9 Uhr" at the beginning of a sentence.
bool continues_weekday(TextTokens tokens, const ValueLanguage& language, bool link) {
  if (const size_t length = length_of_link(tokens, language); length > 0) {
    const TextTokens next = tokens.subspan(length);
    if (find_short_weekday(next, language) != nullptr || (!next.empty() && read_weekday(next, language)))
      return true;
  }
  const TextTokens next = tokens.subspan(!tokens.empty() && tokens[0].is(",") ? 1 : 0);
  if (begins_with_day_or_time(next, language)) return true;
  const size_t at =
      std::max(length_of_any(language.before_times, next), length_of_any(language.before_ranges, next));
  return link && at > 0 && begins_with_day_or_time(next.subspan(at), language);
}

/// Whether the abbreviation of a weekday may stand at a token behind a value: "3 p.m. Tue", "May 3 (Fri)",
/// "Mon–Fri". `behind`: what stands behind it and its period.
bool may_follow(const Value* before, TextTokens tokens, size_t at, TextTokens behind,
                const ValueLanguage& language) {
  if (before == nullptr || at == 0) return false;
  const bool weekday = before->kind == ValueKind::kWeekday;
  const bool day = before->kind == ValueKind::kTime || (before->kind == ValueKind::kDate && before->day != 0);
  if (!weekday && !day) return false;
  const bool title = std::ranges::count(language.weekdays_as_titles, std::string_view(tokens[at].lower)) > 0;
  if (title && day && !behind.empty() && behind[0].is_word() && behind[0].capitalized) return false;
  if (before->end == tokens[at - 1].end) return !weekday;
  constexpr size_t kLongest = 2;  // tokens between them
  size_t first = at;
  while (first > 0 && at - first <= kLongest && tokens[first - 1].begin >= before->end) --first;
  const TextTokens between = tokens.subspan(first, at - first);
  return weekday ? length_of_link(between, language) == between.size()
                 : between.size() == 1 && between[0].is("(") && (behind.empty() || !behind[0].is_word());
}

/// Whether a word that begins a sentence is the abbreviation of a weekday, too: "So 3. Mai", unlike "So, 5
/// Uhr ist zu früh".
bool continues_first_weekday(TextTokens behind, const ValueLanguage& language) {
  if (behind.empty() || behind[0].is(",")) return false;
  const auto date = read_date(behind, language);
  if (date && date->value.day != 0) return true;
  return length_of_link(behind, language) > 0 && continues_weekday(behind, language, false);
}

}  // namespace

std::optional<ReadValue> read_short_weekday(TextTokens tokens, size_t at, const Value* before,
                                            const ValueLanguage& language) {
  const Phrase<int>* day = find_short_weekday(tokens.subspan(at), language);
  if (day == nullptr) return std::nullopt;
  constexpr std::string_view kSentenceMarks = ".!?:", kOpening = "(\"„“»«‚‘";
  const TextToken* last = at > 0 ? &tokens[at - 1] : nullptr;
  if (last != nullptr &&
      std::ranges::count(language.before_other_than_weekdays, std::string_view(last->lower)) > 0)
    return std::nullopt;
  const bool begins = last == nullptr || kSentenceMarks.find(last->lower) != std::string_view::npos;
  TextTokens behind = tokens.subspan(at + 1);
  const size_t period = !behind.empty() && behind[0].is(".") && !behind[0].after_space ? 1 : 0;
  behind = behind.subspan(period);
  // "Fuimos al mar. A las 9 volvimos."
  const bool ends_sentence =
      !language.capital_weekdays && !tokens[at].in_capitals && !behind.empty() && behind[0].capitalized;
  if (ends_sentence) return std::nullopt;
  const bool word = period == 0 && (begins || kOpening.find(last->lower) != std::string_view::npos) &&
                    std::ranges::count(language.weekdays_as_words, std::string_view(tokens[at].lower)) > 0;
  const bool continues =
      word ? continues_first_weekday(behind, language) : continues_weekday(behind, language, !begins);
  if (!continues && !may_follow(before, tokens, at, behind, language)) return std::nullopt;
  Value value{.kind = ValueKind::kWeekday, .begin = tokens[at].begin, .end = tokens[at + period].end};
  value.normal = std::to_string(day->meaning);
  return ReadValue{std::move(value), 1 + period};
}

}  // namespace heed::translate
