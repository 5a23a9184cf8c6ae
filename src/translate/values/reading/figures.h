// Numbers in figures, with the marks of a language: "1.249,50" is 1249.50 in German.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "translate/values/languages/text_tokens.h"
#include "translate/values/languages/value_language.h"

namespace heed::translate {

inline constexpr size_t kGroupDigits = 3;  // between two marks of thousands

struct Figures {
  std::string normal;     ///< "1249.5": no needless zeros
  std::string otherwise;  ///< by the other convention, if it may be meant (OtherMarks); else empty
  size_t tokens = 0;
  bool other_mark = false;  ///< as Value::ill_written
  size_t decimals = 0;      ///< digits behind the decimal mark
};

/// The number at the beginning of `tokens`. Marks of the other convention are read, too, where they can only
/// be meant so: "1,249.50" in German.
std::optional<Figures> read_figures(TextTokens tokens, const ValueLanguage& language);

/// Which figures of a text are ambiguous in its language, given all others: "1,5" and "300.000" in Spanish
/// say that "1,250" is 1.25, and "1.5" that "1.250" may be. "18.07", a time, counts as decimal: more is
/// ambiguous.
OtherMarks other_marks(TextTokens tokens, const ValueLanguage& language);

/// The decimal number of some digits before and behind its point, without needless zeros.
std::string decimal_number(std::string whole, std::string fraction);

/// The non-negative integer of at most `max_digits` digits that a normal form is; none for "-3", "1.5" and
/// "".
std::optional<int64_t> parse_integer(std::string_view normal, size_t max_digits);

/// A decimal number with its point moved right: "1.5" with 6 zeros is "1500000".
std::string with_zeros(const std::string& number, int zeros);

/// Whether a normal form can name a decade by its first year: "1990" and "90", but not "1900", a century.
bool names_decade(std::string_view normal);

/// A decimal number as a language writes it, with at least so many decimals: "1249.5" is "1.249,50" in
/// German.
std::string write_figures(const std::string& number, const ValueLanguage& language, size_t decimals = 0);

}  // namespace heed::translate
