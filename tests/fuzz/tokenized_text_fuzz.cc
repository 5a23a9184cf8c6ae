// Any bytes as text, through a tokenizer of each kind of those whose files are in src/text/golden.
#include <vector>

#include "fuzz.h"
#include "text/readers/pipeline_reader.h"

namespace {

const std::vector<heed::TextPipeline>& pipelines() {
  static const std::vector<heed::TextPipeline> all = [] {
    std::vector<heed::TextPipeline> read;
    for (const char* name : {"own_bytes", "own_characters", "wordpiece_cased", "wordpiece_lower"}) {
      const std::string path =
          heed::tokenizers_folder(HEED_GOLDEN_TOKENIZERS) + "/" + name + "/tokenizer.json";
      read.push_back(heed::read_text_pipeline(heed::read_tokenizer_json(path)));
    }
    return read;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text = heed::text_of(bytes, size);
  for (const heed::TextPipeline& pipeline : pipelines()) {
    heed::fuzz([&] {
      const heed::Encoding encoding = pipeline.encode(text);
      (void)pipeline.decode(encoding.ids);
    });
  }
  return 0;
}
