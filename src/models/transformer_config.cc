#include "models/transformer_config.h"

#include "base/check.h"

namespace heed::models {

const std::vector<std::pair<std::string, Activation>>& activation_names() {
  static const std::vector<std::pair<std::string, Activation>> names{
      {"relu", Activation::kRelu},      {"gelu", Activation::kGelu},         {"swish", Activation::kSwish},
      {"silu", Activation::kSwish},     {"gelu_new", Activation::kGeluTanh}, {"tanh", Activation::kTanh},
      {"sigmoid", Activation::kSigmoid}};
  return names;
}

namespace {

const std::vector<std::pair<std::string, nn::SinusoidLayout>>& position_layouts() {
  static const std::vector<std::pair<std::string, nn::SinusoidLayout>> names{
      {"halves", nn::SinusoidLayout::kHalves}, {"interleaved", nn::SinusoidLayout::kInterleaved}};
  return names;
}

template <typename Value>
std::string name_in(const std::vector<std::pair<std::string, Value>>& names, Value value) {
  for (const auto& [name, each] : names) {
    if (each == value) return name;
  }
  HEED_CHECK(false);
}

}  // namespace

TransformerConfig read_transformer_config(const JsonObject& json) {
  const bool marian = json.string("model_type") == "marian";
  const IntegerRange layers{1, 256}, heads{1, 1024}, width{1, 1 << 16};
  TransformerConfig c;
  c.vocabulary = json.integer("vocab_size", {1, 1 << 26});
  c.width = json.integer("d_model", width);
  c.encoder_layers = static_cast<int>(json.integer("encoder_layers", layers));
  c.decoder_layers = static_cast<int>(json.integer("decoder_layers", layers));
  c.encoder_heads = static_cast<int>(json.integer("encoder_attention_heads", heads));
  c.decoder_heads = static_cast<int>(json.integer("decoder_attention_heads", heads));
  c.encoder_inner_width = json.integer("encoder_ffn_dim", {1, 1 << 20});
  c.decoder_inner_width = json.integer("decoder_ffn_dim", {1, 1 << 20});
  c.activation = json.word("activation_function", activation_names(), std::optional(Activation::kGelu));
  c.longest = json.integer("max_position_embeddings", {1, 1 << 20}, 1024);
  c.scale_embedding = json.boolean("scale_embedding", false);
  const NumberRange probability{0, 0.999};
  c.dropout = json.number("dropout", probability, 0.1);
  c.attention_dropout = json.number("attention_dropout", probability, 0);
  c.activation_dropout = json.number("activation_dropout", probability, 0);
  const IntegerRange ids{0, c.vocabulary - 1};
  c.padding_id = static_cast<int32_t>(json.integer("pad_token_id", ids));
  c.end_id = static_cast<int32_t>(json.integer("eos_token_id", ids));
  c.start_id = static_cast<int32_t>(json.integer("decoder_start_token_id", ids, c.padding_id));
  if (c.width % c.encoder_heads != 0) {
    json.reject("encoder_attention_heads", fmt::format("a number that divides d_model ({})", c.width));
  }
  if (c.width % c.decoder_heads != 0) {
    json.reject("decoder_attention_heads", fmt::format("a number that divides d_model ({})", c.width));
  }
  for (const char* key : {"share_encoder_decoder_embeddings", "tie_word_embeddings"}) {
    if (!json.boolean(key, true)) json.reject(key, "true (one embedding for source, target and output)");
  }
  if (json.integer("decoder_vocab_size", {1, 1 << 26}, c.vocabulary) != c.vocabulary) {
    json.reject("decoder_vocab_size", fmt::format("the same as vocab_size ({})", c.vocabulary));
  }
  if (!marian) {
    c.norm_first = json.boolean("normalize_before", false);
    c.positions =
        json.word("position_layout", position_layouts(), std::optional(nn::SinusoidLayout::kHalves));
  }
  return c;
}

nlohmann::ordered_json transformer_config_json(const TransformerConfig& c) {
  const bool marian = !c.norm_first && c.positions == nn::SinusoidLayout::kHalves;
  nlohmann::ordered_json json;
  json["model_type"] = marian ? "marian" : "heed_transformer";
  json["architectures"] = {marian ? "MarianMTModel" : "HeedTransformer"};
  json["vocab_size"] = c.vocabulary;
  json["decoder_vocab_size"] = c.vocabulary;
  json["d_model"] = c.width;
  json["encoder_layers"] = c.encoder_layers;
  json["decoder_layers"] = c.decoder_layers;
  json["encoder_attention_heads"] = c.encoder_heads;
  json["decoder_attention_heads"] = c.decoder_heads;
  json["encoder_ffn_dim"] = c.encoder_inner_width;
  json["decoder_ffn_dim"] = c.decoder_inner_width;
  json["activation_function"] = name_in(activation_names(), c.activation);
  json["max_position_embeddings"] = c.longest;
  json["scale_embedding"] = c.scale_embedding;
  json["dropout"] = c.dropout;
  json["attention_dropout"] = c.attention_dropout;
  json["activation_dropout"] = c.activation_dropout;
  json["share_encoder_decoder_embeddings"] = true;
  json["tie_word_embeddings"] = true;
  json["is_encoder_decoder"] = true;
  json["pad_token_id"] = c.padding_id;
  json["bos_token_id"] = c.end_id;
  json["eos_token_id"] = c.end_id;
  json["decoder_start_token_id"] = c.start_id;
  json["forced_eos_token_id"] = c.end_id;
  if (!marian) {
    json["normalize_before"] = c.norm_first;
    json["position_layout"] = name_in(position_layouts(), c.positions);
  }
  return json;
}

}  // namespace heed::models
