// Halves behind or instead of a whole number: "two and a half", "half an hour", "zweieinhalb", "hora y
// media".
#pragma once

#include <optional>
#include <string>

#include "translate/values/languages/text_tokens.h"
#include "translate/values/languages/value_language.h"

namespace heed::translate {

/// What a half may be of.
struct HalvedUnit {
  int count = 0;  ///< of smaller units in it: 60 minutes in "hour"
  int zeros = 0;  ///< of "million"
  Unit unit = Unit::kNone;
  size_t tokens = 0;  ///< 0: none
};

/// At the beginning of `tokens`: a period, a scale, a unit, or one of ValueLanguage::halved_units.
HalvedUnit find_halved_unit(TextTokens tokens, const ValueLanguage& language);

struct Half {
  std::string normal = {};     ///< "2.5"
  std::string otherwise = {};  ///< in the smaller unit: "150" of "two and a half hours"; empty: none
  size_t tokens = 0;
  Unit unit = Unit::kNone;  ///< among the tokens: "dos metros y medio"
  bool part = false;        ///< as in Value
};

/// The number with a half at the beginning of `tokens`, or the quarters of a million or an hour. A half alone
/// is one in front of a unit only: "half an hour", but not "half a mind".
std::optional<Half> read_half(TextTokens tokens, const ValueLanguage& language);

}  // namespace heed::translate
