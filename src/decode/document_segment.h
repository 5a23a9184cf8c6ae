// A stretch of a document that is translated as a whole, such as a paragraph, and the markup within it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/alignment_score.h"

namespace heed::decode {

/// Markup around a part of a segment's text, bytes [begin, end). Where both are equal it stands at a place
/// and has no closing part.
struct Tag {
  size_t begin = 0, end = 0;
  std::string open, close;  ///< as they stand in the document
};

struct Segment {
  /// Bytes of the document that the translation replaces.
  size_t begin = 0, end = 0;
  std::string text;       ///< without markup, entities decoded
  std::vector<Tag> tags;  ///< outer ones first, by their beginnings
  /// What stands in the text between backticks instead of markup that must not change, and that markup.
  struct Kept {
    std::string text, source;
  };
  std::vector<Kept> kept;
};

/// How text is written in a document: "&" as "&amp;" in HTML.
using Escape = std::function<std::string(std::string_view)>;

/// The translation of a segment with its markup. Each tag goes around those words that are aligned with the
/// words it was around: the run of words that holds most of them and fewest others. Tags of the whole text go
/// around the whole translation, and none crosses another.
std::string with_markup(const Segment& segment, const std::string& translation,
                        const std::vector<WordLink>& links, const Escape& escape);

}  // namespace heed::decode
