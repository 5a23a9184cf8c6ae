#include "models/ctranslate2_decoder.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/json_file.h"

namespace heed::models {
namespace {

class DecoderMapper : public Ctranslate2Mapper {
 public:
  using Ctranslate2Mapper::Ctranslate2Mapper;

  std::string map() {
    if (setting("decoder/pre_norm", 1) == 0) refuse("it normalizes after each layer");
    if (setting("decoder/scale_embeddings", 1) != 0) refuse("it scales its embeddings");
    layers_ = 0;
    while (file_.has(layer(layers_) + "ffn/linear_0/weight")) ++layers_;
    if (layers_ == 0) refuse("it has no layers");
    if (shape_of(kEmbedding).rank() != 2) refuse("the embedding is not a matrix");
    vocabulary_ = shape_of(kEmbedding)[0];
    width_ = shape_of(kEmbedding)[1];
    heads_ = static_cast<int64_t>(setting("decoder/num_heads"));
    tied_ = file_.variable(kOutput) == file_.variable(kEmbedding);
    config_["vocab_size"] = vocabulary_;
    config_["tie_word_embeddings"] = tied_;
    if (file_.has(kPositions)) {
      map_gpt2();
    } else {
      map_llama();
    }
    used_.insert(kOutput);
    map_special_tokens();
    require_all_used();
    return config_.dump(2);
  }

 private:
  static constexpr char kEmbedding[] = "decoder/embeddings/weight", kOutput[] = "decoder/projection/weight",
                        kPositions[] = "decoder/position_encodings/encodings";

  static std::string layer(int64_t n) { return fmt::format("decoder/layer_{}/", n); }

  void take_transposed(const std::string& name, const std::string& variable) {
    take(name + ".weight", variable + "/weight");
    rows_.back().transposed = true;
    take(name + ".bias", variable + "/bias");
  }

  void map_gpt2() {
    config_["model_type"] = "gpt2";
    config_["architectures"] = {"GPT2LMHeadModel"};
    config_["n_embd"] = width_;
    config_["n_layer"] = layers_;
    config_["n_head"] = heads_;
    config_["n_inner"] = shape_of(layer(0) + "ffn/linear_0/weight")[0];
    config_["n_positions"] = shape_of(kPositions)[0];
    config_["activation_function"] = activation_name(setting("decoder/activation", 0));
    config_["layer_norm_epsilon"] = 1e-5;
    take("transformer.wte.weight", kEmbedding);
    take("transformer.wpe.weight", kPositions);
    take_norm("transformer.ln_f", "decoder/layer_norm");
    if (!tied_) take("lm_head.weight", kOutput);
    for (int64_t n = 0; n < layers_; ++n) {
      const std::string to = fmt::format("transformer.h.{}.", n), from = layer(n);
      take_norm(to + "ln_1", from + "self_attention/layer_norm");
      take_transposed(to + "attn.c_attn", from + "self_attention/linear_0");
      take_transposed(to + "attn.c_proj", from + "self_attention/linear_1");
      take_norm(to + "ln_2", from + "ffn/layer_norm");
      take_transposed(to + "mlp.c_fc", from + "ffn/linear_0");
      take_transposed(to + "mlp.c_proj", from + "ffn/linear_1");
    }
  }

  /// A setting that all layers have, with the same value.
  double layer_setting(const std::string& name, std::optional<double> fallback = {}) {
    const double value = setting(layer(0) + "self_attention/" + name, fallback);
    for (int64_t n = 1; n < layers_; ++n) {
      if (setting(layer(n) + "self_attention/" + name, fallback) != value)
        refuse(fmt::format("'{}' differs between layers", name));
    }
    return value;
  }

