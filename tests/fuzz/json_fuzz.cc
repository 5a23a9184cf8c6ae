// JSON of configurations, vocabularies and requests, and what is parsed is written and parsed again to the
// same value.
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return heed::fuzz([&] {
    const nlohmann::json value = heed::parse_json(heed::text_of(bytes, size), "input");
    if (heed::parse_json(value.dump(), "output") != value) std::abort();
  });
}
