// Times of the day, by the patterns of a language.
#include <algorithm>
#include <utility>

#include "translate/values/reading/figures.h"
#include "translate/values/reading/halves.h"
#include "translate/values/reading/value_readers.h"

namespace heed::translate {
namespace {

/// A number of an hour or of minutes, in figures or in words.
struct ClockNumber {
  int value = 0;
  size_t tokens = 0;
  bool in_words = false;
  bool named = false;  ///< the hour of noon or midnight
};

std::optional<ClockNumber> read_clock_number(TextTokens tokens, const ValueLanguage& language, int most) {
  if (tokens.empty()) return std::nullopt;
  if (tokens[0].is_digits()) {
    const int value = small_number(tokens[0]);
    if (value < 0 || value > most || tokens[0].lower.size() > 2) return std::nullopt;
    return ClockNumber{value, 1, false};
  }
  const auto words = language.read_words(tokens);
  if (!words || words->ordinal || words->determiner || words->half || words->value < 1 || words->value > most)
    return std::nullopt;
  return ClockNumber{static_cast<int>(words->value), words->tokens, true};
}

/// The hour of "a quarter to midnight".
std::optional<ClockNumber> read_named_hour(TextTokens tokens, const ValueLanguage& language) {
  const Phrase<int>* named = find_phrase(language.named_times, tokens);
  if (named == nullptr) return std::nullopt;
  return ClockNumber{named->meaning / kHourMinutes, phrase_length(named->words), true, true};
}

/// What the parts of a pattern say.
struct PatternMatch {
  ClockNumber hour, minutes;
  size_t tokens = 0;
  bool counts = false;  ///< the minutes may be a number of what stands behind them
};

/// Whether a word of a text is one of a pattern; "las" of a pattern stands for "la", too.
bool is_word_of_pattern(const TextToken& token, std::string_view word) {
  return token.is(word) || (word == "las" && token.is("la"));
}

/// Whether an hour is in the form that it has only in front of "Uhr", and nothing of the kind follows: "zehn
/// vor ein".
bool lacks_clock_word(TextTokens hour, const ValueLanguage& language) {
  return hour[0].is(language.hour_before_clock_word) &&
         (hour.size() == 1 || std::ranges::find(language.clock_words, std::string_view(hour[1].lower)) ==
                                  language.clock_words.end());
}

bool read_part(std::string_view part, TextTokens tokens, const ValueLanguage& language, bool named_hours,
               PatternMatch& match) {
  if (match.tokens >= tokens.size()) return false;
  const TextTokens left = tokens.subspan(match.tokens);
  // "Viertel vor11" is no time.
  if (match.tokens > 0 && left[0].is_digits() && !left[0].after_space && tokens[match.tokens - 1].is_word())
    return false;
  if (part == "H") {
    auto hour = read_clock_number(left, language, kLastHour);
    if (!hour && named_hours && match.tokens > 0) hour = read_named_hour(left, language);
    if (!hour || lacks_clock_word(left, language)) return false;
    match.hour = *hour;
    match.tokens += hour->tokens;
    return true;
  }
  if (part == "M" || part == "MM") {
    const auto minutes = read_clock_number(left, language, kLastMinute);
    const bool two_digits = left[0].lower.size() == 2 && left[0].is_digits() && !left[0].after_space;
    if (!minutes || (part == "MM" && !two_digits)) return false;
    if (minutes->in_words && minutes->value == 1) return false;  // an article: "um 13 Uhr ein Bier"
    match.minutes = *minutes;
    match.tokens += minutes->tokens;
    return true;
  }
  const bool is_mark = part == ":" || part == ".";
  if (!is_word_of_pattern(left[0], part) || (is_mark && left[0].after_space)) return false;
  ++match.tokens;
  return true;
}

/// Whether figures go on behind their first token: "2.706" of "las 2.706 personas", "20 000", and "3a", but
/// not "3pm".
bool goes_on(TextTokens tokens, const ValueLanguage& language) {
  if (tokens.size() > 1 && tokens[0].is_digits() && tokens[1].is_digits() &&
      tokens[1].lower.size() == kGroupDigits)
    return true;
  if (tokens.size() > 1 && tokens[0].is_digits() && tokens[1].is_word() && !tokens[1].after_space) {
    return find_phrase(language.parts_of_day, tokens.subspan(1)) == nullptr &&
           std::ranges::find(language.clock_words, std::string_view(tokens[1].lower)) ==
               language.clock_words.end();
  }
  return tokens.size() > 2 && tokens[0].is_digits() && (tokens[1].is(".") || tokens[1].is(",")) &&
         !tokens[1].after_space && tokens[2].is_digits() && !tokens[2].after_space;
}

/// Whether a clause ends in front of some tokens, or a part of the day stands there.
bool ends_clause(TextTokens tokens, const ValueLanguage& language) {
  constexpr std::string_view kMarks = ".,;:!?)";
  if (tokens.empty() || find_phrase(language.parts_of_day, tokens) != nullptr) return true;
  return tokens[0].kind == TextToken::Kind::kSymbol && kMarks.find(tokens[0].lower) != kMarks.npos;
}

/// Whether the words in front of figures such as "20 to 9" make a time of them.
bool is_made_time(BeforeTime before, TextTokens behind, const ValueLanguage& language) {
  return before == BeforeTime::kTimes ||
         (before == BeforeTime::kTimesOrScores && ends_clause(behind, language));
}

std::optional<PatternMatch> match_pattern(const TimePattern& pattern, TextTokens tokens,
                                          const ValueLanguage& language, BeforeTime before) {
  PatternMatch match;
  const bool spoken = pattern.reading == TimePattern::Reading::kSpoken;
  const bool named_hours = spoken && pattern.certain;  // "from ten to midnight" is another range
  for (std::string_view left = pattern.pattern; !left.empty();) {
    const size_t end = std::min(left.find(' '), left.size());
    if (!read_part(left.substr(0, end), tokens, language, named_hours, match)) return std::nullopt;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  const bool has_minutes = match.minutes.tokens > 0;
  const bool words = match.hour.in_words && (!has_minutes || match.minutes.in_words);
  if (pattern.in_words && (!words || match.hour.value > 12 || match.minutes.value < 10)) {
    const bool oh = pattern.pattern.find("oh") != std::string_view::npos;
    if (!words || match.hour.value > 12 || !oh) return std::nullopt;
  }
  // "From 8 to 10" is rarely eight minutes to ten, but "it's 20 to 9" is a time. "At 20 to 1" may be odds.
  const bool two_digits = pattern.pattern.find("MM") != std::string_view::npos;
  constexpr int kStep = 5;
  const bool usual = pattern.in_words || match.minutes.value % kStep == 0;
  const bool descends = match.hour.value > 1 && match.minutes.value > match.hour.value;
  const TextTokens behind = tokens.subspan(match.tokens);
  const bool from_words =
      pattern.certain || match.minutes.in_words || (descends && is_made_time(before, behind, language));
  if (pattern.before_or_after && has_minutes && !two_digits && !(usual && from_words)) return std::nullopt;
  if (spoken && !match.hour.named &&
      (match.hour.value == 0 || (match.hour.value > 12 && (has_minutes || pattern.minutes != 0)))) {
    return std::nullopt;
  }
  if (has_minutes && spoken && match.minutes.value > 30) {
    if (pattern.sign < 0 || !(pattern.in_words || pattern.to_the_hour)) return std::nullopt;
  }
  if (!behind.empty() && goes_on(tokens.subspan(match.tokens - 1), language)) return std::nullopt;
  // "Um 21 Uhr zwei Karten" says no minutes, "um 21 Uhr zwölf Karten" may.
  match.counts = pattern.pattern.ends_with(" M") && begins_with_noun(behind, language) &&
                 find_phrase(language.periods, behind) == nullptr;
  constexpr int kTwoDigits = 10;
  if (match.counts && match.minutes.value < kTwoDigits) return std::nullopt;
  return match;
}

/// The numbers that an uncertain time could be instead.
std::vector<Value> as_numbers(const PatternMatch& match, TextTokens tokens, bool of_figures) {
  std::vector<Value> numbers;
  for (const ClockNumber& each : {match.hour, match.minutes}) {
    if (each.tokens == 0) continue;
    Value number{.begin = tokens[0].begin, .end = tokens[match.tokens - 1].end};
    number.normal = std::to_string(each.value);
    number.in_words = each.in_words;
    number.of_figures = of_figures;
    number.optional = each.value == 1 && each.in_words;
    numbers.push_back(std::move(number));
  }
  return numbers;
}

/// The part of the day behind a time, or behind what separates it: "9:30, in the morning".
const Phrase<PartOfDay>* part_behind(TextTokens tokens, const ValueLanguage& language) {
  return tokens.empty() ? nullptr : find_phrase(language.parts_of_day, tokens);
}

Value time_value(const TimePattern& pattern, const PatternMatch& match, const ValueLanguage& language) {
  Value time{.kind = ValueKind::kTime};
  const int minutes = pattern.minutes + pattern.sign * match.minutes.value;
  time.minute = (match.hour.value * kHourMinutes + minutes + kDayMinutes) % kDayMinutes;
  const bool on_face = match.hour.value >= 1 && match.hour.value <= 12 && !match.hour.named;
  const bool spoken = pattern.reading == TimePattern::Reading::kSpoken;
  time.on_face = on_face;
  time.half_day = on_face && (spoken || match.hour.in_words || language.twelve_hour);
  time.in_words = match.hour.in_words || spoken;
  return time;
}

std::optional<ReadValue> read_named_time(TextTokens tokens, const ValueLanguage& language) {
  const Phrase<int>* named = find_phrase(language.named_times, tokens);
  if (named == nullptr) return std::nullopt;
  const size_t words = phrase_length(named->words);
  Value time{.kind = ValueKind::kTime, .begin = tokens[0].begin, .end = tokens[words - 1].end};
  time.minute = named->meaning;
  time.optional = true;
  return ReadValue{std::move(time), words};
}

/// Whether a pattern begins with a number of hours or minutes.
bool begins_with_number(const TimePattern& pattern) {
  return pattern.pattern.starts_with('H') || pattern.pattern.starts_with('M');
}

bool is_number(const TextToken& token, const ValueLanguage& language) {
  if (token.is_digits()) return true;
  const auto number = token.is_word() ? language.read_words({&token, 1}) : std::nullopt;
  return number && !number->ordinal && !number->determiner && !number->half;
}

/// Whether a part of the day makes an hour of the number before it. "Dos por la noche" is none without "las".
bool has_part_of_hour(TextTokens tokens, const ValueLanguage& language) {
  const Phrase<PartOfDay>* part = part_behind(tokens, language);
  return part != nullptr && !(language.article_before_times && part->words.starts_with("por "));
}

}  // namespace

int minute_of_day(int minute, PartOfDay part) {
  if (minute >= 13 * kHourMinutes) return minute;
  const int face = minute % kHalfDayMinutes;
  // "Twelve at night" is midnight, and so is "zwölf Uhr abends"; "elf Uhr mittags" is before noon.
  constexpr int kNoonEnds = 6 * kHourMinutes, kEveningBegins = 4 * kHourMinutes,
                kNightBegins = 6 * kHourMinutes;
  const bool after_noon = part == PartOfDay::kAfternoon || (part == PartOfDay::kNoon && face < kNoonEnds) ||
                          (part == PartOfDay::kEvening && face >= kEveningBegins) ||
                          (part == PartOfDay::kNight && face >= kNightBegins);
  return after_noon ? face + kHalfDayMinutes : face;
}

std::optional<ReadValue> read_time(TextTokens tokens, const ValueLanguage& language, BeforeTime before) {
  if (auto named = read_named_time(tokens, language)) return named;
  const bool number = is_number(tokens[0], language);
  const TimePattern* best = nullptr;
  PatternMatch match;
  for (const TimePattern& pattern : language.times) {
    if (begins_with_number(pattern) && !number) continue;
    const auto found = match_pattern(pattern, tokens, language, before);
    if (!found || found->tokens <= match.tokens) continue;
    if (pattern.needs_part && !has_part_of_hour(tokens.subspan(found->tokens), language)) continue;
    match = *found;
    best = &pattern;
  }
  if (best == nullptr) return std::nullopt;
  Value time = time_value(*best, match, language);
  const Phrase<PartOfDay>* part = part_behind(tokens.subspan(match.tokens), language);
  if (part != nullptr && language.twelve_hour && match.hour.value > 12) {
    // "20.30pm" is meant, "14 p.m." and "16 a.m." are mistakes.
    const bool says_both = match.minutes.tokens > 0 && part->meaning == PartOfDay::kAfternoon;
    if (!says_both) return std::nullopt;
    time.ill_written = true;
  }
  const bool full_hour = !best->certain && best->reading == TimePattern::Reading::kSpoken;
  if (full_hour && !language.twelve_hour && !match.hour.in_words && part == nullptr &&
      length_of_any(language.clock_words, tokens.subspan(match.tokens)) > 0)
    time.half_day = false;  // "las 6 h"
  if (part != nullptr) {
    time.minute = minute_of_day(time.minute, part->meaning);
    time.half_day = time.on_face = false;
  }
  const bool says_minutes = best->pattern.find("MM") != std::string_view::npos;
  const bool certain = best->certain && !match.counts;
  if (!certain && (part == nullptr || best->before_or_after)) {  // "from ten to twelve in the morning"
    time.other_reading = as_numbers(match, tokens, says_minutes);
    const auto half = read_half(tokens, language);  // "ocho y media"
    if (half && half->tokens == match.tokens) time.other_reading[0].normal = half->normal;
  }
  // "Mittags" is read once more, as noon, which the other text may say beside the time.
  if (part != nullptr && part->meaning != PartOfDay::kNoon) match.tokens += phrase_length(part->words);
  time.begin = tokens[0].begin;
  time.end = tokens[match.tokens - 1].end;
  return ReadValue{std::move(time), match.tokens};
}

}  // namespace heed::translate
