#include "translate/documents/document.h"

#include <functional>
#include <utility>

#include "base/check.h"
#include "base/text/byte_order_mark.h"
#include "text/unicode/utf8.h"
#include "translate/documents/document_labels.h"
#include "translate/documents/markdown_escape.h"

namespace heed::translate {

namespace {

/// Bytes of a document that a translation replaces.
struct Replaced {
  size_t document = 0, begin = 0, end = 0;
  std::string text;
  std::function<std::string(const Translation&)> written;
};

/// Replaces parts, which are in order, by their translations.
void replace(const LineTranslator& translator, const std::vector<Replaced>& parts,
             std::vector<TranslatedDocument>& documents, const Stop& stop) {
  std::vector<std::string> results(documents.size());
  std::vector<size_t> copied(documents.size(), 0);  // bytes of each document that its result covers
  size_t asked = 0, done = 0;
  const auto next = [&](std::string& line) {
    if (asked == parts.size()) return false;
    line = parts[asked++].text;
    return true;
  };
  const auto take = [&](const Translation& translation) {
    const Replaced& part = parts[done++];
    std::string& result = results[part.document];
    size_t& from = copied[part.document];
    result += std::string_view(documents[part.document].text).substr(from, part.begin - from);
    result += part.written(translation);
    from = part.end;
    std::vector<std::string>& warnings = documents[part.document].warnings;
    warnings.insert(warnings.end(), translation.warnings.begin(), translation.warnings.end());
  };
  translator.translate(next, take, {.progress = {}, .stop = stop});
  for (size_t n = 0; n < documents.size(); ++n) {
    results[n] += std::string_view(documents[n].text).substr(copied[n]);
    documents[n].text = std::move(results[n]);
  }
}

std::vector<Replaced> labels_of(const std::vector<TranslatedDocument>& documents, bool html,
                                const Stop& stop) {
  std::vector<Replaced> parts;
  for (size_t n = 0; n < documents.size(); ++n) {
    stop.check();
    for (Label& label : html ? html_labels(documents[n].text, stop) : markdown_labels(documents[n].text)) {
      parts.push_back({n, label.begin, label.end, std::move(label.text),
                       [written = std::move(label.written)](const Translation& translation) {
                         return written(translation.best().text);
                       }});
    }
  }
  return parts;
}

std::vector<Replaced> sentences_of(const std::vector<TranslatedDocument>& documents, bool html,
                                   const Stop& stop) {
  const Escape escape = html ? escape_html : escape_markdown;
  std::vector<Replaced> parts;
  for (size_t n = 0; n < documents.size(); ++n) {
    stop.check();
    for (Segment& segment :
         html ? html_segments(documents[n].text, stop) : markdown_segments(documents[n].text)) {
      Replaced part{n, segment.begin, segment.end, segment.text, {}};
      std::string before = html ? "" : part_of_line_before(documents[n].text, segment.begin);
      part.written = [segment = std::move(segment), before = std::move(before), html,
                      escape](const Translation& translation) {
        std::string written =
            with_markup(segment, translation.best().text, translation.best().alignment, escape);
        return html ? written : escape_beginning(std::move(written), before);
      };
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

}  // namespace

std::vector<TranslatedDocument> translate_documents(const LineTranslator& translator,
                                                    const std::vector<std::string>& documents,
                                                    DocumentFormat format, const Stop& stop) {
  for (const std::string& document : documents) {
    if (const auto offset = find_invalid_utf8(document)) {
      fail(ErrorKind::kText, "the document is not UTF-8, at byte {}: convert it first", *offset);
    }
    if (const size_t at = document.find('\0'); at != std::string::npos) {
      fail(ErrorKind::kText, "the document has a NUL byte at byte {}: give a text in UTF-8", at);
    }
  }
  const bool html = format == DocumentFormat::kHtml;
  std::vector<TranslatedDocument> results;
  for (const std::string& document : documents) {
    results.push_back({document.substr(document.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0)});
  }
  // Labels lie within the markup of sentences, which keep it as it is.
  replace(translator, labels_of(results, html, stop), results, stop);
  replace(translator, sentences_of(results, html, stop), results, stop);
  for (size_t n = 0; n < documents.size(); ++n) {
    if (documents[n].starts_with(kByteOrderMark)) results[n].text.insert(0, kByteOrderMark);
  }
  return results;
}

TranslatedDocument translate_document(const LineTranslator& translator, const std::string& document,
                                      DocumentFormat format, const Stop& stop) {
  return std::move(translate_documents(translator, {document}, format, stop).front());
}

}  // namespace heed::translate
