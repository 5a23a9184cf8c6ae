#include "cli/files/llama2c_import.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/files/model_inventory.h"
#include "base/text/json_file.h"
#include "io/llama2c.h"
#include "io/tensors_in_memory.h"
#include "models/config/decoder_only_config.h"
#include "text/pipeline/segmentation/space_mark.h"
#include "text/readers/tokenizer_file.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/training/sentencepiece_writer.h"

namespace heed::cli {
namespace {

/// Every training text begins with <s>, so <s> is also the end token.
constexpr int32_t kStartToken = 1;

models::DecoderOnlyConfig config_of(const Llama2cModel& model) {
  models::DecoderOnlyConfig c;
  c.family = &models::llama_family();
  c.vocabulary = model.vocabulary;
  c.width = model.width;
  c.layers = static_cast<int>(model.layers);
  c.heads = static_cast<int>(model.heads);
  c.key_value_heads = static_cast<int>(model.key_value_heads);
  c.inner_width = model.inner_width;
  c.activation = Activation::kSwish;
  c.max_length = model.positions;
  c.norm_epsilon = 1e-5;
  c.attention_bias = c.feed_forward_bias = false;
  c.tied_output = model.tied_output;
  c.start_id = c.end_id = kStartToken;
  return c;
}

/// llama2.c stores SentencePiece's space marker as a space, and line ends around <s> and </s>.
/// The content of a SentencePiece model.
std::string model_of(const std::string& path, int64_t vocabulary) {
  if (path.ends_with(".model")) return read_tokenizer_file(path);
  std::vector<ScoredPiece> pieces;
  for (const Llama2cToken& token : read_llama2c_tokens(path, vocabulary)) {
    std::string text;
    for (const char c : token.text) {
      if (c == ' ') {
        text += kSpaceMark;
      } else {
        text.push_back(c);
      }
    }
    pieces.push_back({std::move(text), token.score});
  }
  return write_bpe_model(pieces);
}

ModelTokenizer tokenizer_of_model(const std::string& path, int64_t vocabulary) {
  const std::string name = path.ends_with(".model") ? path : "made of '" + path + "'";
  ModelTokenizer tokenizer =
      sentencepiece_tokenizer(model_of(path, vocabulary), name, /*starts_every_text=*/true);
  if (tokenizer.size() != vocabulary) {
    fail(ErrorKind::kFormat,
         "'{}' has {} pieces, but the model's vocabulary has {}: give the tokenizer of this model", path,
         tokenizer.size(), vocabulary);
  }
  return tokenizer;
}

void write_generation_config(const std::string& directory) {
  write_json(directory + "/" + model_file::kGenerationConfig,
             nlohmann::ordered_json{{"bos_token_id", kStartToken}, {"eos_token_id", kStartToken}});
}

}  // namespace

ImportedModel import_llama2c(const std::string& path, const std::string& tokenizer) {
  Llama2cModel model = read_llama2c(path);
  const std::string config = models::DecoderOnly(config_of(model)).config_json().dump();
  auto weights = std::make_unique<TensorsInMemory>(path, std::move(model.tensors));
  const auto write_others = [tokenizer, vocabulary = model.vocabulary](const std::string& directory) {
    write_generation_config(directory);
    if (!tokenizer.empty()) tokenizer_of_model(tokenizer, vocabulary).save(directory);
  };
  return {path,
          config,
          std::make_shared<const WeightFiles>(WeightFiles::of(path, std::move(weights))),
          {},
          write_others};
}

}  // namespace heed::cli
