#include "translate/documents/markdown_escape.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "text/unicode/whitespace.h"

namespace heed::translate {
namespace {

/// Where the mark of a list item, a quotation or a heading at the beginning of a text would get a backslash;
/// npos without one.
size_t place_in_mark(std::string_view text) {
  constexpr size_t kMostDigits = 9, kMostLevels = 6;
  constexpr auto kNone = std::string_view::npos;
  if (text.starts_with('>')) return 0;
  const auto ends_at = [&](size_t at) { return at >= text.size() || text[at] == ' ' || text[at] == '\t'; };
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size()),
               levels = std::min(text.find_first_not_of('#'), text.size());
  if (digits > 0) {
    const bool numbered = digits <= kMostDigits && digits < text.size() &&
                          (text[digits] == '.' || text[digits] == ')') && ends_at(digits + 1);
    return numbered ? digits : kNone;
  }
  if (levels > 0) return levels <= kMostLevels && ends_at(levels) ? 0 : kNone;
  const bool bullet = !text.empty() && std::string_view("-+*").find(text[0]) != kNone && ends_at(1);
  return bullet ? 0 : kNone;
}

}  // namespace

std::string escape_markdown(std::string_view text) {
  const auto begins_markup = [&](size_t at) {
    if (text[at] != '<' || at + 1 == text.size()) return false;
    const char next = text[at + 1];
    return is_ascii_letter(next) || std::string_view("/!?").find(next) != std::string_view::npos;
  };
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    if (begins_markup(at)) result += '\\';
    result += text[at];
  }
  return result;
}

std::string part_of_line_before(std::string_view document, size_t at) {
  constexpr size_t kMost = 200;
  const std::string_view before = document.substr(at - std::min(at, kMost), std::min(at, kMost));
  return std::string(before.substr(before.rfind('\n') + 1));
}

std::string escape_beginning(std::string text, std::string_view before) {
  // Marks of quotations, lists, tasks and notes. In headings and cells of tables there are no lists.
  const bool begins_block = before.find_first_not_of(" \t>-+*.)0123456789[]xX") == std::string_view::npos ||
                            strip(before).starts_with("[^");
  const size_t place = begins_block ? place_in_mark(text) : std::string_view::npos;
  if (place != std::string_view::npos) text.insert(place, 1, '\\');
  return text;
}

}  // namespace heed::translate
