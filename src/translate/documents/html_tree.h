// HTML as a tree, and what of it is translated; shared by the text and the attributes of a document.
#pragma once

#include <gumbo.h>

#include <memory>
#include <memory_resource>
#include <optional>
#include <string_view>

#include "base/stop.h"

namespace heed::translate {

/// A parsed document, which refers to its text.
struct HtmlTree {
  std::unique_ptr<std::pmr::memory_resource> memory;  ///< of all nodes
  const GumboNode* document = nullptr;
};

/// Takes memory in proportion to the size of `html`. Throws kUsage for elements nested too deeply and for
/// tags that would take more, and Cancelled soon after `stop` is requested.
HtmlTree parse_html(std::string_view html, const Stop& stop = {});

/// The bytes of a tag or a comment at the beginning of a text; 0 if there is none, and the whole text for one
/// without an end.
size_t markup_size(std::string_view text);

/// Whether an element says that its content is translated, translate="yes", or that it is not:
/// translate="no", or the class notranslate. Nothing: as that of the element around it.
std::optional<bool> says_translated(const GumboElement& element);
/// Whether the content of the element is not text to translate: scripts, preformatted text, ...
bool is_untouched(GumboTag tag);

}  // namespace heed::translate
