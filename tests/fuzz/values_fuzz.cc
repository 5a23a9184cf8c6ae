// Numbers, dates and times in any text, in each language: what is found has no differences from itself,
// unless the language writes it otherwise ("24.10.2022" in English).
#include <algorithm>

#include "fuzz.h"
#include "translate/values/compare_values.h"
#include "translate/values/reading/find_values.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text = heed::text_of(bytes, size);
  for (const char* language : {"de", "en", "es"}) {
    heed::fuzz([&] {
      const heed::translate::ValueLanguage& values = *heed::translate::value_language(language);
      const auto is_wrong = [](const heed::translate::Value& value) {
        return value.ill_written || value.broken;
      };
      const bool same = heed::translate::compare_values({text, values}, {text, values}).count() == 0;
      if (!same && std::ranges::none_of(heed::translate::find_values(text, values).values, is_wrong)) {
        std::abort();
      }
    });
  }
  return 0;
}
