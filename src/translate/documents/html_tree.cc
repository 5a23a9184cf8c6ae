#include "translate/documents/html_tree.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/check.h"
#include "base/text/ascii.h"
#include "text/unicode/whitespace.h"

namespace heed::translate {
namespace {

/// Maximum nesting of elements: Gumbo frees its tree recursively.
constexpr int kMaxDepth = 4000;

constexpr std::array kUntouched{GUMBO_TAG_SCRIPT, GUMBO_TAG_STYLE, GUMBO_TAG_PRE,      GUMBO_TAG_TEXTAREA,
                                GUMBO_TAG_SVG,    GUMBO_TAG_MATH,  GUMBO_TAG_TEMPLATE, GUMBO_TAG_NOSCRIPT,
                                GUMBO_TAG_IFRAME, GUMBO_TAG_XMP,   GUMBO_TAG_PLAINTEXT};

void require_shallow(std::string_view html) {
  int depth = 0;
  for (size_t at = 0; (at = html.find('<', at)) != std::string_view::npos;) {
    ++at;
    if (at >= html.size()) return;
    if (html[at] == '/') {
      depth = std::max(0, depth - 1);
    } else if (is_ascii_letter(html[at])) {
      std::string name;
      for (size_t k = at; k < html.size() && name.size() < 8 && u_isalnum(html[k]); ++k) {
        name += static_cast<char>(u_tolower(html[k]));
      }
      constexpr std::array<std::string_view, 13> kUnclosed{"br", "hr", "img", "input", "meta", "link", "p",
                                                           "li", "td", "tr",  "th",    "wbr",  "dd"};
      if (std::find(kUnclosed.begin(), kUnclosed.end(), name) == kUnclosed.end()) ++depth;
    }
    if (depth > kMaxDepth) {
      fail(ErrorKind::kUsage, "HTML with elements nested more than {} deep is not supported", kMaxDepth);
    }
  }
}

}  // namespace

HtmlTree parse_html(std::string_view html) {
  require_shallow(html);
  return HtmlTree(gumbo_parse_with_options(&kGumboDefaultOptions, html.data(), html.size()));
}

bool is_untouched(GumboTag tag) {
  return std::find(kUntouched.begin(), kUntouched.end(), tag) != kUntouched.end();
}

bool is_translated(const GumboElement& element) {
  const GumboAttribute* translate = gumbo_get_attribute(&element.attributes, "translate");
  const GumboAttribute* classes = gumbo_get_attribute(&element.attributes, "class");
  if (translate != nullptr && std::string_view(translate->value) == "no") return false;
  if (classes == nullptr) return true;
  const auto words = split_whitespace(classes->value);
  return std::find(words.begin(), words.end(), "notranslate") == words.end();
}

}  // namespace heed::translate
