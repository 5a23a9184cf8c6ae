// Llama (Touvron et al., 2023) in Hugging Face's layout: model_type llama. Also TinyLlama, SmolLM2 and others
// that have no type of their own.
#include <nlohmann/json.hpp>

#include "models/directory/model_settings.h"
#include "models/families/llama_like_config.h"

namespace heed::models {
namespace {

void describe_llama(ConfigFields& fields, DecoderOnlyConfig& c) {
  describe_llama_like(fields, c, {});
  fields.boolean("attention_bias", c.attention_bias, false);
  fields.boolean("mlp_bias", c.feed_forward_bias, false);
  describe_rotary(fields, c);
  fields.ignore({"is_llama_config", "pretraining_tp"});  // pretraining_tp only slices matrices
  fields.neutral("sliding_window", {});
}

DecoderOnlyConfig make_llama_config(const ModelSettings& settings) {
  return llama_like_config(settings, llama_family());
}

}  // namespace

const DecoderOnlyFamily& llama_family() {
  static const DecoderOnlyFamily family = llama_like_family("llama", "LlamaForCausalLM", describe_llama);
  return family;
}

Architecture llama_architecture() {
  return with_decoder_only<llama_family, make_llama_config>(llama_like_architecture(
      "llama", "decoder-only with rotary positions, RMS norm and gates (Touvron et al., 2023)", "llama"));
}

}  // namespace heed::models
