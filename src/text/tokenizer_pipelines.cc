#include "text/tokenizer_pipelines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace heed {
namespace {

using Json = nlohmann::json;

constexpr const char* kWordPieceNeeds =
    "Heed's WordPiece is BERT's: BertNormalizer, BertPreTokenizer, a post_processor that adds one token "
    "before and one after a text, and the decoder WordPiece";

/// Throws unless the step's setting is one of `allowed`; null also matches a missing setting.
void require(const TokenizerJson& json, const TokenizerStep& step, const char* key,
             const std::vector<Json>& allowed) {
  const Json value = step.settings.has(key) ? step.settings.json().at(key) : Json();
  for (const Json& each : allowed) {
    if (value == each) return;
  }
  refuse_step(json, step, fmt::format("is not supported: \"{}\" must be {}", key, allowed[0].dump()));
}

}  // namespace

WordPieceModel wordpiece_of(const TokenizerJson& json, const WordPieceConfig& config) {
  WordPieceModel result{json.pieces, config.settings};
  WordPieceSettings& settings = result.settings;
  const TokenizerStep& model = json.model;
  allow_settings(json, model,
                 {"unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
  require(json, model, "continuing_subword_prefix", {"##"});
  require(json, model, "max_input_chars_per_word", {100});
  settings.unknown = model.settings.string("unk_token");

  TokenizerSteps normalizer(json, json.normalizer, kWordPieceNeeds);
  const TokenizerStep* bert = normalizer.take("BertNormalizer");
  normalizer.end();
  if (bert == nullptr) refuse_step(json, model, fmt::format("has no normalizer: {}", kWordPieceNeeds));
  allow_settings(json, *bert, {"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  require(json, *bert, "clean_text", {true});
  settings.words.lowercase = bert->settings.boolean("lowercase");
  settings.words.strip_accents = bert->settings.boolean("strip_accents", settings.words.lowercase);
  settings.words.chinese_apart = bert->settings.boolean("handle_chinese_chars");
  const auto compare = [&](const char* key, const std::optional<bool>& said, bool value) {
    if (!said || *said == value) return;
    refuse_step(
        json, *bert,
        fmt::format("contradicts \"{}\": {} in tokenizer_config.json; make both files agree", key, *said));
  };
  compare("do_lower_case", config.lowercase, settings.words.lowercase);
  compare("strip_accents", config.strip_accents, settings.words.strip_accents);
  compare("tokenize_chinese_chars", config.chinese_apart, settings.words.chinese_apart);

  TokenizerSteps pre_tokenizer(json, json.pre_tokenizer, kWordPieceNeeds);
  const bool cuts = pre_tokenizer.take("BertPreTokenizer") != nullptr;
  pre_tokenizer.end();
  if (!cuts) refuse_step(json, model, fmt::format("has no pre_tokenizer: {}", kWordPieceNeeds));

  TokenizerSteps post_processor(json, json.post_processor, kWordPieceNeeds);
  if (const TokenizerStep* step = post_processor.take("TemplateProcessing")) {
    allow_settings(json, *step, {"single", "pair", "special_tokens"});
    const TokenizerFrame frame = frame_of_template(json, *step);
    if (frame.before.size() != 1 || frame.after.size() != 1 || !pairs_like_bert(*step, frame)) {
      refuse_step(json, *step, fmt::format("is not supported: {}", kWordPieceNeeds));
    }
    settings.start = frame.before[0];
    settings.end = frame.after[0];
  } else if (const TokenizerStep* bert_step = post_processor.take("BertProcessing")) {
    allow_settings(json, *bert_step, {"sep", "cls"});
    const auto token_of = [&](const char* key) {
      const Json value = bert_step->settings.has(key) ? bert_step->settings.json().at(key) : Json();
      const bool sound = value.is_array() && value.size() == 2 && value[0].is_string() &&
                         value[1].is_number_unsigned() && value[1].get<uint64_t>() < json.pieces.size() &&
                         json.pieces[value[1].get<size_t>()] == value[0].get<std::string>();
      if (!sound)
        refuse_step(json, *bert_step, fmt::format("is damaged: \"{}\" is not a token and its id", key));
      return value[0].get<std::string>();
    };
    settings.start = token_of("cls");
    settings.end = token_of("sep");
  } else if (json.post_processor.empty()) {
    refuse_step(json, model, fmt::format("has no post_processor: {}", kWordPieceNeeds));
  }
  post_processor.end();

  TokenizerSteps decoder(json, json.decoder, kWordPieceNeeds);
  if (const TokenizerStep* step = decoder.take("WordPiece")) {
    allow_settings(json, *step, {"prefix", "cleanup"});
    require(json, *step, "prefix", {"##"});
    settings.clean_up = step->settings.boolean("cleanup");
  }
  decoder.end();
  const std::vector<std::string> roles{settings.start, settings.end, settings.unknown, settings.pad,
                                       settings.mask};
  for (const AddedToken& token : json.added) {
    if (std::find(roles.begin(), roles.end(), token.content) != roles.end()) continue;
    fail(ErrorKind::kFormat,
         "{}: the added token '{}' is not supported: Heed's WordPiece supports only {}, the special tokens "
         "of tokenizer_config.json",
         json.path, shown(token.content), fmt::join(roles, ", "));
  }
  return result;
}

}  // namespace heed
