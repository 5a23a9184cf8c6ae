// What becomes of the elements of HTML within a sentence, in HTML and in Markdown.
#pragma once

#include <gumbo.h>

#include <string_view>

#include "translate/documents/segment_builder.h"

namespace heed::translate {

/// Elements that enclose words of a sentence: <b>, <a>.
bool is_inline(GumboTag tag);
/// Elements in a sentence whose text is not translated: <code>.
bool is_kept(GumboTag tag);
/// Elements that stand in a sentence and have no text of it: <img>, <svg>.
bool is_at_place(GumboTag tag);
/// Elements without an end tag: <br>.
bool is_void(GumboTag tag);

/// What happens to an element that encloses words where nothing corresponds to them.
Tag::WithoutText without_text(GumboTag tag);

/// What becomes of an element with text, which is the innermost open tag and is followed by `behind`.
/// Exponents and indices, which would continue the number or word before them, are unchanged markup. The
/// marks of footnotes, and numbers before a word, are points, so that the sentence is translated as without
/// them.
SegmentBuilder::As becomes(GumboTag tag, const SegmentBuilder& builder, std::string_view behind);

}  // namespace heed::translate
