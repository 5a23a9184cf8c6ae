#include "cli/llama2c_import.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/check.h"
#include "base/model_inventory.h"
#include "base/text/json_file.h"
#include "io/llama2c.h"
#include "io/safetensors.h"
#include "models/decoder_only_config.h"
#include "text/sentencepiece_text.h"
#include "text/sentencepiece_writer.h"

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
SentencePieceModel tokenizer_of(const std::string& path, int64_t vocabulary) {
  if (path.ends_with(".model")) return SentencePieceModel::load(path);
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
  return SentencePieceModel::from_bytes(write_bpe_model(pieces), "made of '" + path + "'");
}

}  // namespace

void import_llama2c(const Llama2cImport& import, const std::string& directory) {
  Llama2cModel model = read_llama2c(import.model);
  const models::DecoderOnly converted(config_of(model));
  write_json(directory + "/" + model_file::kConfig, converted.config_json());
  write_json(directory + "/" + model_file::kGenerationConfig,
             nlohmann::ordered_json{{"bos_token_id", kStartToken}, {"eos_token_id", kStartToken}});
  if (import.weights != DType::kFloat32) {
    for (auto& [name, tensor] : model.tensors) tensor = tensor.to(import.weights);
  }
  write_safetensors_with_hashes(directory + "/" + model_file::kSafetensors, model.tensors,
                                {{"format", "pt"}});
  if (import.tokenizer.empty()) return;
  SentencePieceModel pieces = tokenizer_of(import.tokenizer, model.vocabulary);
  if (pieces.size() != model.vocabulary) {
    fail(ErrorKind::kFormat,
         "'{}' has {} pieces, but the model's vocabulary has {}: give the tokenizer of this model",
         import.tokenizer, pieces.size(), model.vocabulary);
  }
  SentencePieceTextTokenizer(std::move(pieces), true).save(directory);
}

}  // namespace heed::cli
