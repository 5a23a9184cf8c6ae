#include "models/ctranslate2_decoder.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/json_file.h"
#include "models/architecture.h"

namespace heed::models {
namespace {

constexpr char kPositions[] = "decoder/position_encodings/encodings";

class DecoderMapper : public Ctranslate2Mapper {
 public:
  using Ctranslate2Mapper::Ctranslate2Mapper;

  std::string map() {
    refuse_gemma();
    if (setting("decoder/pre_norm", 1) == 0) refuse("it normalizes after each layer");
    if (setting("decoder/scale_embeddings", 1) != 0) refuse("it scales its embeddings");
    layers_ = layers_of("decoder");
    if (shape_of(kCtranslate2Embedding).rank() != 2) refuse("the embedding is not a matrix");
    width_ = shape_of(kCtranslate2Embedding)[1];
    heads_ = static_cast<int64_t>(setting("decoder/num_heads"));
    const Kind& kind = find_kind();
    config_["model_type"] = kind.model_type;
    config_["architectures"] = {kind.model_class};
    config_["vocab_size"] = shape_of(kCtranslate2Embedding)[0];
    config_["tie_word_embeddings"] =
        file_.variable(kCtranslate2Output) == file_.variable(kCtranslate2Embedding);
    (this->*kind.describe)();
    used_.insert(kCtranslate2Output);
    map_special_tokens();
    const JsonObject config = JsonObject::parse(config_.dump(), fmt::format("config of '{}'", directory_));
    const std::unique_ptr<Model> model = architecture_of(config).read(config);
    take(ctranslate2_rows(dynamic_cast<const DecoderOnly&>(*model).config()), model->table());
    require_all_used();
    return config_.dump(2);
  }

 private:
  /// A family, and what tells it from those after it. The variables of Llama have nothing of this.
  struct Kind {
    const char *model_type, *model_class;
    bool learned_positions, query_norms, window, query_bias_only;
    void (DecoderMapper::*describe)();  ///< adds the sizes and options to config_
  };

  const Kind& find_kind() {
    static const Kind kinds[] = {
        {"gpt2", "GPT2LMHeadModel", true, false, false, false, &DecoderMapper::describe_gpt2},
        {"qwen3", "Qwen3ForCausalLM", false, true, false, false, &DecoderMapper::describe_qwen3},
        {"mistral", "MistralForCausalLM", false, false, true, false, &DecoderMapper::describe_mistral},
        {"qwen2", "Qwen2ForCausalLM", false, false, false, true, &DecoderMapper::describe_llama_like},
        {"llama", "LlamaForCausalLM", false, false, false, false, &DecoderMapper::describe_llama}};
    window_ = static_cast<int64_t>(layer_setting("decoder", layers_, "self_attention/sliding_window", 0));
    setting("decoder/sliding_window", 0);  // the same, for the cache
    const bool positions = file_.has(kPositions),
               norms = file_.has("decoder/layer_0/self_attention/q_norm/gamma"),
               bias_only = has_bias("decoder/layer_0/self_attention/linear_0") &&
                           !has_bias("decoder/layer_0/self_attention/linear_1");
    for (const Kind& kind : kinds) {
      if (positions == kind.learned_positions && norms == kind.query_norms && (window_ > 0) == kind.window &&
          bias_only == kind.query_bias_only) {
        return kind;
      }
    }
    refuse(
        "its positions, norms, windows and biases are not those of GPT-2, Llama, Mistral, Qwen 2 or Qwen 3; "
        "use the model that it was converted from");
  }

  void refuse_gemma() const {
    if (!file_.has("decoder/layer_0/pre_feedforward_layer_norm/gamma")) return;
    refuse(
        "it is a Gemma model, whose soft caps, scale of scores and windows CTranslate2 does not store; use "
        "the "
        "model that it was converted from");
  }

  void describe_gpt2() {
    config_["n_embd"] = width_;
    config_["n_layer"] = layers_;
    config_["n_head"] = heads_;
    config_["n_inner"] = shape_of("decoder/layer_0/ffn/linear_0/weight")[0];
    config_["n_positions"] = shape_of(kPositions)[0];
    config_["activation_function"] = activation_name(setting("decoder/activation", 0));
    config_["layer_norm_epsilon"] =
        JsonObject::read(directory_ + "/config.json").number("layer_norm_epsilon", {0, 1}, 1e-5);
  }

