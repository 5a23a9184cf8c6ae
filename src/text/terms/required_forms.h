// Checks that a text contains a required number, date, address or name in one of its accepted forms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Splits "a|b|c", strips white space, and drops empty forms.
std::vector<std::string> split_forms(std::string_view text);

/// Whether `text` contains `form` as a whole word or number: its letters and digits are not adjacent to
/// others, and its digits not joined to others by a period, comma or colon. "5" is not in "15", "5.5" or
/// "1,500", but in "5%" and "at 5."
bool contains_form(std::string_view text, std::string_view form);

}  // namespace heed
