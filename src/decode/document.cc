#include "decode/document.h"

#include <utility>

#include "base/check.h"
#include "text/utf8.h"

namespace heed::decode {

std::vector<std::string> translate_documents(const Translator& translator,
                                             const std::vector<std::string>& documents, DocumentFormat format,
                                             const std::atomic<bool>* cancelled) {
  const bool html = format == DocumentFormat::kHtml;
  const Escape escape = html ? escape_html : Escape([](std::string_view text) { return std::string(text); });
  struct Place {
    size_t document;
    Segment segment;
  };
  std::vector<Place> places;  // the segments of all documents, in order
  for (size_t n = 0; n < documents.size(); ++n) {
    if (const auto offset = find_invalid_utf8(documents[n])) {
      fail(ErrorKind::kText, "the document is not valid UTF-8 at byte {}", *offset);
    }
    for (Segment& segment : html ? html_segments(documents[n]) : markdown_segments(documents[n])) {
      places.push_back({n, std::move(segment)});
    }
  }
  std::vector<std::string> results(documents.size());
  std::vector<size_t> copied(documents.size(), 0);  // bytes of each document that its result covers
  size_t asked = 0, done = 0;
  const auto next = [&](std::string& line) {
    if (asked == places.size()) return false;
    line = places[asked++].segment.text;
    return true;
  };
  const auto take = [&](const Translation& translation) {
    const auto& [document, segment] = places[done++];
    std::string& result = results[document];
    result +=
        std::string_view(documents[document]).substr(copied[document], segment.begin - copied[document]);
    result += with_markup(segment, translation.best().text, translation.best().alignment, escape);
    copied[document] = segment.end;
  };
  if (!translator.translate(next, take, {.progress = {}, .cancelled = cancelled})) return {};
  for (size_t n = 0; n < documents.size(); ++n) {
    results[n] += std::string_view(documents[n]).substr(copied[n]);
  }
  return results;
}

std::string translate_document(const Translator& translator, const std::string& document,
                               DocumentFormat format, const std::atomic<bool>* cancelled) {
  std::vector<std::string> translated = translate_documents(translator, {document}, format, cancelled);
  return translated.empty() ? "" : std::move(translated[0]);
}

}  // namespace heed::decode
