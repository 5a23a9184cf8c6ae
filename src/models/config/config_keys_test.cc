// Keys of config.json: all defaults of Hugging Face's library are read_config, and unsupported keys that
// change the model are refused by name.
#include "models/config/config_keys.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/architecture.h"
#include "test_folder.h"

namespace heed::models {
namespace {

// Small configs with default settings, as written by versions 4.57 and 5.23 and by older versions of the
// library, with all keys.
constexpr const char* kMarian = R"({"activation_dropout": 0.0, "activation_function": "gelu",
  "attention_dropout": 0.0, "bos_token_id": null, "d_model": 16, "decoder_attention_heads": 2,
  "decoder_ffn_dim": 32, "decoder_layerdrop": 0.0, "decoder_layers": 2, "decoder_start_token_id": 100,
  "decoder_vocab_size": 101, "dropout": 0.1, "dtype": "float32", "encoder_attention_heads": 2,
  "encoder_ffn_dim": 32, "encoder_layerdrop": 0.0, "encoder_layers": 2, "eos_token_id": 0,
  "forced_eos_token_id": 0, "init_std": 0.02, "is_decoder": false, "is_encoder_decoder": true,
  "max_position_embeddings": 64, "model_type": "marian", "num_hidden_layers": 2, "pad_token_id": 100,
  "scale_embedding": false, "share_encoder_decoder_embeddings": true, "tie_word_embeddings": true,
  "transformers_version": "5.23.0", "use_cache": true, "vocab_size": 101})";
constexpr const char* kGpt2 = R"({"activation_function": "gelu_new", "add_cross_attention": false,
  "attn_pdrop": 0.1, "bos_token_id": 96, "embd_pdrop": 0.1, "eos_token_id": 96, "initializer_range": 0.02,
  "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 64, "n_embd": 16, "n_head": 2, "n_inner": null,
  "n_layer": 2, "n_positions": 64, "pad_token_id": null, "reorder_and_upcast_attn": false,
  "resid_pdrop": 0.1, "scale_attn_by_inverse_layer_idx": false, "scale_attn_weights": true,
  "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
  "summary_type": "cls_index", "summary_use_proj": true,
  "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}},
  "tie_word_embeddings": true, "torch_dtype": "float32", "transformers_version": "5.23.0",
  "use_cache": true, "vocab_size": 97})";
constexpr const char* kLlama = R"({"attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 1,
  "eos_token_id": 2, "head_dim": 8, "hidden_act": "silu", "hidden_size": 16, "initializer_range": 0.02,
  "intermediate_size": 24, "is_llama_config": true, "max_position_embeddings": 64, "mlp_bias": false,
  "model_type": "llama", "num_attention_heads": 2, "num_hidden_layers": 2, "num_key_value_heads": 2,
  "pad_token_id": null, "pretraining_tp": 1, "rms_norm_eps": 1e-06, "rope_interleaved": false,
  "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}, "rope_scaling": null,
  "rope_theta": 10000.0, "tie_word_embeddings": false, "transformers_version": "5.23.0",
  "transformers.js_config": {"kv_cache_dtype": {"fp16": "float16"}}, "use_cache": true, "vocab_size": 97})";
constexpr const char* kBert = R"({"add_cross_attention": false, "architectures": ["BertForMaskedLM"],
  "attention_probs_dropout_prob": 0.1, "bos_token_id": null, "classifier_dropout": null,
  "directionality": "bidi", "eos_token_id": null, "gradient_checkpointing": false, "hidden_act": "gelu",
  "hidden_dropout_prob": 0.1, "hidden_size": 16, "initializer_range": 0.02, "intermediate_size": 24,
  "is_decoder": false, "layer_norm_eps": 1e-12, "max_position_embeddings": 64, "model_type": "bert",
  "num_attention_heads": 2, "num_hidden_layers": 2, "pad_token_id": 0, "pooler_fc_size": 768,
  "pooler_type": "first_token_transform", "position_embedding_type": "absolute",
  "tie_word_embeddings": true, "transformers_version": "5.23.0", "type_vocab_size": 2, "use_cache": true,
  "vocab_size": 97})";
/// Additional keys of versions before 4.0, for every model.
constexpr const char* kEveryCommonKey = R"({"_name_or_path": "", "_num_labels": 3, "bad_words_ids": null,
  "begin_suppress_tokens": null, "chunk_size_feed_forward": 0, "cross_attention_hidden_size": null,
  "diversity_penalty": 0.0, "do_sample": false, "early_stopping": false,
  "encoder_no_repeat_ngram_size": 0, "exponential_decay_length_penalty": null, "finetuning_task": null,
  "forced_bos_token_id": null, "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
  "label2id": {"LABEL_0": 0, "LABEL_1": 1}, "length_penalty": 1.0, "max_length": 20, "min_length": 0,
  "no_repeat_ngram_size": 0, "num_beam_groups": 1, "num_beams": 1, "num_return_sequences": 1,
  "output_attentions": false, "output_hidden_states": false, "output_scores": false, "prefix": null,
  "problem_type": null, "pruned_heads": {}, "remove_invalid_values": false, "repetition_penalty": 1.0,
  "return_dict": true, "return_dict_in_generate": false, "sep_token_id": null, "suppress_tokens": null,
  "task_specific_params": null, "temperature": 1.0, "tf_legacy_loss": false, "tie_encoder_decoder": false,
  "tokenizer_class": null, "top_k": 50, "top_p": 1.0, "torchscript": false, "typical_p": 1.0,
  "use_bfloat16": false, "xla_device": null})";
