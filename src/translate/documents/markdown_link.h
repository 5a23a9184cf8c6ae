// The end of a link, "](http://...)", "][name]", or "]" and "][]" where the text is the name of a definition.
#pragma once

#include <string>
#include <string_view>

namespace heed::translate {

/// The position after the end of a link; the position itself if there is none. Reads all of a text whose
/// brackets are not closed: give it the part in which the link must end.
size_t behind_link(std::string_view text, size_t at);

/// Whether the text of a link that ends so names its definition, so that another text needs another end.
inline bool names_its_text(std::string_view close) {
  return close == "]" || close == "][]";
}

/// The name of a definition in the text of a link: on one line.
std::string link_name(std::string_view text);

/// The end of a link with another text than the name of its definition.
inline std::string link_end(std::string_view name) {
  return "][" + std::string(name) + "]";
}

}  // namespace heed::translate
