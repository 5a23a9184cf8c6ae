#include "text/wordpiece_config.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "text/tokenizer_config.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

/// Nothing or null for absent.
std::optional<bool> read_flag(const Json& config, const std::string& key, const std::string& name) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return std::nullopt;
  if (!found->is_boolean()) fail(ErrorKind::kFormat, "in {}, \"{}\" is neither true nor false", name, key);
  return found->get<bool>();
}

/// model_max_length; a number beyond all reason stands for no limit in Hugging Face's files.
size_t read_longest(const Json& config, const std::string& name) {
  constexpr double kMost = 1 << 20;
  const auto found = config.find("model_max_length");
  if (found == config.end() || found->is_null()) return 0;
  if (!found->is_number() || found->get<double>() < 1) {
    fail(ErrorKind::kFormat, "in {}, \"model_max_length\" is no number of tokens", name);
  }
  const double longest = found->get<double>();
  return longest > kMost ? 0 : static_cast<size_t>(longest);
}

}  // namespace

WordPieceSettings read_wordpiece_config(std::string_view json, const std::string& name) {
  const Json config = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) fail(ErrorKind::kFormat, "{} is not a JSON object", name);
  if (!read_flag(config, "do_basic_tokenize", name).value_or(true)) {
    fail(ErrorKind::kFormat,
         "{} turns \"do_basic_tokenize\" off: text cut at white space only is not read here", name);
  }
  WordPieceSettings settings;
  settings.words.lowercase = read_flag(config, "do_lower_case", name).value_or(true);
  settings.words.strip_accents = read_flag(config, "strip_accents", name).value_or(settings.words.lowercase);
  settings.words.chinese_apart = read_flag(config, "tokenize_chinese_chars", name).value_or(true);
  settings.longest = read_longest(config, name);
  settings.start = read_token(config, "cls_token", settings.start, name);
  settings.end = read_token(config, "sep_token", settings.end, name);
  settings.unknown = read_token(config, "unk_token", settings.unknown, name);
  settings.pad = read_token(config, "pad_token", settings.pad, name);
  settings.mask = read_token(config, "mask_token", settings.mask, name);
  return settings;
}

std::string write_wordpiece_config(const WordPieceSettings& settings) {
  Json config{{"cls_token", settings.start},
              {"do_lower_case", settings.words.lowercase},
              {"mask_token", settings.mask}};
  if (settings.longest > 0) config["model_max_length"] = settings.longest;
  config["pad_token"] = settings.pad;
  config["sep_token"] = settings.end;
  config["strip_accents"] = settings.words.strip_accents;
  config["tokenize_chinese_chars"] = settings.words.chinese_apart;
  config["tokenizer_class"] = "BertTokenizer";
  config["unk_token"] = settings.unknown;
  return config.dump(2) + "\n";
}

}  // namespace heed