  void map_llama() {
    if (!file_.has(layer(0) + "self_attention/rotary_dim")) refuse("it has no positions that Heed knows");
    const auto groups = static_cast<int64_t>(layer_setting("num_heads_kv", static_cast<double>(heads_)));
    const int64_t rows = shape_of(layer(0) + "self_attention/linear_0/weight")[0],
                  parts = heads_ + 2 * groups;
    if (heads_ < 1 || groups < 1 || rows % parts != 0) refuse("its heads do not fit its weights");
    const int64_t head_width = rows / parts;
    const double rotary = layer_setting("rotary_dim");
    if (rotary != 0 && rotary != static_cast<double>(head_width)) refuse("only a part of each head rotates");
    if (layer_setting("rotary_interleave", 1) != 0) refuse("its rotary positions are interleaved");
    if (file_.has(layer(0) + "self_attention/rotary_scaling_type")) refuse("its rotary positions are scaled");
    if (layer_setting("head_dim", static_cast<double>(head_width)) != static_cast<double>(head_width))
      refuse("'head_dim' does not fit its weights");
    config_["model_type"] = "llama";
    config_["architectures"] = {"LlamaForCausalLM"};
    config_["hidden_size"] = width_;
    config_["num_hidden_layers"] = layers_;
    config_["num_attention_heads"] = heads_;
    config_["num_key_value_heads"] = groups;
    config_["head_dim"] = head_width;
    config_["intermediate_size"] = shape_of(layer(0) + "ffn/linear_0/weight")[0];
    config_["hidden_act"] = activation_name(setting("decoder/activation", 0));
    config_["max_position_embeddings"] = 1 << 17;  // CTranslate2 stores none
    config_["rope_theta"] = layer_setting("rotary_base", 10000);
    config_["rms_norm_eps"] =
        JsonObject::read(directory_ + "/config.json").number("layer_norm_epsilon", {0, 1}, 1e-6);
    config_["attention_bias"] = config_["mlp_bias"] = false;
    take("model.embed_tokens.weight", kEmbedding);
    take("model.norm.weight", "decoder/layer_norm/gamma");
    if (!tied_) take("lm_head.weight", kOutput);
    for (int64_t n = 0; n < layers_; ++n) {
      const std::string to = fmt::format("model.layers.{}.", n), from = layer(n);
      const std::string joint = from + "self_attention/linear_0/weight";
      const int64_t queries = heads_ * head_width, keys = groups * head_width;
      take(to + "input_layernorm.weight", from + "self_attention/layer_norm/gamma");
      take_rows(to + "self_attn.q_proj.weight", joint, 0, queries);
      take_rows(to + "self_attn.k_proj.weight", joint, queries, keys);
      take_rows(to + "self_attn.v_proj.weight", joint, queries + keys, keys);
      take(to + "self_attn.o_proj.weight", from + "self_attention/linear_1/weight");
      take(to + "post_attention_layernorm.weight", from + "ffn/layer_norm/gamma");
      take(to + "mlp.gate_proj.weight", from + "ffn/linear_0/weight");
      take(to + "mlp.up_proj.weight", from + "ffn/linear_0_noact/weight");
      take(to + "mlp.down_proj.weight", from + "ffn/linear_1/weight");
    }
  }

  void map_special_tokens() {
    const std::vector<std::string> pieces = vocabulary_of("", vocabulary_);
    const JsonObject json = JsonObject::read(directory_ + "/config.json");
    for (const char* name : {"bos_token", "eos_token"}) {
      const std::string piece = json.string(name, "");
      if (!piece.empty()) config_[std::string(name) + "_id"] = id_of(pieces, piece);
    }
  }

  int64_t layers_ = 0, vocabulary_ = 0, width_ = 0, heads_ = 0;
  bool tied_ = false;
  nlohmann::ordered_json config_;
};

}  // namespace

Ctranslate2Decoder map_ctranslate2_decoder(const std::string& directory, const Ctranslate2File& file) {
  DecoderMapper mapper(directory, file);
  std::string config = mapper.map();
  return {std::move(config), mapper.rows()};
}

}  // namespace heed::models
