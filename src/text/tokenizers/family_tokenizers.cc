#include "text/tokenizers/family_tokenizers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/check.h"
#include "base/text/nearest_word.h"
#include "base/text/option_error.h"
#include "base/text/string_list.h"
#include "text/pipeline/shown_piece.h"
#include "text/readers/ctranslate2_vocabulary.h"
#include "text/readers/pipeline_reader.h"
#include "text/readers/tokenizer_file.h"
#include "text/readers/vocabulary_json.h"
#include "text/sentences/language_codes.h"
#include "text/tokenizers/config/added_tokens.h"
#include "text/tokenizers/config/tokenizer_class.h"
#include "text/tokenizers/config/tokenizer_config_keys.h"
#include "text/tokenizers/config/tokenizer_flags.h"
#include "text/tokenizers/config/translation_tokenizer_config.h"
#include "text/tokenizers/numbered_pieces.h"

namespace heed {
namespace {

constexpr const char *kJson = model_file::kTokenizerJson, *kBpeModel = model_file::kSentencePieceBpe,
                     *kT5Model = model_file::kT5Model, *kVocabulary = model_file::kVocabularyJson,
                     *kList = kSharedVocabulary;
constexpr const char *kM2m100Class = "M2M100Tokenizer", *kNllbClass = "NllbTokenizer",
                     *kMbartClass = "MBartTokenizer", *kMbart50Class = "MBart50Tokenizer";

std::string all_languages(const FamilyTokenizer& tokenizer) {
  constexpr size_t kShown = 20;
  std::vector<std::string> names;
  for (const auto& [name, id] : tokenizer.languages) names.push_back(name);
  std::string all =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + std::min(names.size(), kShown), " "));
  if (names.size() > kShown) all += fmt::format(" and {} more", names.size() - kShown);
  return all;
}

/// The code and token id of the language that a name means.
const std::pair<std::string, int32_t>& language_named(const FamilyTokenizer& tokenizer,
                                                      const std::string& language) {
  std::vector<std::string> names;
  for (const auto& [name, id] : tokenizer.languages) names.push_back(name);
  const std::string code = code_of_language(names, language);
  for (const auto& each : tokenizer.languages) {
    if (each.first == code) return each;
  }
  fail(ErrorKind::kUsage, "the model has no language '{}'{}; its languages are {}", shown(language, 40),
       did_you_mean(language, names), all_languages(tokenizer));
}

bool is_language(const FamilyTokenizer& tokenizer, int32_t id) {
  return std::ranges::any_of(tokenizer.languages, [&](const auto& each) { return each.second == id; });
}

/// A directory with a list of CTranslate2 has no model_type, or that of a model which Heed made of it: then
/// the languages tell classes apart.
std::string class_of(const ModelInventory& files, const JsonObject& config) {
  const std::string own = config.string("tokenizer_class", "");
  return has_string_list(files, kList) ? named_tokenizer_class(files, own) : tokenizer_class_of(files, own);
}

/// tokenizer_config.json with a class, so that a copy of the tokenizer beside another config.json is the
/// same.
std::string with_class(const std::string& config, const JsonObject& parsed, const std::string& name) {
  if (parsed.has("tokenizer_class")) return config;
  nlohmann::ordered_json json = parse_ordered_json(config, parsed.origin());
  json["tokenizer_class"] = name.empty() ? kPlainTokenizerClass : name;
  return json.dump(2) + "\n";
}

/// Everything that the kinds of files have in common, from the pieces on.
class Loader {
 public:
  Loader(const ModelInventory& files, const std::string& config)
      : files_(files),
        config_(JsonObject::parse(config, files.path(model_file::kTokenizerConfig))),
        class_(class_of(files_, config_)) {
    require_known_keys(config_, family_tokenizer_keys());
    special_.end = read_token(config_, "eos_token", special_.end);
    special_.unknown = read_token(config_, "unk_token", special_.unknown);
    special_.pad = read_token(config_, "pad_token", special_.pad);
    result_.config = config;
    result_.true_case_capitals = read_flag(config_, "true_case_capitals").value_or(false);
    if (has_string_list(files_, kList)) listed_ = read_string_list(files_, kList);
  }

  FamilyTokenizer load() {
    if (files_.has(kJson)) {
      load_json();
    } else if (files_.has(kT5Model)) {
      load_t5_model();
    } else if (files_.has(kVocabulary)) {
      load_m2m100();
    } else if (!listed_.empty()) {
      load_listed();
    } else {
      load_mbart();
    }
    if (!files_.has(kJson)) require_no_other_ids(files_, *vocabulary_);
    choose_class();
    frame_sources();
    frame_targets();
    const std::string usual = read_token(config_, "src_lang", usual_source());
    if (!result_.languages.empty()) {
      result_.config = with_class(result_.config, config_, class_);
      result_.choose_languages(
          usual, result_.target_begins_with_language ? read_token(config_, "tgt_lang", "") : "");
    }
    return std::move(result_);
  }

