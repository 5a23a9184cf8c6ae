// What the fuzzers of documents share.
#pragma once

#include "fuzz.h"
#include "translate/documents/document.h"
#include "translate/documents/document_labels.h"

namespace heed {

/// Aborts if a range does not lie behind the one before it, in a document of `size` bytes.
template <typename Ranges>
void require_order(const Ranges& ranges, size_t size) {
  size_t end = 0;
  for (const auto& range : ranges) {
    if (range.begin < end || range.end < range.begin || range.end > size) std::abort();
    end = range.end;
  }
}

template <typename Segments, typename Labels>
int fuzz_document(std::string_view text, const Segments& segments, const Labels& labels) {
  fuzz([&] {
    const auto found = segments(text);
    require_order(found, text.size());
    for (const translate::Segment& segment : found) {
      (void)translate::with_markup(segment, segment.text, {{0, 0}}, translate::escape_html);
    }
  });
  return fuzz([&] {
    const auto found = labels(text);
    require_order(found, text.size());
    for (const translate::Label& label : found) (void)label.written(label.text);
  });
}

}  // namespace heed
