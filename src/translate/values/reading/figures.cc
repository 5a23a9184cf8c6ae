#include "translate/values/reading/figures.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace heed::translate {
namespace {

/// Groups of digits of a number. More are none: each of them would be read to the end of all, in vain.
constexpr size_t kMostGroups = 20;

/// Digits separated by single marks: groups.size() == marks.size() + 1. Of a long row, the first groups, more
/// than a number has.
struct Groups {
  std::vector<std::string_view> groups;
  std::string marks;
};

Groups groups_of(TextTokens tokens) {
  Groups result{{tokens[0].lower}, ""};
  for (size_t n = 1; n + 1 < tokens.size() && result.groups.size() <= kMostGroups; n += 2) {
    const TextToken& mark = tokens[n];
    const bool is_mark = mark.is(".") || mark.is(",") || mark.is("'");
    if (!is_mark || mark.after_space || tokens[n + 1].after_space || !tokens[n + 1].is_digits()) break;
    result.marks += mark.lower;
    result.groups.push_back(tokens[n + 1].lower);
  }
  return result;
}

/// Whether groups first to last are those of one integer: "12", "345", "678".
bool are_thousands(const Groups& number, size_t groups) {
  if (groups < 2 || groups > kMostGroups || number.groups[0].size() > kGroupDigits || number.groups[0] == "0")
    return false;
  for (size_t n = 1; n < groups; ++n) {
    if (number.groups[n].size() != kGroupDigits || number.marks[n - 1] != number.marks[0]) return false;
  }
  return true;
}

std::string joined(const Groups& number, size_t groups) {
  std::string digits;
  for (size_t n = 0; n < groups; ++n) digits += number.groups[n];
  return digits;
}

/// "10 000": groups of three digits behind spaces.
size_t spaced_groups(TextTokens tokens) {
  if (tokens[0].lower.size() > kGroupDigits || tokens[0].lower == "0") return 1;
  size_t count = 1;
  while (count <= kMostGroups && count < tokens.size() && tokens[count].is_digits() &&
         tokens[count].after_space && tokens[count].lower.size() == kGroupDigits &&
         tokens[count].begin <= tokens[count - 1].end + 3) {
    ++count;
  }
  const bool goes_on = count < tokens.size() && tokens[count].is_digits();  // a telephone number
  return goes_on ? 1 : count;
}

/// "19 552,88": the groups, and decimals behind their mark.
Figures read_spaced(TextTokens tokens, size_t groups, const ValueLanguage& language) {
  std::string digits;
  for (const TextToken& token : tokens.first(groups)) digits += token.lower;
  const TextTokens behind = tokens.subspan(groups);
  const bool decimals = behind.size() > 1 && (behind[0].is(".") || behind[0].is(",")) &&
                        !behind[0].after_space && behind[1].is_digits() && !behind[1].after_space;
  if (!decimals) return Figures{decimal_number(digits, ""), "", groups};
  return Figures{decimal_number(digits, behind[1].lower), "", groups + 2,
                 behind[0].lower[0] != language.decimal_mark, behind[1].lower.size()};
}

}  // namespace

std::string decimal_number(std::string whole, std::string fraction) {
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size() - 1));
  while (fraction.ends_with('0')) fraction.pop_back();
  return fraction.empty() ? whole : whole + "." + fraction;
}

