// Any bytes as text, through a tokenizer: the first byte chooses one of those whose files are in
// src/text/golden and in seeds/tokenizer_json, which together have every kind of step and model.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/rng.h"
#include "fuzz.h"
#include "text/readers/pipeline_reader.h"
#include "text/readers/sentencepiece_parts.h"

namespace {

/// In the same order everywhere, since inputs choose by number.
std::vector<std::filesystem::path> entries(const std::string& folder) {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

const std::vector<heed::TextPipeline>& pipelines() {
  static const std::vector<heed::TextPipeline> all = [] {
    std::vector<heed::TextPipeline> read;
    for (const auto& folder : entries(heed::folder_beside("tokenizers", HEED_GOLDEN_TOKENIZERS))) {
      const std::string json = folder / "tokenizer.json", model = folder / "tokenizer.model";
      read.push_back(heed::read_text_pipeline(heed::read_tokenizer_json(json)));
      if (!std::filesystem::exists(model)) continue;
      const heed::SentencePieceFile file = heed::read_sentencepiece_file(model);
      read.emplace_back(heed::sentencepiece_parts(file, model), file.size());
    }
    for (const auto& json : entries(heed::folder_beside("tokenizer_json", HEED_TOKENIZER_SEEDS)))
      read.push_back(heed::read_text_pipeline(heed::read_tokenizer_json(json)));
    return read;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const heed::TextPipeline& pipeline = pipelines()[bytes[0] % pipelines().size()];
  const std::string_view text = heed::text_of(bytes + 1, size - 1);
  heed::fuzz([&] {
    const heed::Encoding encoding = pipeline.encode(text);
    (void)pipeline.decode(encoding.ids);
  });
  return heed::fuzz([&] {  // an error of those that do not sample
    heed::Random random(heed::RandomKey::from_seed(1));
    (void)pipeline.sample(text, {.nbest = 4, .draws = 2}, random);
  });
}
