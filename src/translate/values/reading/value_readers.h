// Readers of one value each, at the beginning of some tokens. They begin with white space or an edge of the
// text before them, or not, as tokens[0].after_space says.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "text/terms/protected_spans.h"
#include "translate/values/languages/text_tokens.h"
#include "translate/values/languages/value_language.h"
#include "translate/values/value.h"

namespace heed::translate {

struct ReadValue {
  Value value;  ///< with begin and end
  size_t tokens = 0;
};

/// "1.249,50", "twenty-one", "5 million", "€24", "3 degrees below zero", "5th"; also "both" and "Ludwig XIV".
std::optional<ReadValue> read_number(TextTokens tokens, const ValueLanguage& language);
/// What stands in front of a time.
enum class BeforeTime {
  kOther,
  kTimes,          ///< a word of times: "at"
  kTimesOrScores,  ///< one behind which "20 to 9" is a time at the end of a clause only: "it's"
};
/// "14:35 Uhr", "half past nine", "8 a.m.", "noon".
std::optional<ReadValue> read_time(TextTokens tokens, const ValueLanguage& language, BeforeTime before);
/// "12. März 2024", "12.03.2024", "March", "24.10."
std::optional<ReadValue> read_date(TextTokens tokens, const ValueLanguage& language);
/// "Monday", "mondays", "Montagabend". Optional where it may be part of a name: "Karfreitag".
std::optional<ReadValue> read_weekday(TextTokens tokens, const ValueLanguage& language);
/// The abbreviation of a weekday at a token of a text, beside a date, a time or another weekday. `before`:
/// the last value in front of it; null: none.
std::optional<ReadValue> read_short_weekday(TextTokens tokens, size_t at, const Value* before,
                                            const ValueLanguage& language);
/// "LH 6887", "7664-DA", "612 345 678", "2:1", "nine one one"; addresses and other codes are found by
/// find_addresses_and_codes().
/// `lasts`: "3:45" is a duration.
std::optional<ReadValue> read_code(TextTokens tokens, const ValueLanguage& language, bool lasts);
/// "XIV"
std::optional<ReadValue> read_roman(const TextToken& token);
/// The number of a list item. `tokens` are those of the whole text.
std::optional<ReadValue> read_marker(TextTokens tokens, const ValueLanguage& language);

/// Where a text has e-mail addresses, URLs, IP addresses, identifiers and the like. `tokens`: all of the
/// text.
std::vector<ProtectedSpan> find_addresses_and_codes(std::string_view text, TextTokens tokens);

/// Whether tokens behind a number begin with a noun that it counts, as far as that can be seen.
bool begins_with_noun(TextTokens tokens, const ValueLanguage& language);

/// The tokens of the unit that `tokens` begin with; 0 if it is that of figures behind it: "$5".
size_t unit_length(TextTokens tokens, const ValueLanguage& language);

/// The time on the 24-hour clock, in minutes, of one on the face of a clock.
int minute_of_day(int minute, PartOfDay part);

}  // namespace heed::translate
