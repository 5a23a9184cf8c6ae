#include "decode/document.h"

#include <utility>

#include "base/check.h"
#include "text/utf8.h"

namespace heed::decode {

std::string translate_document(const Translator& translator, std::string_view document, DocumentFormat format,
                               const std::atomic<bool>* cancelled) {
  if (const auto offset = find_invalid_utf8(document)) {
    fail(ErrorKind::kText, "the document is not valid UTF-8 at byte {}", *offset);
  }
  const bool html = format == DocumentFormat::kHtml;
  const std::vector<Segment> segments = html ? html_segments(document) : markdown_segments(document);
  const Escape escape = html ? escape_html : Escape([](std::string_view text) { return std::string(text); });
  std::string result;
  size_t at = 0, asked = 0, done = 0;  // bytes of the document; segments
  const auto next = [&](std::string& line) {
    if (asked == segments.size()) return false;
    line = segments[asked++].text;
    return true;
  };
  const auto take = [&](const Translation& translation) {
    const Segment& segment = segments[done++];
    result += document.substr(at, segment.begin - at);
    result += with_markup(segment, translation.best().text, translation.best().alignment, escape);
    at = segment.end;
  };
  if (!translator.translate(next, take, {.progress = {}, .cancelled = cancelled})) return {};
  result += document.substr(at);
  return result;
}

}  // namespace heed::decode
