// Escapes translated text for Markdown.
#pragma once

#include <string>
#include <string_view>

namespace heed::translate {

/// A "<" that would begin HTML, a comment or a link gets a backslash: a glossary, or a model, writes text,
/// not markup. Entities and other characters stay as they are in the document.
std::string escape_markdown(std::string_view text);

}  // namespace heed::translate