 private:
  std::string add_file(const std::string& name) {
    result_.files.push_back(files_.path(name));
    return result_.files.back();
  }

  /// CTranslate2 stores the pieces of its model; those of the tokenizer beside it have to be the same.
  void require_listed(const std::vector<std::string>& pieces) const {
    for (size_t id = 0; id < std::min(pieces.size(), listed_.size()); ++id) {
      if (pieces[id] == listed_[id]) continue;
      fail(
          ErrorKind::kFormat,
          "'{}': token {} is '{}' in the tokenizer, but '{}' in shared_vocabulary: use the tokenizer of this "
          "model",
          files_.directory(), id, shown(pieces[id]), shown(listed_[id]));
    }
  }

  /// Gives a piece to every id below vocab_size of config.json, or to as many as CTranslate2 lists.
  void number(std::vector<std::string> pieces, const std::vector<std::string>& special) {
    const size_t tokens = pieces.size();
    size_t rows = std::max(tokens, listed_.size());
    if (listed_.empty() && files_.has(model_file::kConfig)) {
      const JsonObject model = JsonObject::read(files_.path(model_file::kConfig));
      rows = static_cast<size_t>(model.integer("vocab_size", {0, 1 << 26}, static_cast<int64_t>(tokens)));
    }
    while (pieces.size() < rows) pieces.push_back(fmt::format("<unused {}>", pieces.size()));
    auto vocabulary = std::make_shared<Vocabulary>(std::move(pieces), special_);
    for (const std::string& piece : special) vocabulary->mark_special(vocabulary->id(piece));
    for (size_t id = tokens; id < rows; ++id) vocabulary->mark_special(static_cast<int32_t>(id));
    vocabulary_ = vocabulary;
  }

  void add_languages(const std::vector<std::string>& tokens) {
    for (const std::string& token : tokens) {
      const std::string language = language_of_token(token);
      if (!language.empty()) result_.languages.emplace_back(language, vocabulary_->id(token));
    }
    std::ranges::sort(result_.languages, {}, &std::pair<std::string, int32_t>::second);
  }

  /// Tokens of tokenizer_config.json that the files lack would get new ids.
  void require_tokens() const {
    const auto require = [&](const char* key, const std::string& token) {
      if (vocabulary_->find(token)) return;
      fail(ErrorKind::kFormat, "{}: '{}' has the token '{}', which the tokenizer's other files lack",
           config_.origin(), key, shown(token));
    };
    for (const std::string& token : added_tokens(config_)) require("added_tokens_decoder", token);
    for (const auto& [key, token] : further_special_tokens(config_)) require(key, token);
  }

  void load_json() {
    const TokenizerJson json = read_tokenizer_json(add_file(kJson));
    require_same_flags(json, {.tokenizer_class = config_.string("tokenizer_class", ""),
                              .adds_space = read_flag(config_, "add_prefix_space")});
    const TextPipeline pipeline = read_text_pipeline(json);
    std::vector<std::string> special;
    for (const AddedToken& token : json.added) {
      if (token.special) special.push_back(token.content);
    }
    require_listed(json.pieces);
    number(shown_pieces(json, pipeline), special);
    add_languages(special);
    require_tokens();
    const std::unordered_set<std::string> around{special_.end,
                                                 special_.unknown,
                                                 special_.pad,
                                                 read_token(config_, "bos_token", "<s>"),
                                                 read_token(config_, "cls_token", "<s>"),
                                                 read_token(config_, "sep_token", special_.end)};
    std::vector<int32_t> in_text;
    for (const std::string& token : special) {
      const int32_t id = vocabulary_->id(token);
      if (!around.contains(token) && !is_language(result_, id)) in_text.push_back(id);
    }
    result_.tokenizer = ModelTokenizer({.pipeline = pipeline,
                                        .vocabulary = vocabulary_,
                                        .in_text = std::move(in_text),
                                        .shows_pieces = true,
                                        .separates_spans = true});
    result_.source = {pipeline.before(), pipeline.after()};
    for (const char* other : {kBpeModel, kT5Model, kVocabulary, model_file::kMerges}) {
      if (files_.has(other)) add_file(other);
    }
  }

