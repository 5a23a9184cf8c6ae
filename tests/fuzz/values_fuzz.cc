// Numbers, dates and times in any text, in each language: what is found has no differences from itself.
#include "fuzz.h"
#include "translate/values/compare_values.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text = heed::text_of(bytes, size);
  for (const char* language : {"de", "en", "es"}) {
    heed::fuzz([&] {
      const heed::translate::ValueLanguage& values = *heed::translate::value_language(language);
      if (heed::translate::compare_values({text, values}, {text, values}).count() != 0) std::abort();
    });
  }
  return 0;
}
