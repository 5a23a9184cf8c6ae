// A part of a document that is translated as a unit, such as a paragraph, with its inline markup.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/alignment_score.h"

namespace heed::translate {

/// Markup around bytes [begin, end) of a segment's text. If both are equal, it is a point: a single tag
/// without a closing part, or an element without text.
struct Tag {
  /// What happens where nothing in the translation corresponds to the text.
  enum class WithoutText {
    kEmpty,    ///< it encloses nothing
    kOmitted,  ///< Markdown's emphasis, which would be read as text: "****"
    kNearest,  ///< a link, which nobody could see: it encloses the nearest word
  };
  size_t begin = 0, end = 0;
  std::string open, close;  ///< verbatim from the document
  /// Markup whose text has a meaning, as that of Markdown's "[text]", which names a definition: that text,
  /// and how the markup closes around another one.
  std::string named = {}, close_of_other = {};
  WithoutText without_text = WithoutText::kEmpty;
  size_t within = 0;  ///< the number of tags in it, which follow it
};

struct Segment {
  /// The byte range of the document that the translation replaces.
  size_t begin = 0, end = 0;
  std::string text;       ///< without markup, entities decoded
  std::vector<Tag> tags;  ///< in the order of their opening parts

  /// Markup that must not change, and its replacement in the text, between backticks.
  struct Kept {
    std::string text, source;
    bool ends_word = false;  ///< directly behind a word, such as the number of a footnote
    bool has_link = false;   ///< is a link, or has one in it: no other link encloses it
  };
  std::vector<Kept> kept;
};

/// Whether a translation can differ from the text: it has letters, or a number with a decimal or
/// thousands separator, which depends on the language ("1.234,50").
bool is_translatable(std::string_view text);

/// Escapes text for the document format: "&" as "&amp;" in HTML.
using Escape = std::function<std::string(std::string_view)>;

/// Inserts a segment's markup into its translation. Each tag encloses the run of words that best covers the
/// words aligned with its source words. Tags around the whole text enclose the whole translation. A tag lies
/// within the tags that it lies within in the source, tags never overlap partially, and no link lies in
/// another.
std::string with_markup(const Segment& segment, const std::string& translation,
                        const std::vector<WordLink>& links, const Escape& escape);

}  // namespace heed::translate
