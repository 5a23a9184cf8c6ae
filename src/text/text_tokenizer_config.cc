#include "text/text_tokenizer_config.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/file.h"
#include "text/tokenizer_config.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFile = "/tokenizer_config.json";

std::optional<bool> read_flag(const Json& config, const std::string& key, const std::string& name) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return std::nullopt;
  if (!found->is_boolean()) fail(ErrorKind::kFormat, "in {}, \"{}\" is neither true nor false", name, key);
  return found->get<bool>();
}

/// {"0": {"content": "<|endoftext|>", "special": true, ...}, ...}
std::map<int32_t, std::string> read_special(const Json& config, const std::string& name) {
  std::map<int32_t, std::string> special;
  const auto found = config.find("added_tokens_decoder");
  if (found == config.end() || found->is_null()) return special;
  const auto broken = [&] {
    fail(ErrorKind::kFormat, "in {}, \"added_tokens_decoder\" is not an object of ids and tokens", name);
  };
  if (!found->is_object()) broken();
  for (const auto& [key, token] : found->items()) {
    if (key.empty() || key.size() > 9 || key.find_first_not_of("0123456789") != std::string::npos) broken();
    if (!token.is_object() || !token.contains("content") || !token["content"].is_string()) broken();
    if (read_flag(token, "special", name).value_or(false)) {
      special[std::stoi(key)] = token["content"].get<std::string>();
    }
  }
  return special;
}

}  // namespace

TextTokenizerConfig read_text_tokenizer_config(const std::string& directory) {
  TextTokenizerConfig result;
  const std::string path = directory + kFile;
  if (!std::filesystem::exists(path)) return result;
  const Json config = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) fail(ErrorKind::kFormat, "{} is not a JSON object", path);
  result.tokenizer_class = read_token(config, "tokenizer_class", "", path);
  result.start = read_token(config, "bos_token", "", path);
  result.end = read_token(config, "eos_token", "", path);
  result.unknown = read_token(config, "unk_token", "", path);
  result.adds_start = read_flag(config, "add_bos_token", path);
  result.adds_space = read_flag(config, "add_prefix_space", path).value_or(false);
  result.special = read_special(config, path);
  return result;
}

void write_text_tokenizer_config(const std::string& directory, const TextTokenizerConfig& config) {
  Json json{{"tokenizer_class", config.tokenizer_class}};
  if (!config.start.empty()) json["bos_token"] = config.start;
  if (!config.end.empty()) json["eos_token"] = config.end;
  if (!config.unknown.empty()) json["unk_token"] = config.unknown;
  if (config.adds_start) {
    json["add_bos_token"] = *config.adds_start;
    json["add_eos_token"] = false;
  }
  if (config.tokenizer_class == "GPT2Tokenizer") json["add_prefix_space"] = config.adds_space;
  json["clean_up_tokenization_spaces"] = false;
  write_file(directory + kFile, json.dump(2) + "\n");
}

std::optional<TextTokenizerKind> find_text_tokenizer(const std::string& directory) {
  const auto has = [&](const char* file) { return std::filesystem::is_regular_file(directory + file); };
  const std::string named = read_text_tokenizer_config(directory).tokenizer_class;
  if (named == kByteTokenizerClass) return TextTokenizerKind::kBytes;
  if (named == kCharacterTokenizerClass) return TextTokenizerKind::kCharacters;
  if (has("/tokenizer.model")) return TextTokenizerKind::kSentencePiece;
  if ((has("/vocab.json") && has("/merges.txt")) || named.starts_with("GPT2Tokenizer")) {
    return TextTokenizerKind::kByteBpe;
  }
  return std::nullopt;
}

}  // namespace heed
