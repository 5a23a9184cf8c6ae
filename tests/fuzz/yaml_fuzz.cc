// The YAML that Marian's models come with: settings and vocabularies.
#include "base/text/flat_yaml.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text = heed::text_of(bytes, size);
  heed::fuzz([&] { (void)heed::parse_flat_yaml(text, "input"); });
  return heed::fuzz([&] { (void)heed::parse_yaml_vocabulary(text, "input"); });
}
