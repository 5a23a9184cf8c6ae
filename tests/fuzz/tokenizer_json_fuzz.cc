// tokenizer.json: what is read encodes text, and decodes what it encoded.
#include "fuzz.h"
#include "json_mutator.h"
#include "text/readers/pipeline_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const heed::FileOfBytes file(bytes, size);
  return heed::fuzz([&] {
    const heed::TextPipeline pipeline = heed::read_text_pipeline(heed::read_tokenizer_json(file.path()));
    for (const std::string_view text :
         {"", "It's 3 o'clock, naïve 日本 😀\t\n", "a\xff\xc3(", "##x [MASK] </s>"}) {
      (void)pipeline.decode(pipeline.encode(text).ids);
    }
  });
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t room, unsigned seed) {
  return heed::mutate_json(bytes, size, room, seed);
}