  /// Pieces as people read them; bytes are written as other characters in the file.
  static std::vector<std::string> shown_pieces(const TokenizerJson& json, const TextPipeline& pipeline) {
    const auto is_byte_level = [](const TokenizerStep& step) { return step.type == "ByteLevel"; };
    if (!std::ranges::any_of(json.pre_tokenizer, is_byte_level)) return json.pieces;
    std::vector<std::string> pieces = json.pieces;
    std::unordered_set<std::string> taken;
    for (const AddedToken& token : json.added) taken.insert(token.content);
    for (int32_t id = 0; id < pipeline.size(); ++id) {
      if (pipeline.added().find(id) != nullptr) continue;
      std::string shown = shown_piece(pipeline.bytes(id).value_or(pieces[id]));
      if (!taken.insert(shown).second) shown += fmt::format("<{}>", id);  // two pieces look alike
      pieces[id] = std::move(shown);
    }
    return pieces;
  }

  SentencePieceFile read_model(const std::string& name) {
    model_path_ = add_file(name);
    return read_sentencepiece_file(model_path_);
  }

  void use_model(const SentencePieceFile& model, std::vector<AddedToken> in_text = {}) {
    require_tokens();
    result_.tokenizer = numbered_tokenizer(model, model_path_, vocabulary_, std::move(in_text));
  }

  /// T5: the pieces of the model, then <extra_id_99> to <extra_id_0>, which take the spaces around them as in
  /// transformers' T5Tokenizer.
  void load_t5_model() {
    const SentencePieceFile model = read_model(kT5Model);
    std::vector<std::string> pieces, special;
    for (int n = 0; n < model.size(); ++n) pieces.push_back(model[n].text);
    for (int64_t n = config_.integer("extra_ids", {0, 10000}, 100); n > 0; --n) {
      special.push_back(fmt::format("<extra_id_{}>", n - 1));
    }
    pieces.insert(pieces.end(), special.begin(), special.end());
    require_listed(pieces);
    number(std::move(pieces), special);
    std::vector<AddedToken> sentinels;
    for (const std::string& piece : special) {
      sentinels.push_back(
          {.id = vocabulary_->id(piece), .content = piece, .strip_left = true, .strip_right = true});
    }
    use_model(model, std::move(sentinels));
    result_.source = {{}, {vocabulary_->end_id()}};
  }

  void load_m2m100() {
    const SentencePieceFile model = read_model(kBpeModel);
    const std::string path = add_file(kVocabulary);
    std::vector<std::string> pieces = read_vocabulary(read_tokenizer_file(path), path);
    const std::string set = config_.string("language_codes", "m2m100");
    std::vector<std::string> tokens;
    for (const std::string& language : m2m100_languages(set)) tokens.push_back(m2m100_token(language));
    if (tokens.empty()) config_.reject("language_codes", "\"m2m100\" or \"wmt21\"");
    pieces.insert(pieces.end(), tokens.begin(), tokens.end());
    for (int64_t n = 0; n < config_.integer("num_madeup_words", {0, 10000}, 8); ++n) {
      tokens.push_back(fmt::format("madeupword{}", n));
      pieces.push_back(tokens.back());
    }
    tokens.push_back(read_token(config_, "bos_token", "<s>"));
    require_listed(pieces);
    number(std::move(pieces), tokens);
    add_languages(tokens);
    use_model(model);
  }

  /// M2M-100, NLLB and mBART-50 of CTranslate2, whose list numbers the pieces of the model; what the model
  /// lacks are special tokens.
  void load_listed() {
    const SentencePieceFile model = read_model(kBpeModel);
    add_file(string_list_file(files_, kList));
    std::unordered_set<std::string> pieces;
    for (int n = 0; n < model.size(); ++n) {
      if (!model.is_special(n)) pieces.insert(model[n].text);
    }
    std::vector<std::string> special;
    for (const std::string& piece : listed_) {
      if (!pieces.contains(piece)) special.push_back(piece);
    }
    number(listed_, special);
    add_languages(special);
    use_model(model);
    if (result_.languages.empty()) {
      fail(ErrorKind::kFormat,
           "'{}': its vocabulary has no language tokens, as those of M2M-100, NLLB and mBART-50 do: copy the "
           "tokenizer.json of the original model into it",
           files_.directory());
    }
  }

  void load_mbart() {
    if (class_ != kMbartClass && class_ != kMbart50Class) {
      config_.reject("tokenizer_class",
                     "\"MBartTokenizer\" or \"MBart50Tokenizer\" for a sentencepiece.bpe.model without a "
                     "tokenizer.json");
    }
    const SentencePieceFile model = read_model(kBpeModel);
    constexpr int kModelSpecials = 3;  // <unk>, <s>, </s>
    constexpr size_t kMbart = 25, kMbart50 = 52;
    const bool is_50 = class_ == kMbart50Class;
    std::vector<std::string> special{"<s>", special_.pad, special_.end, special_.unknown}, pieces = special;
    for (int n = kModelSpecials; n < model.size(); ++n) pieces.push_back(model[n].text);
    for (const std::string& language : mbart_languages(is_50 ? kMbart50 : kMbart))
      special.push_back(language);
    special.push_back(read_token(config_, "mask_token", "<mask>"));
    pieces.insert(pieces.end(), special.begin() + 4, special.end());
    number(std::move(pieces), special);
    add_languages(special);
    use_model(model);
  }

