#include "text/tokenizers/config/language_tokenizer_config.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/files/file.h"
#include "text/readers/tokenizer_file.h"
#include "text/tokenizers/config/added_tokens.h"
#include "text/tokenizers/config/tokenizer_config_keys.h"
#include "text/tokenizers/config/translation_tokenizer_config.h"

namespace heed {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Directories of earlier versions have a tokenizer class of Heed, which other libraries do not know.
std::optional<TextTokenizerKind> read_own_kind(const JsonObject& config, const std::string& tokenizer_class) {
  if (tokenizer_class == "HeedByteTokenizer") return TextTokenizerKind::kBytes;
  if (tokenizer_class == "HeedCharacterTokenizer") return TextTokenizerKind::kCharacters;
  if (!config.has("heed_tokenizer")) return std::nullopt;
  return config.word<TextTokenizerKind>("heed_tokenizer",
                                        {{"bytes", TextTokenizerKind::kBytes},
                                         {"characters", TextTokenizerKind::kCharacters},
                                         {"sentencepiece", TextTokenizerKind::kSentencePiece}});
}

}  // namespace

TextTokenizerConfig read_text_tokenizer_config(const ModelInventory& files) {
  TextTokenizerConfig result;
  const JsonObject config =
      JsonObject::parse(read_tokenizer_config_file(files), files.path(model_file::kTokenizerConfig));
  require_known_keys(config, text_tokenizer_keys());
  if (files.has(model_file::kTokenizerJson)) {
    result.added = read_added_tokens(config);  // the file lists them, too
  } else {
    result.added = read_added_tokens(files, config);
    std::vector<std::string> listed;
    for (const AddedToken& token : result.added) listed.push_back(token.content);
    require_no_other_tokens(config, listed);
  }
  result.tokenizer_class = read_token(config, "tokenizer_class", "");
  result.start = read_token(config, "bos_token", "");
  result.end = read_token(config, "eos_token", "");
  result.unknown = read_token(config, "unk_token", "");
  result.adds_start = read_flag(config, "add_bos_token");
  result.adds_end = read_flag(config, "add_eos_token");
  result.adds_space = read_flag(config, "add_prefix_space");
  result.legacy = read_flag(config, "legacy").value_or(true);
  result.own = read_own_kind(config, result.tokenizer_class);
  return result;
}

void write_text_tokenizer_config(const std::string& directory, const TextTokenizerConfig& config) {
  OrderedJson json{{"tokenizer_class", config.tokenizer_class}};
  if (config.own) json["heed_tokenizer"] = name_of(*config.own);
  if (!config.start.empty()) json["bos_token"] = config.start;
  if (!config.end.empty()) json["eos_token"] = config.end;
  if (!config.unknown.empty()) json["unk_token"] = config.unknown;
  if (config.adds_start) {
    json["add_bos_token"] = *config.adds_start;
    json["add_eos_token"] = false;
  }
  if (config.tokenizer_class == "GPT2Tokenizer") json["add_prefix_space"] = config.adds_space.value_or(false);
  if (!config.legacy) json["legacy"] = false;
  for (const AddedToken& token : config.added)
    json["added_tokens_decoder"][std::to_string(token.id)] = added_token_json(token);
  json["clean_up_tokenization_spaces"] = false;
  write_file(directory + "/" + model_file::kTokenizerConfig, json.dump(2) + "\n");
}

std::optional<TextTokenizerFiles> find_text_tokenizer(const ModelInventory& files,
                                                      const TextTokenizerConfig& config) {
  const auto of_kind = [](TextTokenizerKind kind) { return TextTokenizerFiles{.kind = kind}; };
  if (config.own) return of_kind(*config.own);
  if (files.has(model_file::kTokenizerJson)) return TextTokenizerFiles{.json = true};
  if (files.has(model_file::kTokenizerModel)) return of_kind(TextTokenizerKind::kSentencePiece);
  const bool has_merges = files.has(model_file::kVocabularyJson) && files.has(model_file::kMerges);
  if (has_merges || config.tokenizer_class.starts_with("GPT2Tokenizer")) {
    return of_kind(TextTokenizerKind::kByteBpe);
  }
  return std::nullopt;
}

}  // namespace heed
