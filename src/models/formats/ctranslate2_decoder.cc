#include "models/formats/ctranslate2_decoder.h"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/text/json_file.h"
#include "models/architecture.h"
#include "models/config/decoder_only_config.h"

namespace heed::models {
namespace {

constexpr char kPositions[] = "decoder/position_encodings/encodings";

class DecoderMapper : public Ctranslate2Mapper {
 public:
  using Ctranslate2Mapper::Ctranslate2Mapper;

  std::string map() {
    if (setting("decoder/pre_norm", 1) == 0) refuse("it normalizes after each layer");
    layers_ = layers_of("decoder");
    if (shape_of(kCtranslate2Embedding).rank() != 2) refuse("the embedding is not a matrix");
    width_ = shape_of(kCtranslate2Embedding)[1];
    heads_ = static_cast<int64_t>(setting("decoder/num_heads"));
    const Kind& kind = find_kind();
    if (!kind.sandwich && setting("decoder/scale_embeddings", 1) != 0) refuse("it scales its embeddings");
    config_["model_type"] = kind.model_type;
    config_["architectures"] = {kind.model_class};
    config_["vocab_size"] = shape_of(kCtranslate2Embedding)[0];
    config_["tie_word_embeddings"] =
        file_.variable(kCtranslate2Output) == file_.variable(kCtranslate2Embedding);
    (this->*kind.describe)();
    used_.insert(kCtranslate2Output);
    map_special_tokens();
    const JsonObject config =
        JsonObject::parse(config_.dump(), fmt::format("config of '{}'", files_.directory()));
    const std::unique_ptr<Model> model = architecture_of(config).read(config);
    const std::vector<Ctranslate2Row> rows =
        ctranslate2_rows(dynamic_cast<const DecoderOnly&>(*model).config());
    take(rows, model->table());
    require_norms(rows, kind.sandwich);
    require_all_used();
    return config_.dump(2);
  }

 private:
  /// A family, and what tells it from those after it. The variables of Llama have nothing of this.
  struct Kind {
    const char *model_type, *model_class;
    bool learned_positions, query_norms, window, query_bias_only, sandwich;
    void (DecoderMapper::*describe)();  ///< adds the sizes and options to config_
  };

  const Kind& find_kind() {
    static const Kind kinds[] = {
        {"gpt2", "GPT2LMHeadModel", true, false, false, false, false, &DecoderMapper::describe_gpt2},
        {"gemma3_text", "Gemma3ForCausalLM", false, true, true, false, true, &DecoderMapper::describe_gemma3},
        {"gemma3_text", "Gemma3ForCausalLM", false, true, false, false, true,
         &DecoderMapper::describe_gemma3},
        {"qwen3", "Qwen3ForCausalLM", false, true, false, false, false, &DecoderMapper::describe_qwen3},
        {"mistral", "MistralForCausalLM", false, false, true, false, false, &DecoderMapper::describe_mistral},
        {"qwen2", "Qwen2ForCausalLM", false, false, false, true, false, &DecoderMapper::describe_llama_like},
        {"llama", "LlamaForCausalLM", false, false, false, false, false, &DecoderMapper::describe_llama}};
    const bool sandwich = file_.has("decoder/layer_0/pre_feedforward_layer_norm/gamma");
    if (sandwich) {
      refuse_gemma2();
      window_ = static_cast<int64_t>(setting("decoder/sliding_window", 0));
    } else {
      window_ = static_cast<int64_t>(layer_setting("decoder", layers_, "self_attention/sliding_window", 0));
      setting("decoder/sliding_window", 0);  // the same, for the cache
    }
    const bool positions = file_.has(kPositions),
               norms = file_.has("decoder/layer_0/self_attention/q_norm/gamma"),
               bias_only = has_bias("decoder/layer_0/self_attention/linear_0") &&
                           !has_bias("decoder/layer_0/self_attention/linear_1");
    for (const Kind& kind : kinds) {
      if (positions == kind.learned_positions && norms == kind.query_norms && (window_ > 0) == kind.window &&
          bias_only == kind.query_bias_only && sandwich == kind.sandwich) {
        return kind;
      }
    }
    refuse(
        "its positions, norms, windows and biases are not those of GPT-2, Llama, Mistral, Qwen 2, Qwen 3 or "
        "Gemma 3; "
        "use the model that it was converted from");
  }

  void refuse_gemma2() const {
    if (file_.has("decoder/layer_0/self_attention/q_norm/gamma")) return;
    refuse(
        "it is a Gemma 2 model, whose soft caps and windows CTranslate2 does not store, so that it computes "
        "something else; use the model that it was converted from");
  }

  /// Throws unless 1 is added to the weights of all norms, or of none.
  void require_norms(const std::vector<Ctranslate2Row>& rows, bool offset) {
    for (const Ctranslate2Row& row : rows) {
      if (row.kind != Ctranslate2Row::Kind::kNorm) continue;
      if ((setting(row.variable + kCtranslate2NormOffset, 0) != 0) != offset) {
        refuse(fmt::format("the setting '{}{}' is {}", row.variable, kCtranslate2NormOffset,
                           offset ? "off" : "on"));
      }
    }
  }

  void describe_gpt2() {
    config_["n_embd"] = width_;
    config_["n_layer"] = layers_;
    config_["n_head"] = heads_;
    config_["n_inner"] = shape_of("decoder/layer_0/ffn/linear_0/weight")[0];
    config_["n_positions"] = shape_of(kPositions)[0];
    config_["activation_function"] = activation_name(setting("decoder/activation", 0));
    config_["layer_norm_epsilon"] = original_.number("layer_norm_epsilon", {0, 1}, 1e-5);
  }