  bool has_language(const std::string& name) const {
    return std::ranges::any_of(result_.languages,
                               [&](const auto& language) { return language.first == name; });
  }

  /// Where no class is named, languages tell NLLB from M2M-100, whose model_type it has, and the models of
  /// CTranslate2 apart.
  void choose_class() {
    if (has_language("eng_Latn") && (class_.empty() || class_ == kM2m100Class)) class_ = kNllbClass;
    if (!class_.empty() || files_.has(kJson)) return;
    if (has_language("en")) class_ = kM2m100Class;
    if (has_language("en_XX")) class_ = kMbart50Class;
  }

  /// What transformers' classes put around a source, whatever tokenizer.json says; with other classes, what
  /// it says.
  void frame_sources() {
    const bool legacy = read_flag(config_, "legacy_behaviour").value_or(false) && class_ == kNllbClass;
    const bool ends = class_ == kMbartClass || legacy;
    const bool begins = class_ == kM2m100Class || class_ == kMbart50Class || class_ == kNllbClass;
    const bool follows_file = files_.has(kJson) && !ends && !begins;
    if (result_.languages.empty() || follows_file) return;
    const int32_t language = source_in_file(), end = vocabulary_->end_id();
    result_.source =
        ends ? FamilyTokenizer::Frame{{}, {end, language}} : FamilyTokenizer::Frame{{language}, {end}};
  }

  /// The language around a source that tokenizer.json names, or the first one.
  int32_t source_in_file() const {
    std::vector<int32_t> ids = result_.source.before;
    ids.insert(ids.end(), result_.source.after.begin(), result_.source.after.end());
    for (const int32_t id : ids) {
      if (is_language(result_, id)) return id;
    }
    return result_.languages.front().second;
  }

  /// What a target has around it.
  void frame_targets() {
    const int32_t end = vocabulary_->end_id();
    result_.target.after = {end};
    if (result_.languages.empty()) {
      result_.target.before = result_.source.before;
      return;
    }
    // mBART's decoder starts from the language, which no id of the target repeats.
    result_.target_begins_with_language = class_ != kMbartClass;
  }

  /// The source language of transformers' classes where the config names none; empty: that of the file.
  std::string usual_source() const {
    const std::string usual = class_ == kM2m100Class                             ? "en"
                              : class_ == kNllbClass                             ? "eng_Latn"
                              : class_ == kMbartClass || class_ == kMbart50Class ? "en_XX"
                                                                                 : "";
    return has_language(usual) ? usual : "";
  }

  const ModelInventory& files_;
  JsonObject config_;
  std::string class_;
  SpecialPieces special_;
  std::vector<std::string> listed_;  ///< shared_vocabulary of CTranslate2, by id; empty: none
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::string model_path_;  ///< of the SentencePiece model
  FamilyTokenizer result_;
};

}  // namespace

void FamilyTokenizer::choose_languages(const std::string& source_name, const std::string& target_name) {
  const auto exchange = [&](std::vector<int32_t>& ids, int32_t language) {
    for (int32_t& id : ids) id = is_language(*this, id) ? language : id;
  };
  if (!source_name.empty()) {
    const auto& [code, id] = language_named(*this, source_name);
    exchange(source.before, id);
    exchange(source.after, id);
    source_language = code;
  }
  if (target_name.empty()) return;
  const auto& [code, id] = language_named(*this, target_name);
  if (!target_begins_with_language) {
    fail(
        ErrorKind::kUsage,
        "the target language of this model is the token that its decoder starts from: decoder_start_token_id "
        "in config.json, {} for '{}'",
        id, target_name);
  }
  target.before = {id};
  target_language = code;
}

void FamilyTokenizer::require_target() const {
  if (!target_begins_with_language || !target.before.empty()) return;
  fail_option("the model translates into several languages: choose one with $target_language ({})",
              all_languages(*this));
}

bool has_family_tokenizer(const ModelInventory& files) {
  return !files.has(model_file::kSourceSpm) && files.has_any({kJson, kBpeModel, kT5Model});
}

FamilyTokenizer load_family_tokenizer(const ModelInventory& files, const std::string& config) {
  return Loader(files, config).load();
}

}  // namespace heed
