// The tags of HTML within the text of Markdown.
#pragma once

#include <gumbo.h>

#include <string>
#include <string_view>

namespace heed::translate {

struct HtmlTag {
  enum class Part {
    kOpening,
    kClosing,
    kWhole,  ///< an element without an end tag, "<br>" and "<x/>", or a comment
  };
  Part part = Part::kWhole;
  std::string name = {};  ///< in lower case; empty for a comment
  GumboTag element = GUMBO_TAG_UNKNOWN;
  bool is_kept = false;  ///< an opening one whose element is not translated
};

/// The tag that MD4C has found: "<a href=x>".
HtmlTag read_html_tag(std::string_view source);

}  // namespace heed::translate
