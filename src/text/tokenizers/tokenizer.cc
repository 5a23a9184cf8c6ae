#include "text/tokenizers/tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/check.h"
#include "base/files/file.h"
#include "base/text/nearest_word.h"
#include "base/text/option_error.h"
#include "base/text/printable.h"
#include "base/text/string_list.h"
#include "text/readers/tokenizer_file.h"
#include "text/sentences/language_codes.h"
#include "text/tokenizers/family_tokenizers.h"
#include "text/tokenizers/piece_coder.h"
#include "text/tokenizers/tokenizer_config.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

constexpr const char *kSourceModel = model_file::kSourceSpm, *kTargetModel = model_file::kTargetSpm,
                     *kVocabulary = model_file::kVocabularyJson,
                     *kTargetVocabulary = model_file::kTargetVocabulary,
                     *kConfig = model_file::kTokenizerConfig;

std::string path_of(const std::string& directory, const char* file) {
  return (std::filesystem::path(directory) / file).string();
}

/// The leading language code, or empty.
std::string_view leading_code(std::string_view text) {
  if (!text.starts_with(">>")) return {};
  const size_t end = text.find("<<");
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end + 2);
}

/// The first of these in alphabetical order, and how many there are besides.
std::string first_of(std::vector<std::string> names) {
  constexpr size_t kShown = 12;
  std::ranges::sort(names);
  const size_t more = names.size() - std::min(names.size(), kShown);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, " "), more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

Tokenizer::Side Tokenizer::marian_side(const SentencePieceModel& model,
                                       std::shared_ptr<const Vocabulary> vocabulary) {
  const int32_t end = vocabulary->end_id();
  return {std::make_shared<const SentencePieceCoder>(model, vocabulary), vocabulary, {}, {end}};
}

Tokenizer::Tokenizer(Side source, Side target, std::string config, MarianFiles files)
    : source_(std::move(source)),
      target_(std::move(target)),
      config_(std::move(config)),
      files_(std::make_shared<const MarianFiles>(std::move(files))) {
  TokenizerConfig settings = read_tokenizer_config(config_, kConfig);
  source_language_ = std::move(settings.source_language);
  target_language_ = std::move(settings.target_language);
  true_case_capitals_ = settings.true_case_capitals;
  const Vocabulary& vocabulary = *source_.vocabulary;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.piece(static_cast<int32_t>(id));
    if (is_marian_language_code(piece)) language_codes_.push_back(piece);
  }
}

Tokenizer::Tokenizer(FamilyTokenizer family) : config_(family.config) {
  source_ = {family.coder, family.vocabulary, family.source.before, family.source.after};
  target_ = {family.coder, family.vocabulary, family.target.before, family.target.after};
  source_language_ = family.source_language;
  target_language_ = family.target_language;
  true_case_capitals_ = family.true_case_capitals;
  family_ = std::make_shared<const FamilyTokenizer>(std::move(family));
}

Tokenizer Tokenizer::load(const ModelInventory& files) {
  const std::string config = read_tokenizer_config_file(files);
  if (has_family_tokenizer(files)) return Tokenizer(load_family_tokenizer(files, config));
  const TokenizerConfig settings = read_tokenizer_config(config, files.path(kConfig));
  const auto read_vocabulary = [&](const char* file) {
    return std::make_shared<const Vocabulary>(Vocabulary::load(files.path(file), settings.special));
  };
  if (!files.has(kVocabulary) && files.has(model_file::kCtranslate2)) {
    return load_ctranslate2(files, settings.special, config);
  }
  const SentencePieceModel source = SentencePieceModel::load(files.path(kSourceModel));
  const auto vocabulary = read_vocabulary(kVocabulary);
  std::string target_bytes = read_tokenizer_file(files.path(kTargetModel));
  // Both files are often equal.
  const SentencePieceModel target =
      target_bytes == source.bytes()
          ? source
          : SentencePieceModel::from_bytes(std::move(target_bytes), files.path(kTargetModel));
  return Tokenizer(
      marian_side(source, vocabulary),
      marian_side(target, settings.separate_vocabularies ? read_vocabulary(kTargetVocabulary) : vocabulary),
      config, {source.bytes(), target.bytes()});
}

