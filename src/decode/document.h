// Documents with markup: what they say is translated, and everything else stays byte for byte.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "decode/document_segment.h"
#include "decode/translator.h"

namespace heed::decode {

enum class DocumentFormat { kHtml, kMarkdown };

/// The segments of an HTML document or fragment, in order: the text of blocks, headings, list entries and
/// table cells, with the tags of inline elements. Script, style, pre, code, comments, attributes, and
/// elements with translate="no" or the class notranslate are in none. Throws kUsage for elements nested too
/// deeply.
std::vector<Segment> html_segments(std::string_view html);
/// Text as HTML has it: & < > and no-break spaces as entities.
std::string escape_html(std::string_view text);

/// The segments of a Markdown document (CommonMark with tables and strikethrough): paragraphs, headings, list
/// entries and table cells. Code, HTML blocks, link targets, images and front matter are in none. What cannot
/// be told apart for certain stays as it is.
std::vector<Segment> markdown_segments(std::string_view markdown);

/// The document with all segments translated. The translator must align words (TranslatorOptions::align) and
/// protect spans. Throws kText for what is not UTF-8, and what finding segments throws. Empty where
/// `cancelled` was set meanwhile.
std::string translate_document(const Translator& translator, std::string_view document, DocumentFormat format,
                               const std::atomic<bool>* cancelled = nullptr);

}  // namespace heed::decode
