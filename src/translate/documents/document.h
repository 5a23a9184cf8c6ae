// Translates documents with markup: the text is translated, everything else is unchanged byte for byte.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "translate/documents/document_segment.h"
#include "translate/line_translator.h"

namespace heed::translate {

enum class DocumentFormat { kHtml, kMarkdown };

/// The segments of an HTML document or fragment, in order: the text of blocks, headings, list items and table
/// cells, with the tags of inline elements. Excludes script, style, pre, code, comments, attributes
/// (html_labels), and elements with translate="no" or the class notranslate. Throws the errors of
/// parse_html().
std::vector<Segment> html_segments(std::string_view html, const Stop& stop = {});
/// Escapes &, <, > and no-break spaces.
std::string escape_html(std::string_view text);

/// The segments of a Markdown document (CommonMark with tables and strikethrough): paragraphs, headings, list
/// items and table cells. Excludes code, HTML blocks, link targets, images and front matter
/// (markdown_labels), and ambiguous markup.
std::vector<Segment> markdown_segments(std::string_view markdown);

struct TranslatedDocument {
  std::string text;
  /// What it says otherwise than the source in numbers, times, dates, codes and addresses:
  /// Translation::warnings of its labels, then of its segments.
  std::vector<std::string> warnings = {};
};

/// Translates documents. The translator must align words (TranslatorOptions::align) and protect spans; the
/// segments of all documents share its batches. Throws kText for invalid UTF-8 and NUL, and the errors of
/// finding segments, and Cancelled soon after `stop` is requested.
std::vector<TranslatedDocument> translate_documents(const LineTranslator& translator,
                                                    const std::vector<std::string>& documents,
                                                    DocumentFormat format, const Stop& stop = {});
/// The same for one document.
TranslatedDocument translate_document(const LineTranslator& translator, const std::string& document,
                                      DocumentFormat format, const Stop& stop = {});

}  // namespace heed::translate
