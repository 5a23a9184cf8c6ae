// HTML: segments and labels lie in the document, in order, and their markup can be put back.
#include "documents.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return heed::fuzz_document(
      heed::text_of(bytes, size), [](std::string_view html) { return heed::translate::html_segments(html); },
      [](std::string_view html) { return heed::translate::html_labels(html); });
}
