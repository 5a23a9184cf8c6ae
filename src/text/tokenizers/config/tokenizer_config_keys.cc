#include "text/tokenizers/config/tokenizer_config_keys.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace heed {
namespace {

/// `keys`, and the keys that are common to all tokenizers.
KnownKeys with_keys_of_all(KnownKeys keys) {
  static const std::vector<std::string> ignored{
      // provenance of the file
      "added_tokens_file", "auto_map", "backend", "from_slow", "init_inputs", "is_local", "local_files_only",
      "max_model_input_sizes", "name_or_path", "processor_class", "special_tokens_map_file",
      "tokenizer_class", "tokenizer_file", "transformers_version", "trust_remote_code", "unsloth_version",
      "use_fast", "verbose", "vocab_file",
      // chat templates; padding; truncation, which only encoders do, on the side that they read
      "chat_template", "max_len", "max_length", "model_input_names", "model_max_length", "pad_to_multiple_of",
      "pad_token_type_id", "padding", "padding_side", "return_tensors", "return_token_type_ids", "stride",
      "truncation", "truncation_side", "truncation_strategy", "use_default_system_prompt",
      // decoding: spaces before punctuation and between special tokens
      "clean_up_tokenization_spaces", "errors", "spaces_between_special_tokens", "trim_offsets",
      // special tokens that the model does not use are ordinary pieces
      "bos_token", "cls_token", "eos_token", "mask_token", "pad_token", "sep_token", "unk_token",
      // read by require_no_other_tokens()
      "added_tokens_decoder", "additional_special_tokens", "extra_special_tokens"};
  // Sampling of segmentations; text that looks like a special token.
  static const std::vector<NeutralKey> neutral{{"sp_model_kwargs", {nlohmann::json::object()}},
                                               {"split_special_tokens", {false}}};
  keys.ignored.insert(keys.ignored.end(), ignored.begin(), ignored.end());
  keys.neutral.insert(keys.neutral.end(), neutral.begin(), neutral.end());
  return keys;
}

/// A token is a string, or an object with it as "content".
std::string token_text(const nlohmann::json& token) {
  if (token.is_string()) return token.get<std::string>();
  const auto content = token.is_object() ? token.find("content") : token.end();
  return content != token.end() && content->is_string() ? content->get<std::string>() : token.dump();
}

}  // namespace

const KnownKeys& marian_tokenizer_keys() {
  static const KnownKeys keys =
      with_keys_of_all({.read = {"eos_token", "pad_token", "separate_vocabs", "source_lang", "target_lang",
                                 "true_case_capitals", "unk_token"},
                        .ignored = {"source_spm", "target_spm", "target_vocab_file", "vocab"},
                        .neutral = {}});
  return keys;
}

const KnownKeys& family_tokenizer_keys() {
  static const KnownKeys keys = with_keys_of_all(
      {.read = {"add_prefix_space", "eos_token", "extra_ids", "language_codes", "legacy_behaviour",
                "num_madeup_words", "pad_token", "src_lang", "tgt_lang", "tokenizer_class",
                "true_case_capitals", "unk_token"},
       // `legacy`, `add_dummy_prefix_space`: of the slow tokenizers' SentencePiece.
       .ignored = {"add_dummy_prefix_space", "legacy", "merges_file", "sentencepiece_model_file", "spm_file"},
       .neutral = {{"add_bos_token", {false}}, {"add_eos_token", {true}}}});
  return keys;
}

const KnownKeys& wordpiece_keys() {
  static const KnownKeys keys =
      with_keys_of_all({.read = {"add_prefix_space", "cls_token", "do_basic_tokenize", "do_lower_case",
                                 "mask_token", "model_max_length", "pad_token", "sep_token", "strip_accents",
                                 "tokenize_chinese_chars", "truncation_side", "unk_token"},
                        .ignored = {},
                        .neutral = {{"clean_text", {true}},
                                    {"never_split", {nlohmann::json::array()}},
                                    {"wordpieces_prefix", {"##"}}}});
  return keys;
}

const KnownKeys& text_tokenizer_keys() {
  static const KnownKeys keys = with_keys_of_all(
      {.read = {"add_bos_token", "add_eos_token", "add_prefix_space", "added_tokens_decoder", "bos_token",
                "eos_token", "heed_tokenizer", "legacy", "tokenizer_class", "unk_token"},
       .ignored = {"merges_file"},
       .neutral = {}});
  return keys;
}

std::vector<std::pair<const char*, std::string>> further_special_tokens(const JsonObject& config) {
  std::vector<std::pair<const char*, std::string>> result;
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
    if (!config.has(key)) continue;
    for (const nlohmann::json& token : config.json().at(key)) result.emplace_back(key, token_text(token));
  }
  return result;
}

std::vector<std::string> named_special_tokens(const JsonObject& config) {
  std::vector<std::string> result;
  for (const char* key :
       {"bos_token", "cls_token", "eos_token", "mask_token", "pad_token", "sep_token", "unk_token"}) {
    if (config.has(key)) result.push_back(token_text(config.json().at(key)));
  }
  for (const auto& [key, token] : further_special_tokens(config)) result.push_back(token);
  return result;
}

std::vector<std::string> added_tokens(const JsonObject& config) {
  std::vector<std::string> result;
  if (!config.has("added_tokens_decoder")) return result;
  const JsonObject tokens = config.object("added_tokens_decoder");
  for (const std::string& id : tokens.keys()) result.push_back(tokens.object(id).string("content"));
  return result;
}

void require_no_other_tokens(const JsonObject& config, const std::vector<std::string>& allowed) {
  const auto require = [&](const char* key, const std::string& token) {
    if (std::ranges::find(allowed, token) != allowed.end()) return;
    fail(ErrorKind::kFormat,
         "{}: '{}' has the token '{}', which is not one of the vocabulary's special tokens; Heed supports "
         "other added tokens only with a tokenizer.json",
         config.origin(), key, shown(token));
  };
  for (const std::string& token : added_tokens(config)) require("added_tokens_decoder", token);
  for (const auto& [key, token] : further_special_tokens(config)) require(key, token);
}

}  // namespace heed
