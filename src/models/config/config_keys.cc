#include "models/config/config_keys.h"

#include <nlohmann/json.hpp>

#include "models/directory/generation_defaults.h"

namespace heed::models {

KnownKeys with_common_keys(KnownKeys keys) {
  static const std::vector<std::string> ignored{
      // provenance and purpose of the file
      "architectures", "auto_map", "finetuning_task", "model_type", "name_or_path", "nickname",
      "task_specific_params", "tokenizer_class", "transformers.js_config", "transformers_version",
      "unsloth_fixed", "unsloth_version",
      // implementation details of another toolkit
      "attn_implementation", "chunk_size_feed_forward", "dtype", "gradient_checkpointing",
      "output_attentions", "output_hidden_states", "output_past", "return_dict", "tf_legacy_loss",
      "torch_dtype", "torchscript", "use_bfloat16", "use_cache", "use_return_dict", "xla_device",
      // classes, in models that are not classifiers
      "id2label", "label2id", "num_labels", "problem_type",
      // token ids that the tokenizer files define
      "cls_token_id", "mask_token_id", "sep_token_id", "unk_token_id"};
  static const std::vector<NeutralKey> neutral{{"add_cross_attention", {false}},
                                               {"cross_attention_hidden_size", {}},
                                               {"is_decoder", {false}},
                                               {"is_encoder_decoder", {false}},
                                               {"pruned_heads", {nlohmann::json::object()}},
                                               {"tie_encoder_decoder", {false}}};
  keys.read.emplace_back("model_type");
  keys.read.emplace_back("quantization_config");
  keys.ignored.insert(keys.ignored.end(), ignored.begin(), ignored.end());
  // Generation keys of old files: ignored if there is a generation_config.json, otherwise read and checked
  // like it.
  for (const std::string& key : all_names(generation_keys())) keys.ignored.push_back(key);
  keys.neutral.insert(keys.neutral.end(), neutral.begin(), neutral.end());
  return keys;
}

namespace {

/// The keys that models/directory/generation_defaults.cc reads.
std::vector<std::string> read_generation_keys() {
  std::vector<std::string> keys{"alignment_heads",        "bad_words_ids",       "begin_suppress_tokens",
                                "decoder_start_token_id", "early_stopping",      "eos_token_id",
                                "forced_bos_token_id",    "forced_eos_token_id", "suppress_tokens"};
  const GenerationDefaults defaults;
  visit_generation_defaults(defaults, [&](const char* key, const auto&...) { keys.emplace_back(key); });
  return keys;
}

}  // namespace

bool is_null(const JsonObject& json, const std::string& key) {
  return json.json().contains(key) && !json.has(key);
}

const KnownKeys& generation_keys() {
  static const KnownKeys keys{
      .read = read_generation_keys(),
      .ignored =
          {// ids that other files define
           "bos_token_id", "pad_token_id",
           // additional return values and number of samples
           "num_return_sequences", "output_attentions", "output_hidden_states", "output_logits",
           "output_scores", "return_dict_in_generate",
           // implementation details of another toolkit
           "cache_config", "cache_implementation", "compile_config", "continuous_batching_config",
           "disable_compile", "low_memory", "max_cache_len", "prefill_chunk_size", "remove_invalid_values",
           "return_legacy_cache", "use_cache", "use_mtp",
           // speculative decoding, which does not change the output
           "assistant_confidence_threshold", "assistant_early_exit", "assistant_ensemble_weight",
           "assistant_lookbehind", "is_assistant", "max_matching_ngram_size", "num_assistant_tokens",
           "num_assistant_tokens_schedule", "prompt_lookup_num_tokens", "speculation_type",
           "target_lookbehind", "transformers_version", "trust_remote_code"},
      .neutral = {{"constraints", {}},
                  {"diversity_penalty", {0.0}},
                  {"dola_layers", {}},
                  {"encoder_no_repeat_ngram_size", {0}},
                  {"encoder_repetition_penalty", {1.0}},
                  {"epsilon_cutoff", {0.0}},
                  {"eta_cutoff", {0.0}},
                  {"exponential_decay_length_penalty", {}},
                  {"force_words_ids", {}},
                  {"guidance_scale", {1.0}},
                  {"max_time", {}},
                  {"num_beam_groups", {1}},
                  {"penalty_alpha", {0.0}},
                  {"sequence_bias", {}},
                  {"stop_strings", {}},
                  {"token_healing", {false}},
                  {"top_h", {}},
                  {"typical_p", {1.0}},
                  {"watermarking_config", {}}}};
  return keys;
}

}  // namespace heed::models
