// Any bytes as text, through a tokenizer of each kind of those whose files are in src/text/golden.
#include <filesystem>
#include <vector>

#include "base/rng.h"
#include "fuzz.h"
#include "text/readers/pipeline_reader.h"
#include "text/readers/sentencepiece_parts.h"

namespace {

const std::vector<heed::TextPipeline>& pipelines() {
  static const std::vector<heed::TextPipeline> all = [] {
    std::vector<heed::TextPipeline> read;
    for (const auto& folder :
         std::filesystem::directory_iterator(heed::tokenizers_folder(HEED_GOLDEN_TOKENIZERS))) {
      const std::string json = folder.path() / "tokenizer.json", model = folder.path() / "tokenizer.model";
      read.push_back(heed::read_text_pipeline(heed::read_tokenizer_json(json)));
      if (!std::filesystem::exists(model)) continue;
      const heed::SentencePieceFile file = heed::read_sentencepiece_file(model);
      read.emplace_back(heed::sentencepiece_parts(file, model), file.size());
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
    heed::fuzz([&] {  // an error of those that do not sample
      heed::Random random(heed::RandomKey::from_seed(1));
      (void)pipeline.sample(text, {.nbest = 4, .draws = 2}, random);
    });
  }
  return 0;
}