std::optional<Figures> read_figures(TextTokens tokens, const ValueLanguage& language) {
  if (tokens.empty() || !tokens[0].is_digits()) return std::nullopt;
  if (const size_t spaced = spaced_groups(tokens); spaced > 1) return read_spaced(tokens, spaced, language);
  const Groups number = groups_of(tokens);
  const size_t count = number.groups.size();
  const size_t used = 2 * count - 1;
  const std::string last(number.groups.back());
  constexpr size_t kCode = 3;  // digits of "007", whose zeros count
  if (count == 1) return Figures{last.size() < kCode ? decimal_number(last, "") : last, "", 1};
  const bool all_thousands = are_thousands(number, count);
  if (count == 2) {
    const std::string integer = decimal_number(joined(number, 2), ""), whole(number.groups[0]);
    const std::string decimal = decimal_number(whole, last);
    const bool feet = number.marks[0] == '\'' && !language.decimal_apostrophe;  // and inches: 5'10"
    if (!all_thousands && feet) return Figures{decimal_number(whole, ""), "", 1};
    const size_t decimals = last.size();
    if (!all_thousands) return Figures{decimal, "", used, number.marks[0] != language.decimal_mark, decimals};
    const bool grouped = number.marks[0] != language.decimal_mark;
    const std::string other = grouped ? decimal : integer;
    const bool ambiguous = language.other_marks == OtherMarks::kEither ||
                           (language.other_marks == OtherMarks::kGroups && !grouped);
    return Figures{grouped ? integer : decimal, ambiguous ? other : "", used, false, grouped ? 0 : decimals};
  }
  if (all_thousands) {
    return Figures{decimal_number(joined(number, count), ""), "", used,
                   number.marks[0] == language.decimal_mark};
  }
  const bool decimal = number.marks.back() != number.marks[0] && are_thousands(number, count - 1);
  if (decimal) {
    return Figures{decimal_number(joined(number, count - 1), last), "", used,
                   number.marks.back() != language.decimal_mark, last.size()};
  }
  return Figures{decimal_number(joined(number, 1), ""), "", 1};
}

OtherMarks other_marks(TextTokens tokens, const ValueLanguage& language) {
  if (language.other_marks == OtherMarks::kNever) return OtherMarks::kNever;
  bool usual = false, other = false;
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (!tokens[at].is_digits()) continue;
    const Groups number = groups_of(tokens.subspan(at));
    const size_t count = number.groups.size(), used = 2 * count - 1;
    const bool thousands = are_thousands(number, count);
    const bool is_decimal = count == 2 ? !thousands
                                       : count > 2 && !thousands && number.marks.back() != number.marks[0] &&
                                             are_thousands(number, count - 1);
    const char last = number.marks.empty() ? ' ' : number.marks.back();
    // "300.000" is round, so three hundred thousand.
    const bool is_round = count == 2 && thousands && number.groups[1] == "000";
    if (is_decimal) (last == language.decimal_mark ? usual : other) = true;
    if (is_round || (count > 2 && thousands)) (last == language.group_mark ? usual : other) = true;
    at += used - 1;
  }
  if (other) return OtherMarks::kEither;
  return usual ? OtherMarks::kNever : language.other_marks;
}

std::optional<int64_t> parse_integer(std::string_view normal, size_t max_digits) {
  if (normal.size() > max_digits) return std::nullopt;
  int64_t number = 0;
  const char* const end = normal.data() + normal.size();
  const auto [read_to, error] = std::from_chars(normal.data(), end, number);
  if (error != std::errc() || read_to != end || normal.starts_with('-')) return std::nullopt;
  return number;
}

std::string with_zeros(const std::string& number, int zeros) {
  const size_t point = std::min(number.find('.'), number.size());
  std::string whole = number.substr(0, point), fraction = number.substr(std::min(point + 1, number.size()));
  for (int n = 0; n < zeros; ++n) {
    whole += fraction.empty() ? '0' : fraction[0];
    if (!fraction.empty()) fraction.erase(0, 1);
  }
  return decimal_number(std::move(whole), std::move(fraction));
}

bool names_decade(std::string_view normal) {
  return normal.size() > 1 && normal.ends_with('0') && !normal.ends_with("00");
}

std::string write_figures(const std::string& number, const ValueLanguage& language, size_t decimals) {
  const bool negative = number.starts_with('-');
  const size_t begin = negative ? 1 : 0, point = std::min(number.find('.'), number.size());
  std::string whole = number.substr(begin, point - begin);
  const bool grouped = whole.size() >= language.least_grouped;
  for (size_t at = whole.size(); grouped && at > kGroupDigits;) {
    at -= kGroupDigits;
    whole.insert(at, 1, language.group_mark);
  }
  std::string fraction = number.substr(std::min(point + 1, number.size()));
  fraction.resize(std::max(fraction.size(), decimals), '0');
  if (!fraction.empty()) whole += language.decimal_mark + fraction;
  return (negative ? "-" : "") + whole;
}

}  // namespace heed::translate
