// What config.json and parameters of M2M-100, BART and mBART have in common.
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "models/known_keys.h"
#include "models/model_settings.h"
#include "models/transformer_config.h"
#include "models/transformer_families.h"

namespace heed::models {

KnownKeys bart_like_keys(KnownKeys more) {
  for (const char* key :
       {"activation_dropout", "activation_function", "attention_dropout", "d_model",
        "decoder_attention_heads", "decoder_ffn_dim", "decoder_layers", "decoder_start_token_id", "dropout",
        "encoder_attention_heads", "encoder_ffn_dim", "encoder_layers", "eos_token_id",
        "max_position_embeddings", "pad_token_id", "scale_embedding", "tie_word_embeddings", "vocab_size"}) {
    more.read.emplace_back(key);
  }
  // Training settings, other heads, aliases, and texts that tasks begin with.
  for (const char* key :
       {"add_bias_logits", "bos_token_id", "classif_dropout", "classifier_dropout", "decoder_layerdrop",
        "encoder_layerdrop", "extra_pos_embeddings", "init_std", "num_hidden_layers", "prefix"}) {
    more.ignored.emplace_back(key);
  }
  more.neutral.push_back({"is_encoder_decoder", {true}});
  more.neutral.push_back({"share_encoder_decoder_embeddings", {true}});
  return with_common_keys(std::move(more));
}

TransformerConfig read_bart_like(const JsonObject& json, const TransformerFamily& family,
                                 const BartLikeDefaults& defaults) {
  const IntegerRange layers{1, 256}, heads{1, 1024}, inner{1, 1 << 20};
  TransformerConfig c;
  c.family = &family;
  c.vocabulary = c.source_vocabulary = json.integer("vocab_size", {1, 1 << 26});
  c.tied_output = json.boolean("tie_word_embeddings", true);
  c.width = json.integer("d_model", {4, 1 << 16});
  c.encoder_layers = static_cast<int>(json.integer("encoder_layers", layers));
  c.decoder_layers = static_cast<int>(json.integer("decoder_layers", layers));
  c.encoder_heads = static_cast<int>(json.integer("encoder_attention_heads", heads));
  c.decoder_heads = static_cast<int>(json.integer("decoder_attention_heads", heads));
  for (const char* key : {"encoder_attention_heads", "decoder_attention_heads"}) {
    if (c.width % json.integer(key) == 0) continue;
    json.reject(key, fmt::format("a number that divides d_model ({})", c.width));
  }
  c.encoder_inner_width = json.integer("encoder_ffn_dim", inner);
  c.decoder_inner_width = json.integer("decoder_ffn_dim", inner);
  c.activation = json.word("activation_function", activation_names(), std::optional(defaults.activation));
  c.max_length = json.integer("max_position_embeddings", {1, 1 << 20}, 1024);
  c.scale_embedding = json.boolean("scale_embedding", defaults.scale_embedding);
  const NumberRange probability{0, 0.999};
  c.dropout = json.number("dropout", probability, 0.1);
  c.attention_dropout = json.number("attention_dropout", probability, defaults.attention_dropout);
  c.activation_dropout = json.number("activation_dropout", probability, 0);
  c.first_row = 2;
  c.forbids_padding = c.translates_sentences = false;
  const IntegerRange ids{0, c.vocabulary - 1};
  c.padding_id = static_cast<int32_t>(json.integer("pad_token_id", ids, 1));
  c.end_id = read_end_id(json, c.vocabulary, 2);
  c.start_id = static_cast<int32_t>(json.integer("decoder_start_token_id", ids, defaults.start_id));
  return c;
}

nlohmann::ordered_json bart_like_json(const TransformerConfig& c, const char* model_class) {
  nlohmann::ordered_json json;
  json["model_type"] = c.family->model_type;
  json["architectures"] = {model_class};
  json["vocab_size"] = c.vocabulary;
  write_sizes(c, json);
  json["tie_word_embeddings"] = c.tied_output;
  json["is_encoder_decoder"] = true;
  json["pad_token_id"] = c.padding_id;
  json["eos_token_id"] = c.end_id;
  json["decoder_start_token_id"] = c.start_id;
  return json;
}

TransformerFamily bart_like_family(const std::string& model_type,
                                   nlohmann::ordered_json (*config_json)(const TransformerConfig& config)) {
  TransformerFamily family = marian_family();
  family.model_type = model_type;
  family.optional_prefix = "model.";
  family.left_out = {"model.encoder.version", "model.decoder.version", "encoder.version", "decoder.version"};
  family.config_json = config_json;
  return family;
}

}  // namespace heed::models
