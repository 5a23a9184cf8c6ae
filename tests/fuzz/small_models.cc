#include "small_models.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "fuzz.h"
#include "models/test_untrained_models.h"

namespace heed {
namespace {

using Json = nlohmann::json;

std::string golden(const std::string& file) {
  return read_file(folder_beside("tokenizers", HEED_GOLDEN_TOKENIZERS) + "/" + file);
}

void write_model(const std::string& directory, const Json& config, uint64_t seed) {
  models::write_untrained(directory, *models::model_of(config), seed);
}

void write_translator(const SmallModels& small) {
  Json vocabulary = Json::parse(golden("own_sentencepiece/tokenizer.json"))["model"]["vocab"];
  const size_t padding = vocabulary.size();
  vocabulary["<pad>"] = padding;
  const std::string to = small.directory("translator");
  std::filesystem::create_directory(to);
  for (const char* file : {"/source.spm", "/target.spm"}) {
    write_file(to + file, golden("own_sentencepiece/tokenizer.model"));
  }
  write_file(to + "/vocab.json", vocabulary.dump());
  write_file(to + "/tokenizer_config.json", R"({"source_lang": "de", "target_lang": "en"})");
  Json config = models::small_bart_like_sizes();
  config.update({{"model_type", "marian"},
                 {"max_position_embeddings", 64},
                 {"vocab_size", padding + 1},
                 {"pad_token_id", padding},
                 {"decoder_start_token_id", padding},
                 {"eos_token_id", vocabulary["</s>"]}});
  write_model(to, config, 1);
}

void write_writer(const SmallModels& small) {
  std::filesystem::create_directory(small.directory("writer"));
  write_file(small.directory("writer") + "/tokenizer.json", golden("byte_bpe/tokenizer.json"));
  write_model(small.directory("writer"),
              {{"model_type", "llama"},
               {"vocab_size", 404},
               {"hidden_size", 16},
               {"num_hidden_layers", 1},
               {"num_attention_heads", 2},
               {"intermediate_size", 24},
               {"max_position_embeddings", 64}},
              2);
}

void write_classifier(const SmallModels& small) {
  std::filesystem::create_directory(small.directory("classifier"));
  write_file(small.directory("classifier") + "/tokenizer.json", golden("wordpiece_lower/tokenizer.json"));
  std::filesystem::create_directory(small.directory("classifier") + "/1_Pooling");
  write_file(small.directory("classifier") + "/1_Pooling/config.json",
             R"({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": true})");
  write_file(small.directory("classifier") + "/modules.json",
             R"([{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
                 {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  write_model(small.directory("classifier"),
              {{"model_type", "bert"},
               {"architectures", {"BertForSequenceClassification"}},
               {"vocab_size", 169},
               {"hidden_size", 16},
               {"num_hidden_layers", 1},
               {"num_attention_heads", 2},
               {"intermediate_size", 24},
               {"max_position_embeddings", 64},
               {"id2label", {{"0", "no"}, {"1", "yes"}}},
               {"label2id", {{"no", 0}, {"yes", 1}}}},
              3);
}

}  // namespace

SmallModels::SmallModels() {
  path_ = (std::filesystem::temp_directory_path() / "heed-fuzz-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) std::abort();
  write_translator(*this);
  write_writer(*this);
  write_classifier(*this);
}

SmallModels::~SmallModels() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace heed
