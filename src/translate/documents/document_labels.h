// The short texts of a document outside its sentences: attributes that are read or shown, such as the title
// of a link, descriptions of images, and the title in Markdown's front matter.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"

namespace heed::translate {

struct Label {
  size_t begin = 0, end = 0;  ///< the bytes of the document that its translation replaces
  std::string text;           ///< without quotation marks, entities decoded
  /// The translation as the document has it: quoted and escaped.
  std::function<std::string(std::string_view)> written;
};

/// The attributes `alt`, `title`, `placeholder` and `aria-label`, the `value` of buttons, and the `content`
/// of meta elements for the description; in order, without those that html_segments() excludes. Throws the
/// errors of parse_html().
std::vector<Label> html_labels(std::string_view html, const Stop& stop = {});

/// The `title` and `description` of the front matter, and descriptions of images, in order.
std::vector<Label> markdown_labels(std::string_view markdown);

/// The position after front matter ("---", lines of YAML, "---"); 0 if there is none.
size_t behind_front_matter(std::string_view markdown);

}  // namespace heed::translate