/// The vocabularies of CTranslate2 are lists, without the padding token, which is appended.
Tokenizer Tokenizer::load_ctranslate2(const ModelInventory& files, const SpecialPieces& special,
                                      const std::string& config) {
  if (!files.has(kSourceModel)) {
    fail(ErrorKind::kNotFound,
         "'{}' has no tokenizer, which models of CTranslate2 do not contain: copy {} and {} of the original "
         "model into it, or, if it is not a Marian model, its tokenizer.json or sentencepiece.bpe.model",
         files.directory(), kSourceModel, kTargetModel);
  }
  const auto read_list = [&](const char* side) {
    std::vector<std::string> pieces = read_string_list(files, side);
    if (std::ranges::count(pieces, special.pad) == 0) pieces.push_back(special.pad);
    return std::make_shared<const Vocabulary>(std::move(pieces), special);
  };
  const bool joint = has_string_list(files, "shared_vocabulary");
  const auto source = SentencePieceModel::load(files.path(kSourceModel)),
             target = SentencePieceModel::load(files.path(kTargetModel));
  const auto vocabulary = read_list(joint ? "shared_vocabulary" : "source_vocabulary");
  return Tokenizer(marian_side(source, vocabulary),
                   marian_side(target, joint ? vocabulary : read_list("target_vocabulary")),
                   joint ? config : with_separate_vocabularies(config, files.path(kConfig)),
                   {source.bytes(), target.bytes()});
}

void Tokenizer::save(const std::string& directory) const {
  if (family_ != nullptr) {
    for (const std::string& path : family_->files) {
      write_file(path_of(directory, std::filesystem::path(path).filename().c_str()),
                 read_tokenizer_file(path));
    }
    write_file(path_of(directory, kConfig), config_);
    return;
  }
  write_file(path_of(directory, kSourceModel), files_->source_model);
  write_file(path_of(directory, kTargetModel), files_->target_model);
  write_file(path_of(directory, kVocabulary), source_.vocabulary->to_json());
  if (has_two_vocabularies())
    write_file(path_of(directory, kTargetVocabulary), target_.vocabulary->to_json());
  write_file(path_of(directory, kConfig), config_);
}

Tokenizer Tokenizer::train(const TokenizerTrainOptions& options, const NextLine& source,
                           const NextLine& target) {
  const auto train_one = [](const SentencePieceTrainOptions& settings, const NextLine& lines) {
    return SentencePieceModel::from_bytes(SentencePieceModel::train(settings, lines),
                                          "of the trained pieces");
  };
  const NextLine both = [&](std::string& line) { return source(line) || target(line); };
  const SentencePieceModel source_model = train_one(options.source, options.joint ? both : source);
  const SentencePieceModel target_model = options.joint ? source_model : train_one(options.target, target);

  const TokenizerConfig config{{}, options.source_language, options.target_language};
  std::vector<std::string> pieces{config.special.end, config.special.unknown};
  std::unordered_set<std::string> taken{config.special.end, config.special.unknown, config.special.pad};
  for (const SentencePieceModel* model : {&source_model, &target_model}) {
    for (int n = 0; n < model->size(); ++n) {
      if (!model->is_special(n) && taken.insert(model->piece(n)).second) pieces.push_back(model->piece(n));
    }
  }
  pieces.push_back(config.special.pad);
  const auto vocabulary = std::make_shared<const Vocabulary>(std::move(pieces), config.special);
  std::string config_json = write_tokenizer_config(config, *vocabulary, options.max_length);
  return Tokenizer(marian_side(source_model, vocabulary), marian_side(target_model, vocabulary),
                   std::move(config_json), {source_model.bytes(), target_model.bytes()});
}

std::string_view Tokenizer::code_of(std::string_view text) const {
  if (family_ == nullptr && !source_.before.empty()) return {};  // the language is chosen
  const std::string_view code = leading_code(text);
  // With several codes, any is one token: the model has learnt that languages stand there.
  const bool is_token = language_codes_.size() > 1 || source_.vocabulary->find(code).has_value();
  return is_token ? code : std::string_view{};
}

std::vector<std::string> Tokenizer::languages() const {
  std::vector<std::string> names;
  if (family_ == nullptr) return names;
  for (const auto& [name, id] : family_->languages) names.push_back(name);
  return names;
}

bool Tokenizer::target_begins_with_language() const {
  return family_ != nullptr && family_->target_begins_with_language;
}

bool Tokenizer::is_language(const std::string& language, int32_t id) const {
  return family_ != nullptr && std::ranges::count(family_->languages, std::pair(language, id)) > 0;
}

