// config.json of every model family, without weights.
#include "base/text/json_file.h"
#include "fuzz.h"
#include "json_mutator.h"
#include "models/architecture.h"
#include "models/config/config_keys.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return heed::fuzz([&] {
    const heed::JsonObject config = heed::JsonObject::parse(heed::text_of(bytes, size), "config.json");
    (void)heed::models::architecture_of(config).read(config);
  });
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t room, unsigned seed) {
  return heed::mutate_json(bytes, size, room, seed);
}
