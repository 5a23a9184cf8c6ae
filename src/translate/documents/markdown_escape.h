// Escapes translated text for Markdown.
#pragma once

#include <string>
#include <string_view>

namespace heed::translate {

/// A "<" that would begin HTML, a comment or a link gets a backslash: a glossary, or a model, writes text,
/// not markup. Entities and other characters stay as they are in the document.
std::string escape_markdown(std::string_view text);

/// What a document has before a position in its line; the last part of it, if it is much.
std::string part_of_line_before(std::string_view document, size_t at);

/// The text of a paragraph gets a backslash if it would begin a list, a quotation or a heading: "24\. Mai".
/// `before`: what the document has before it in its line, such as the mark of a list item.
std::string escape_beginning(std::string text, std::string_view before);

}  // namespace heed::translate
