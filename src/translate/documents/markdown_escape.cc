#include "translate/documents/markdown_escape.h"

#include "base/text/ascii.h"

namespace heed::translate {

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

}  // namespace heed::translate
