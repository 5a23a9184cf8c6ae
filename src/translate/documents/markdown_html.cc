#include "translate/documents/markdown_html.h"

#include <optional>
#include <vector>

#include "base/text/ascii.h"
#include "translate/documents/html_elements.h"
#include "translate/documents/html_tree.h"

namespace heed::translate {
namespace {

/// Attributes are read up to this size of a tag: Gumbo compares each name with all others.
constexpr size_t kLongestTag = 1024;

/// What the element of an opening tag says about its translation, as in HTML.
std::optional<bool> tag_says_translated(std::string_view opening) {
  if (opening.size() > kLongestTag) return std::nullopt;
  const HtmlTree tree = parse_html(opening);
  std::vector<const GumboNode*> waiting{tree.document};
  while (!waiting.empty()) {
    const GumboNode& node = *waiting.back();
    waiting.pop_back();
    const bool element = node.type == GUMBO_NODE_ELEMENT || node.type == GUMBO_NODE_TEMPLATE;
    if (element && node.v.element.original_tag.data == opening.data()) return says_translated(node.v.element);
    if (!element && node.type != GUMBO_NODE_DOCUMENT) continue;
    const GumboVector& children = element ? node.v.element.children : node.v.document.children;
    for (unsigned n = 0; n < children.length; ++n)
      waiting.push_back(static_cast<const GumboNode*>(children.data[n]));
  }
  return std::nullopt;
}

/// Whether "/>" ends a tag. After an attribute's value without quotation marks, "/" belongs to the value.
bool ends_itself(std::string_view tag) {
  if (!tag.ends_with("/>")) return false;
  const std::string_view last = tag.substr(tag.find_last_of(" \t\r\n") + 1);
  return last.find('=') == std::string_view::npos || last.find_first_of("\"'") != std::string_view::npos;
}

}  // namespace

HtmlTag read_html_tag(std::string_view source) {
  HtmlTag tag;
  const size_t begin = source.starts_with("</") ? 2 : 1;
  if (source.size() <= begin || !is_ascii_letter(source[begin])) return tag;
  const size_t end = source.find_first_of(" \t\r\n/>", begin);
  tag.name = ascii_lower(source.substr(begin, end - begin));
  tag.element = gumbo_tagn_enum(tag.name.data(), static_cast<unsigned>(tag.name.size()));
  if (begin == 2) {
    tag.part = HtmlTag::Part::kClosing;
  } else if (!is_void(tag.element) && !ends_itself(source)) {
    tag.part = HtmlTag::Part::kOpening;
    const bool plain = end == source.size() - 1;  // without attributes
    tag.is_kept = is_untouched(tag.element) || (!plain && tag_says_translated(source) == false);
  }
  return tag;
}

}  // namespace heed::translate
