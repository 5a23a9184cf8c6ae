// HTML as a tree, and what of it is translated; shared by the text and the attributes of a document.
#pragma once

#include <gumbo.h>

#include <memory>
#include <string_view>

namespace heed::translate {

struct FreeHtmlTree {
  void operator()(GumboOutput* output) const { gumbo_destroy_output(&kGumboDefaultOptions, output); }
};
using HtmlTree = std::unique_ptr<GumboOutput, FreeHtmlTree>;

/// The tree refers to `html`. Throws kUsage for elements nested too deeply.
HtmlTree parse_html(std::string_view html);

/// Whether an element is without translate="no" and the class notranslate.
bool is_translated(const GumboElement& element);
/// Whether the content of the element is not text to translate: scripts, preformatted text, ...
bool is_untouched(GumboTag tag);

}  // namespace heed::translate
