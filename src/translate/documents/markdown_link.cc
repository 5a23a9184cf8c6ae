#include "translate/documents/markdown_link.h"

#include "translate/documents/markdown_text.h"

namespace heed::translate {

size_t behind_link(std::string_view text, size_t at) {
  if (at >= text.size() || text[at] != ']') return at;
  const size_t next = at + 1;
  if (next >= text.size() || (text[next] != '(' && text[next] != '[')) return next;
  if (footnote_label(text, next) > 0) return next;
  const char open = text[next], close = open == '(' ? ')' : ']';
  int depth = 0;
  char quote = '\0';
  for (size_t k = next; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '\\') {
      ++k;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (open == '(' && depth == 1 && (c == '"' || c == '\'') && text[k - 1] == ' ') {
      quote = c;
    } else if (c == open) {
      ++depth;
    } else if (c == close && --depth == 0) {
      return k + 1;
    }
  }
  return at;
}

std::string link_name(std::string_view text) {
  std::string name;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\n') {
      name += text[at];
      continue;
    }
    while (!name.empty() && (name.back() == ' ' || name.back() == '\r')) name.pop_back();
    name += ' ';
    // The prefix of a line of a quotation.
    while (at + 1 < text.size() && std::string_view(" \t>").find(text[at + 1]) != std::string_view::npos)
      ++at;
  }
  return name;
}

}  // namespace heed::translate