  double attention_setting(const std::string& name, std::optional<double> fallback = {}) {
    return layer_setting("decoder", layers_, "self_attention/" + name, fallback);
  }

  void describe_rotary(int64_t head_width) {
    require_plain_rotary(head_width);
    config_["rope_theta"] = attention_setting("rotary_base", 10000);
    const std::string type = "decoder/layer_0/self_attention/rotary_scaling_type";
    if (!file_.has(type)) return;
    constexpr int kLinear = 0;
    if (setting(type) != kLinear) refuse_scaling();
    attention_setting("rotary_scaling_type");
    config_["rope_scaling"] = {{"rope_type", "linear"},
                               {"factor", attention_setting("rotary_scaling_factor")}};
  }
  [[noreturn]] void refuse_scaling() const {
    refuse(
        "its rotary positions are scaled, by parameters that CTranslate2 does not store; use the model that "
        "it was converted from");
  }
  void require_plain_rotary(int64_t head_width) {
    if (!file_.has("decoder/layer_0/self_attention/rotary_dim"))
      refuse("it has no positions that Heed knows");
    const double rotary = attention_setting("rotary_dim");
    if (rotary != 0 && rotary != static_cast<double>(head_width)) refuse("only a part of each head rotates");
    if (attention_setting("rotary_interleave", 1) != 0) refuse("its rotary positions are interleaved");
  }

  /// Sizes and norms; returns the width of a head.
  int64_t describe_grouped() {
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
    config_["rms_norm_eps"] = original_.number("layer_norm_epsilon", {0, 1}, 1e-6);
    return head_width;
  }
  void describe_llama_like() { describe_rotary(describe_grouped()); }
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

  /// Layers with a window have a rotary base of their own.
  void describe_gemma3() {
    const int64_t head_width = describe_grouped();
    require_plain_rotary(head_width);
    config_["hidden_activation"] = config_["hidden_act"];
    config_.erase("hidden_act");
    config_["attention_bias"] = has_bias("decoder/layer_0/self_attention/linear_0");
    config_["sliding_window"] = window_ > 0 ? nlohmann::ordered_json(window_) : nlohmann::ordered_json();
    config_["layer_types"] = nlohmann::ordered_json::array();
    std::optional<Rotary> bases[2];  // of layers that see everything, and of those with a window
    for (int64_t n = 0; n < layers_; ++n) {
      const std::string attention = fmt::format("decoder/layer_{}/self_attention/", n);
      const auto window = static_cast<int64_t>(setting(attention + "sliding_window", 0));
      if (window != 0 && window != window_) refuse("its windows have several sizes");
      config_["layer_types"].push_back(window == 0 ? "full_attention" : "sliding_attention");
      const Rotary rotary = rotary_in(attention);
      std::optional<Rotary>& common = bases[window == 0 ? 0 : 1];
      if (common.value_or(rotary) != rotary) refuse("its layers of one kind have several rotary positions");
      common = rotary;
    }
    for (const auto& [kind, rotary] :
         {std::pair{"full_attention", bases[0]}, {"sliding_attention", bases[1]}}) {
      if (rotary) config_["rope_parameters"][kind] = rotary_json(*rotary);
    }
    describe_gemma_scales(head_width);
  }
  Rotary rotary_in(const std::string& attention) {
    Rotary rotary{setting(attention + "rotary_base", 10000)};
    if (!file_.has(attention + "rotary_scaling_type")) return rotary;
    if (setting(attention + "rotary_scaling_type") != 0) refuse_scaling();
    rotary.scaling.kind = ops::RotaryScaling::Kind::kLinear;
    rotary.scaling.factor = setting(attention + "rotary_scaling_factor");
    return rotary;
  }
  /// Scales of embeddings and scores, and the soft cap of logits.
  void describe_gemma_scales(int64_t head_width) {
    const double scale = attention_setting("queries_scale", 1 / std::sqrt(static_cast<double>(head_width)));
    config_["query_pre_attn_scalar"] = static_cast<int64_t>(std::lround(1 / (scale * scale)));
    const double cap = setting("decoder/final_logit_softcapping", 0);
    config_["final_logit_softcapping"] = cap > 0 ? nlohmann::ordered_json(cap) : nlohmann::ordered_json();
    const double factor = setting("decoder/scale_embeddings", 1);
    if (file_.has("decoder/scale_embeddings") && file_.info("decoder/scale_embeddings").type == "I8") {
      if (factor == 0) refuse("it does not scale its embeddings");
      return;
    }
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
      config_["dtype"] = name_of(dtype);  // to which the scale is rounded
      if (factor == gemma_embedding_scale(width_, dtype)) return;
    }
    refuse(fmt::format("embeddings are multiplied by {}", factor));
  }

  void map_special_tokens() {
    const std::vector<std::string> pieces = vocabulary_of("", shape_of(kCtranslate2Embedding)[0]);
    for (const char* name : {"bos_token", "eos_token"}) {
      const std::string piece = original_.string(name, "");
      nlohmann::ordered_json& id = config_[std::string(name) + "_id"];  // null: none
      if (!piece.empty()) id = id_of(pieces, piece);
    }
  }

  int64_t layers_ = 0, width_ = 0, heads_ = 0;
  int64_t window_ = 0;  // 0: none
  nlohmann::ordered_json config_ = nlohmann::ordered_json::object();
};

}  // namespace

Ctranslate2Decoder map_ctranslate2_decoder(const Ctranslate2Directory& directory) {
  DecoderMapper mapper(directory);
  std::string config = mapper.map();
  return {std::move(config), mapper.rows()};
}

}  // namespace heed::models
