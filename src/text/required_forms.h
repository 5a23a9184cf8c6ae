// Whether a text holds what it must hold: a number, a date, an address, a name, in one of the forms that are
// right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The parts of "a|b|c" without white space around them; empty ones are left out.
std::vector<std::string> split_forms(std::string_view text);

/// Whether `form` stands in `text`, and not as a part of something longer: no letter or digit is next to its
/// own letters and digits, and no digit behind a period, comma or colon next to its own digits. So "5" is not
/// in "15", "5.5" or "1,500", but in "5%" and "at 5."
bool holds_form(std::string_view text, std::string_view form);

}  // namespace heed