/// Additional keys of opus-mt-en-de of 2020.
constexpr const char* kOpus = R"({"add_bias_logits": false, "add_final_layer_norm": false,
  "bad_words_ids": [[100]], "classif_dropout": 0.0, "classifier_dropout": 0.0,
  "extra_pos_embeddings": 101, "force_bos_token_to_be_generated": false, "max_length": 512,
  "normalize_before": false, "normalize_embedding": false, "num_beams": 6,
  "static_position_embeddings": true})";

void read_config(const nlohmann::json& config) {
  const JsonObject json = JsonObject::parse(config.dump(), "config.json");
  architecture_of(json).read(json);
}

nlohmann::json with(const char* text, const std::string& key, const nlohmann::json& value) {
  nlohmann::json json = nlohmann::json::parse(text);
  json[key] = value;
  return json;
}

TEST(KnownKeys, ReadsConfigsOfTransformers) {
  for (const char* text : {kMarian, kGpt2, kLlama, kBert}) {
    nlohmann::json json = nlohmann::json::parse(text);
    EXPECT_NO_THROW(read_config(json)) << text;
    json.update(nlohmann::json::parse(kEveryCommonKey));
    EXPECT_NO_THROW(read_config(json)) << text;
  }
  nlohmann::json opus = nlohmann::json::parse(kMarian);
  opus.update(nlohmann::json::parse(kOpus));
  EXPECT_NO_THROW(read_config(opus));
}

struct Refused {
  const char* config;
  std::string key;
  nlohmann::json value;
};

TEST(KnownKeys, UnsupportedKeysAreNamed) {
  const std::vector<Refused> cases{
      {kMarian, "normalize_before", true},
      {kMarian, "normalize_embedding", true},
      {kMarian, "add_final_layer_norm", true},
      {kMarian, "static_position_embeddings", false},
      {kMarian, "is_encoder_decoder", false},
      {kMarian, "tie_encoder_decoder", true},
      {kMarian, "pruned_heads", {{"0", {1}}}},
      {kMarian, "relative_attention_num_buckets", 32},
      {kGpt2, "add_cross_attention", true},
      {kGpt2, "rope_theta", 10000},
      {kLlama, "sliding_window", 4096},
      {kLlama, "partial_rotary_factor", 0.5},
      {kLlama, "rope_interleaved", true},
      {kLlama, "num_local_experts", 8},
      {kLlama, "attention_multiplier", 2},
      {kBert, "is_decoder", true},
      {kBert, "embedding_size", 8},
      {kBert, "pruned_heads", {{"0", {1}}}},
  };
  for (const Refused& each : cases) {
    expect_error(ErrorKind::kFormat, "config.json: '" + each.key + "' is",
                 [&] { read_config(with(each.config, each.key, each.value)); });
  }
  expect_error(ErrorKind::kFormat, "; did you mean 'sliding_window'?",
               [] { read_config(with(kLlama, "sliding_windw", 5)); });
  // Values without effect for any key.
  for (const nlohmann::json& nothing :
       {nlohmann::json(), nlohmann::json(false), nlohmann::json(""), nlohmann::json::array()}) {
    EXPECT_NO_THROW(read_config(with(kLlama, "attention_multiplier", nothing)));
  }
}

TEST(KnownKeys, RotaryPositionsOfBothKindsMustAgree) {
  nlohmann::json both = with(kLlama, "rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}});
  expect_error(ErrorKind::kFormat, "rope_parameters", [&] { read_config(both); });
  both["rope_parameters"]["rope_type"] = "linear";
  both["rope_parameters"]["factor"] = 2.0;
  EXPECT_NO_THROW(read_config(both));
  expect_error(ErrorKind::kFormat, "rope_parameters",
               [&] { read_config(with(kLlama, "rope_theta", 500000)); });
  nlohmann::json base = with(kLlama, "rope_theta", 10000.0);  // which says nothing about the scaling
  base["rope_parameters"] = {{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 10000.0}};
  EXPECT_NO_THROW(read_config(base));
  const auto partial =
      with(kLlama, "rope_parameters", {{"rope_type", "default"}, {"partial_rotary_factor", 0.5}});
  expect_error(ErrorKind::kFormat, "rope_parameters.partial_rotary_factor", [&] { read_config(partial); });
}

TEST(KnownKeys, ActivationsHaveAliases) {
  EXPECT_NO_THROW(read_config(with(kGpt2, "activation_function", "gelu_pytorch_tanh")));
  EXPECT_NO_THROW(read_config(with(kBert, "hidden_act", "gelu_pytorch_tanh")));
  EXPECT_NO_THROW(read_config(with(kLlama, "hidden_act", "gelu_pytorch_tanh")));
}

}  // namespace
}  // namespace heed::models
