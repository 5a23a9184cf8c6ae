#include "text/tokenizers/config/encoder_tokenizer_config.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "text/tokenizers/config/tokenizer_config_keys.h"
#include "text/tokenizers/config/translation_tokenizer_config.h"

namespace heed {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// model_max_length; Hugging Face's files use a huge number for no limit.
size_t read_max_length(const JsonObject& config) {
  constexpr double kMost = 1 << 20;
  const double longest = config.number("model_max_length", {.minimum = 1}, 2 * kMost);
  return longest > kMost ? 0 : static_cast<size_t>(longest);
}

/// truncation_side; empty if null or missing.
std::optional<bool> read_truncates_left(const JsonObject& config) {
  const char* key = "truncation_side";
  if (!config.has(key)) return std::nullopt;
  return config.word<bool>(key, {{"right", false}, {"left", true}});
}

}  // namespace

WordPieceConfig read_wordpiece_config(std::string_view json, const std::string& name) {
  const JsonObject config = JsonObject::parse(json, name);
  if (!read_flag(config, "do_basic_tokenize").value_or(true)) {
    fail(ErrorKind::kFormat, "{} sets \"do_basic_tokenize\" to false, which Heed does not support", name);
  }
  require_known_keys(config, wordpiece_keys());
  const TokenizerFlags flags{.tokenizer_class = config.string("tokenizer_class", ""),
                             .lowercase = read_flag(config, "do_lower_case"),
                             .strip_accents = read_flag(config, "strip_accents"),
                             .chinese_apart = read_flag(config, "tokenize_chinese_chars"),
                             .adds_space = read_flag(config, "add_prefix_space")};
  WordPieceConfig result{.settings = {}, .flags = flags, .truncates_left = read_truncates_left(config)};
  WordPieceSettings& settings = result.settings;
  settings.words.lowercase = flags.lowercase.value_or(true);
  settings.words.strip_accents = flags.strip_accents.value_or(settings.words.lowercase);
  settings.words.chinese_apart = flags.chinese_apart.value_or(true);
  settings.max_length = read_max_length(config);
  settings.truncates_left = result.truncates_left.value_or(false);
  settings.start = read_token(config, "cls_token", settings.start);
  settings.end = read_token(config, "sep_token", settings.end);
  settings.unknown = read_token(config, "unk_token", settings.unknown);
  settings.pad = read_token(config, "pad_token", settings.pad);
  settings.mask = read_token(config, "mask_token", settings.mask);
  return result;
}

std::string write_wordpiece_config(const WordPieceSettings& settings, bool with_json) {
  OrderedJson config{{"cls_token", settings.start}};
  if (!with_json) config["do_lower_case"] = settings.words.lowercase;
  if (!settings.mask.empty()) config["mask_token"] = settings.mask;
  if (settings.max_length > 0) config["model_max_length"] = settings.max_length;
  if (!settings.token_types) config["model_input_names"] = {"input_ids", "attention_mask"};
  config["pad_token"] = settings.pad;
  config["sep_token"] = settings.end;
  if (!with_json) {
    config["strip_accents"] = settings.words.strip_accents;
    config["tokenize_chinese_chars"] = settings.words.chinese_apart;
  }
  if (settings.truncates_left) config["truncation_side"] = "left";
  config["tokenizer_class"] = with_json ? "PreTrainedTokenizerFast" : "BertTokenizer";
  config["unk_token"] = settings.unknown;
  return config.dump(2) + "\n";
}

}  // namespace heed