  double attention_setting(const std::string& name, std::optional<double> fallback = {}) {
    return layer_setting("decoder", layers_, "self_attention/" + name, fallback);
  }

  void describe_rotary(int64_t head_width) {
    if (!file_.has("decoder/layer_0/self_attention/rotary_dim"))
      refuse("it has no positions that Heed knows");
    const double rotary = attention_setting("rotary_dim");
    if (rotary != 0 && rotary != static_cast<double>(head_width)) refuse("only a part of each head rotates");
    if (attention_setting("rotary_interleave", 1) != 0) refuse("its rotary positions are interleaved");
    config_["rope_theta"] = attention_setting("rotary_base", 10000);
    const std::string type = "decoder/layer_0/self_attention/rotary_scaling_type";
    if (!file_.has(type)) return;
    constexpr int kLinear = 0;
    if (setting(type) != kLinear) {
      refuse(
          "its rotary positions are scaled, by parameters that CTranslate2 does not store; use the model "
          "that "
          "it was converted from");
    }
    attention_setting("rotary_scaling_type");
    config_["rope_scaling"] = {{"rope_type", "linear"},
                               {"factor", attention_setting("rotary_scaling_factor")}};
  }

  void describe_llama_like() {
    const auto groups = static_cast<int64_t>(attention_setting("num_heads_kv", static_cast<double>(heads_)));
    const int64_t rows = shape_of("decoder/layer_0/self_attention/linear_0/weight")[0],
                  parts = heads_ + 2 * groups;
    if (heads_ < 1 || groups < 1 || rows % parts != 0) refuse("its heads do not fit its weights");
    const int64_t head_width = rows / parts;
    if (attention_setting("head_dim", static_cast<double>(head_width)) != static_cast<double>(head_width))
      refuse("'head_dim' does not fit its weights");
    config_["hidden_size"] = width_;
    config_["num_hidden_layers"] = layers_;
    config_["num_attention_heads"] = heads_;
    config_["num_key_value_heads"] = groups;
    config_["head_dim"] = head_width;
    config_["intermediate_size"] = shape_of("decoder/layer_0/ffn/linear_0/weight")[0];
    config_["hidden_act"] = activation_name(setting("decoder/activation", 0));
    config_["max_position_embeddings"] = 1 << 17;  // CTranslate2 stores none
    config_["rms_norm_eps"] =
        JsonObject::read(directory_ + "/config.json").number("layer_norm_epsilon", {0, 1}, 1e-6);
    describe_rotary(head_width);
  }
  void describe_llama() {
    describe_llama_like();
    config_["attention_bias"] = has_bias("decoder/layer_0/self_attention/linear_0");
    config_["mlp_bias"] = has_bias("decoder/layer_0/ffn/linear_0");
  }
  void describe_mistral() {
    describe_llama_like();
    config_["sliding_window"] = window_;
  }
  void describe_qwen3() {
    describe_llama_like();
    config_["attention_bias"] = has_bias("decoder/layer_0/self_attention/linear_0");
  }

  void map_special_tokens() {
    const std::vector<std::string> pieces = vocabulary_of("", shape_of(kCtranslate2Embedding)[0]);
    const JsonObject json = JsonObject::read(directory_ + "/config.json");
    for (const char* name : {"bos_token", "eos_token"}) {
      const std::string piece = json.string(name, "");
      if (!piece.empty()) config_[std::string(name) + "_id"] = id_of(pieces, piece);
    }
  }

  int64_t layers_ = 0, width_ = 0, heads_ = 0;
  int64_t window_ = 0;  // 0: none
  nlohmann::ordered_json config_;
};

}  // namespace

Ctranslate2Decoder map_ctranslate2_decoder(const std::string& directory, const Ctranslate2File& file) {
  DecoderMapper mapper(directory, file);
  std::string config = mapper.map();
  return {std::move(config), mapper.rows()};
}

}  // namespace heed::models