Tokenizer Tokenizer::with_languages(const std::string& source, const std::string& target) const {
  if (source.empty() && target.empty()) return *this;
  if (!language_codes_.empty() && source.empty()) {
    std::vector<std::string> names;
    for (const std::string& each : language_codes_) names.emplace_back(language_of_marian_code(each));
    const std::string language = code_of_language(names, target);
    if (language.empty()) {
      fail(ErrorKind::kUsage, "the model has no language '{}'{}; its languages are {}", shown(target, 40),
           did_you_mean(target, names), first_of(names));
    }
    Tokenizer chosen = *this;
    chosen.source_.before = {source_.vocabulary->id(">>" + language + "<<")};
    chosen.target_language_ = language;
    return chosen;
  }
  if (family_ == nullptr || family_->languages.empty()) {
    fail(ErrorKind::kUsage, "this model has no language tokens to choose: leave out the source {}language",
         language_codes_.empty() ? "and target " : "");
  }
  FamilyTokenizer chosen = *family_;
  chosen.choose_languages(source, target);
  return Tokenizer(std::move(chosen));
}

std::optional<int32_t> Tokenizer::first_target_id() const {
  return target_.before.empty() ? std::nullopt : std::optional(target_.before.front());
}

void Tokenizer::require_language_code(std::string_view text) const {
  if (family_ != nullptr) return family_->require_target();
  const std::string_view code = leading_code(text);
  const bool chosen = !source_.before.empty();
  if (language_codes_.size() < 2 || chosen || strip(text).empty() || source_.vocabulary->find(code)) return;
  if (!code.empty()) {
    fail(ErrorKind::kUsage, "the model has no language '{}'{}; its codes are {}", shown(code, 40),
         did_you_mean(code, language_codes_), first_of(language_codes_));
  }
  fail_option(
      "the model translates into several languages: choose one with $target_language, or begin each line "
      "with "
      "its code, without a space before it ({}); '{}' has none",
      first_of(language_codes_), shown(text, 40));
}

Encoding Tokenizer::encoding_of(const Side& side, std::string_view text, std::vector<CodedPiece> pieces,
                                const EncodeOptions& options) const {
  Encoding encoding;
  const auto add = [&](int32_t id, std::string piece, size_t begin, size_t end) {
    encoding.ids.push_back(id);
    encoding.pieces.push_back(std::move(piece));
    encoding.spans.emplace_back(begin, end);
  };
  for (const int32_t id : side.before) add(id, side.vocabulary->piece(id), 0, 0);
  const std::string_view code = code_of(text);
  if (!code.empty()) add(side.vocabulary->id(code), std::string(code), 0, code.size());
  for (CodedPiece& piece : pieces) {
    add(piece.id, std::move(piece.text), code.size() + piece.begin, code.size() + piece.end);
  }
  const size_t last = side.after.size();
  if (options.max_length > 0 && encoding.ids.size() + last > options.max_length) {
    const size_t kept = options.max_length - std::min(options.max_length, last);
    encoding.ids.resize(kept);
    encoding.pieces.resize(kept);
    encoding.spans.resize(kept);
  }
  for (const int32_t id : side.after) add(id, side.vocabulary->piece(id), text.size(), text.size());
  return encoding;
}

Encoding Tokenizer::encode(const Side& side, std::string_view text, const EncodeOptions& options) const {
  return encoding_of(side, text, side.coder->encode(after_code(text)), options);
}

std::vector<Encoding> Tokenizer::sample(const Side& side, std::string_view text,
                                        const SubwordSampling& sampling, Random& random) const {
  std::vector<Encoding> encodings;
  for (std::vector<CodedPiece>& pieces : side.coder->sample(after_code(text), sampling, random)) {
    encodings.push_back(encoding_of(side, text, std::move(pieces), {}));
  }
  return encodings;
}

Encoding Tokenizer::encode_source(std::string_view text, const EncodeOptions& options) const {
  return encode(source_, text, options);
}

Encoding Tokenizer::encode_target(std::string_view text, const EncodeOptions& options) const {
  return encode(target_, text, options);
}

std::vector<Encoding> Tokenizer::sample_source(std::string_view text, const SubwordSampling& sampling,
                                               Random& random) const {
  return sample(source_, text, sampling, random);
}

std::vector<Encoding> Tokenizer::sample_target(std::string_view text, const SubwordSampling& sampling,
                                               Random& random) const {
  return sample(target_, text, sampling, random);
}

std::vector<int32_t> Tokenizer::target_phrase(std::string_view text) const {
  std::vector<int32_t> ids = encode_target(text).ids;
  ids.resize(ids.size() - target_.after.size());
  ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(target_.before.size()));
  return ids;
}

std::string Tokenizer::decode(const Side& side, std::span<const int32_t> ids) {
  return std::string(strip(side.coder->decode(ids)));
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  return decode(target_, ids);
}
std::string Tokenizer::decode_source(std::span<const int32_t> ids) const {
  return decode(source_, ids);
}

}  // namespace heed
