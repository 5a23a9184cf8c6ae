#include <gumbo.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/check.h"
#include "base/text/ascii.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/whitespace.h"
#include "translate/documents/document.h"
#include "translate/documents/document_labels.h"
#include "translate/documents/html_tree.h"

namespace heed::translate {
namespace {

/// Attributes that are translated wherever they are.
constexpr std::array<std::string_view, 4> kAttributes{"alt", "title", "placeholder", "aria-label"};
/// The types of <input> whose value is the text of a button.
constexpr std::array<std::string_view, 3> kButtons{"button", "submit", "reset"};
/// What meta elements with a text are called, by `name` or `property`.
constexpr std::array<std::string_view, 5> kMetaTexts{"description", "og:title", "og:description",
                                                     "twitter:title", "twitter:description"};

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The value of an attribute in lower case; empty if it is missing.
std::string value_of(const GumboElement& element, const char* name) {
  const GumboAttribute* attribute = gumbo_get_attribute(&element.attributes, name);
  return attribute == nullptr ? "" : ascii_lower(std::string_view(attribute->value));
}

bool is_text(const GumboElement& element, const GumboAttribute& attribute) {
  const std::string_view name = attribute.name;
  if (is_one_of(kAttributes, name)) return true;
  if (name == "value")
    return element.tag == GUMBO_TAG_INPUT && is_one_of(kButtons, value_of(element, "type"));
  return name == "content" && element.tag == GUMBO_TAG_META &&
         (is_one_of(kMetaTexts, value_of(element, "name")) ||
          is_one_of(kMetaTexts, value_of(element, "property")));
}

/// An attribute's value within quotation marks of this kind.
std::string quoted_value(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : escape_html(text)) {
    if (c != quote) {
      result += c;
    } else {
      result += quote == '"' ? "&quot;" : "&#39;";
    }
  }
  return result + quote;
}

class LabelReader {
 public:
  explicit LabelReader(std::string_view html) : html_(html) {}

  void read(const GumboNode& node) {
    if (node.type == GUMBO_NODE_DOCUMENT) return read(node.v.document.children);
    if (node.type != GUMBO_NODE_ELEMENT) return;
    const GumboElement& element = node.v.element;
    const bool around = translates_;
    translates_ = says_translated(element).value_or(around);
    for (unsigned n = 0; n < element.attributes.length && translates_; ++n) {
      const auto& attribute = *static_cast<const GumboAttribute*>(element.attributes.data[n]);
      if (is_text(element, attribute)) add(attribute);
    }
    if (!is_untouched(element.tag)) read(element.children);
    translates_ = around;
  }

  /// In the order of the document; the parser may have moved or repeated elements.
  std::vector<Label> take() {
    std::stable_sort(labels_.begin(), labels_.end(),
                     [](const Label& a, const Label& b) { return a.begin < b.begin; });
    const auto same = [](const Label& a, const Label& b) { return b.begin < a.end; };
    labels_.erase(std::unique(labels_.begin(), labels_.end(), same), labels_.end());
    return std::move(labels_);
  }

 private:
  void read(const GumboVector& nodes) {
    for (unsigned n = 0; n < nodes.length; ++n) read(*static_cast<const GumboNode*>(nodes.data[n]));
  }

  void add(const GumboAttribute& attribute) {
    const GumboStringPiece& source = attribute.original_value;
    if (source.data == nullptr || source.data < html_.data() ||
        source.data + source.length > html_.data() + html_.size() || !has_letter(attribute.value)) {
      return;
    }
    const char first = source.length > 0 ? *source.data : '\0';
    const char quote = first == '\'' ? '\'' : '"';
    const auto begin = static_cast<size_t>(source.data - html_.data());
    labels_.push_back({begin, begin + source.length,
                       fmt::format("{}", fmt::join(split_whitespace(attribute.value), " ")),
                       [quote](std::string_view text) { return quoted_value(text, quote); }});
  }

  std::string_view html_;
  std::vector<Label> labels_;
  bool translates_ = true;
};

}  // namespace

std::vector<Label> html_labels(std::string_view html, const Stop& stop) {
  const HtmlTree tree = parse_html(html, stop);
  LabelReader reader(html);
  reader.read(*tree.document);
  return reader.take();
}

}  // namespace heed::translate
