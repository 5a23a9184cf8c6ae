#include "text/tokenizers/translation_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/check.h"
#include "base/files/file.h"
#include "base/text/nearest_word.h"
#include "base/text/option_error.h"
#include "base/text/printable.h"
#include "base/text/string_list.h"
#include "text/readers/ctranslate2_vocabulary.h"
#include "text/readers/tokenizer_file.h"
#include "text/sentences/language_codes.h"
#include "text/tokenizers/config/added_tokens.h"
#include "text/tokenizers/config/translation_tokenizer_config.h"
#include "text/tokenizers/family_tokenizers.h"
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

/// The first of these in alphabetical order, and how many there are besides.
std::string first_of(std::vector<std::string> names) {
  constexpr size_t kShown = 12;
  std::ranges::sort(names);
  const size_t more = names.size() - std::min(names.size(), kShown);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, " "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// A model of Marian's with the end token after a text.
struct MarianModel {
  MarianModel(std::string bytes, std::string path)
      : content(std::move(bytes)),
        name(std::move(path)),
        file(std::make_shared<const SentencePieceFile>(
            read_sentencepiece_file(std::string_view(content), std::string_view(name)))) {}
  ModelTokenizer tokenizer(const std::shared_ptr<const Vocabulary>& vocabulary) const {
    return numbered_tokenizer(*file, name, vocabulary).with_frame({}, {vocabulary->end_id()});
  }

  std::string content, name;
  std::shared_ptr<const SentencePieceFile> file;
};

MarianModel read_marian_model(const ModelInventory& files, const char* name) {
  return {read_tokenizer_file(files.path(name)), files.path(name)};
}
/// The same, for a file that is often equal to that of `other`, and then not parsed again.
MarianModel read_marian_model(const ModelInventory& files, const char* name, const MarianModel& other) {
  std::string bytes = read_tokenizer_file(files.path(name));
  return bytes == other.content ? other : MarianModel(std::move(bytes), files.path(name));
}

}  // namespace

TranslationTokenizer::TranslationTokenizer(ModelTokenizer source, ModelTokenizer target, std::string config,
                                           MarianFiles files)
    : source_(std::move(source)),
      target_(std::move(target)),
      config_(std::move(config)),
      files_(std::make_shared<const MarianFiles>(std::move(files))) {
  TokenizerConfig settings = read_tokenizer_config(config_, kConfig);
  source_language_ = std::move(settings.source_language);
  target_language_ = std::move(settings.target_language);
  true_case_capitals_ = settings.true_case_capitals;
  const Vocabulary& vocabulary = source_vocabulary();
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.piece(static_cast<int32_t>(id));
    if (is_marian_language_code(piece)) language_codes_.push_back(piece);
  }
}

TranslationTokenizer::TranslationTokenizer(FamilyTokenizer family)
    : source_(family.tokenizer.with_frame(family.source.before, family.source.after)),
      target_(family.tokenizer.with_frame(family.target.before, family.target.after)),
      config_(family.config) {
  source_language_ = family.source_language;
  target_language_ = family.target_language;
  true_case_capitals_ = family.true_case_capitals;
  family_ = std::make_shared<const FamilyTokenizer>(std::move(family));
}

TranslationTokenizer TranslationTokenizer::load(const ModelInventory& files) {
  const std::string config = read_tokenizer_config_file(files);
  if (has_family_tokenizer(files)) return TranslationTokenizer(load_family_tokenizer(files, config));
  const TokenizerConfig settings = read_tokenizer_config(config, files.path(kConfig));
  if (!files.has(kVocabulary) && files.has(model_file::kCtranslate2)) {
    return load_ctranslate2(files, settings.special, config);
  }
  const auto read_vocabulary = [&](const char* file) {
    return std::make_shared<const Vocabulary>(Vocabulary::load(files.path(file), settings.special));
  };
  MarianModel source = read_marian_model(files, kSourceModel);
  const auto vocabulary = read_vocabulary(kVocabulary);
  require_no_other_ids(files, *vocabulary);
  MarianModel target = read_marian_model(files, kTargetModel, source);
  const ModelTokenizer of_source = source.tokenizer(vocabulary);
  const auto of_target = [&] {
    if (settings.separate_vocabularies) return target.tokenizer(read_vocabulary(kTargetVocabulary));
    return target.file == source.file ? of_source : target.tokenizer(vocabulary);
  };
  return {of_source, of_target(), config, {std::move(source.content), std::move(target.content)}};
}

TranslationTokenizer TranslationTokenizer::load_ctranslate2(const ModelInventory& files,
                                                            const SpecialPieces& special,
                                                            const std::string& config) {
  if (!files.has(kSourceModel)) {
    fail(ErrorKind::kNotFound,
         "'{}' has no tokenizer, which models of CTranslate2 do not contain: copy {} and {} of the original "
         "model into it, or, if it is not a Marian model, its tokenizer.json or sentencepiece.bpe.model",
         files.directory(), kSourceModel, kTargetModel);
  }
  const auto read_list = [&](const char* name) {
    return std::make_shared<const Vocabulary>(read_ctranslate2_vocabulary(files, name, special.pad), special);
  };
  const bool joint = has_string_list(files, kSharedVocabulary);
  const MarianModel source = read_marian_model(files, kSourceModel),
                    target = read_marian_model(files, kTargetModel, source);
  const auto vocabulary = read_list(joint ? kSharedVocabulary : "source_vocabulary");
  require_no_other_ids(files, *vocabulary);
  return {source.tokenizer(vocabulary),
          target.tokenizer(joint ? vocabulary : read_list("target_vocabulary")),
          joint ? config : with_separate_vocabularies(config, files.path(kConfig)),
          {source.content, target.content}};
}

void TranslationTokenizer::save(const std::string& directory) const {
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
  write_file(path_of(directory, kVocabulary), source_vocabulary().to_json());
  if (has_two_vocabularies()) write_file(path_of(directory, kTargetVocabulary), vocabulary().to_json());
  write_file(path_of(directory, kConfig), config_);
}

TranslationTokenizer TranslationTokenizer::train(const TokenizerTrainOptions& options, const NextLine& source,
                                                 const NextLine& target) {
  const auto train_one = [](const SentencePieceTrainOptions& settings, const NextLine& lines) {
    return MarianModel(train_sentencepiece(settings, lines), "of the trained pieces");
  };
  const NextLine both = [&](std::string& line) { return source(line) || target(line); };
  const MarianModel source_model = train_one(options.source, options.joint ? both : source);
  const MarianModel target_model = options.joint ? source_model : train_one(options.target, target);

  const TokenizerConfig config{{}, options.source_language, options.target_language};
  std::vector<std::string> pieces{config.special.end, config.special.unknown};
  std::unordered_set<std::string> taken{config.special.end, config.special.unknown, config.special.pad};
  for (const SentencePieceFile* file : {source_model.file.get(), target_model.file.get()}) {
    for (int32_t n = 0; n < file->size(); ++n) {
      const std::string& piece = (*file)[n].text;
      if (!file->is_special(n) && taken.insert(piece).second) pieces.push_back(piece);
    }
  }
  pieces.push_back(config.special.pad);
  const auto vocabulary = std::make_shared<const Vocabulary>(std::move(pieces), config.special);
  std::string config_json = write_tokenizer_config(config, *vocabulary, options.max_length);
  return {source_model.tokenizer(vocabulary),
          target_model.tokenizer(vocabulary),
          std::move(config_json),
          {source_model.content, target_model.content}};
}

std::string_view TranslationTokenizer::code_of(std::string_view text) const {
  if (family_ == nullptr && !source_.pipeline().before().empty()) return {};  // the language is chosen
  const std::string_view code = leading_marian_code(text);
  // With several codes, any is one token: the model has learnt that languages stand there.
  const bool is_token = language_codes_.size() > 1 || source_vocabulary().find(code).has_value();
  return is_token ? code : std::string_view{};
}

std::vector<std::string> TranslationTokenizer::languages() const {
  std::vector<std::string> names;
  if (family_ == nullptr) return names;
  for (const auto& [name, id] : family_->languages) names.push_back(name);
  return names;
}

bool TranslationTokenizer::chooses_source_language() const {
  return family_ != nullptr && !family_->languages.empty();
}

bool TranslationTokenizer::chooses_target_language() const {
  return !language_codes_.empty() || target_begins_with_language();
}

bool TranslationTokenizer::target_begins_with_language() const {
  return family_ != nullptr && family_->target_begins_with_language;
}

bool TranslationTokenizer::is_language(const std::string& language, int32_t id) const {
  return family_ != nullptr && std::ranges::count(family_->languages, std::pair(language, id)) > 0;
}

TranslationTokenizer TranslationTokenizer::with_languages(const std::string& source,
                                                          const std::string& target) const {
  if (source.empty() && target.empty()) return *this;
  if (!language_codes_.empty() && source.empty()) {
    std::vector<std::string> names;
    for (const std::string& each : language_codes_) names.emplace_back(language_of_marian_code(each));
    const std::string language = code_of_language(names, target);
    if (language.empty()) {
      fail(ErrorKind::kUsage, "the model has no language '{}'{}; its languages are {}", shown(target, 40),
           did_you_mean(target, names), first_of(names));
    }
    TranslationTokenizer chosen = *this;
    chosen.source_ =
        source_.with_frame({source_vocabulary().id(">>" + language + "<<")}, source_.pipeline().after());
    chosen.target_language_ = language;
    return chosen;
  }
  if (family_ == nullptr || family_->languages.empty()) {
    fail(ErrorKind::kUsage, "this model has no language tokens to choose: leave out the source {}language",
         language_codes_.empty() ? "and target " : "");
  }
  FamilyTokenizer chosen = *family_;
  chosen.choose_languages(source, target);
  return TranslationTokenizer(std::move(chosen));
}

std::optional<int32_t> TranslationTokenizer::first_target_id() const {
  const std::vector<int32_t> before = target_.pipeline().before();
  return before.empty() ? std::nullopt : std::optional(before.front());
}

void TranslationTokenizer::require_language_code(std::string_view text) const {
  if (family_ != nullptr) return family_->require_target();
  const std::string_view code = leading_marian_code(text);
  const bool chosen = !source_.pipeline().before().empty();
  if (language_codes_.size() < 2 || chosen || strip(text).empty() || source_vocabulary().find(code)) return;
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

Encoding TranslationTokenizer::encoding_of(const ModelTokenizer& side, std::string_view text, Encoding tokens,
                                           const EncodeOptions& options) const {
  const std::string_view code = code_of(text);
  if (!code.empty()) {
    for (auto& [begin, end] : tokens.spans) begin += code.size(), end += code.size();
    tokens.ids.insert(tokens.ids.begin(), side.vocabulary().id(code));
    tokens.pieces.insert(tokens.pieces.begin(), std::string(code));
    tokens.spans.insert(tokens.spans.begin(), {0, code.size()});
  }
  Encoding all = side.pipeline().finish({std::move(tokens), text.size()}, std::nullopt, /*specials=*/true);
  if (options.max_length == 0 || all.size() <= options.max_length) return all;
  // The tokens after a text stay, whatever else has no room.
  const size_t last = side.pipeline().after().size();
  const size_t kept = options.max_length - std::min(options.max_length, last);
  const auto shorten = [&](auto& each) {
    each.erase(each.begin() + static_cast<ptrdiff_t>(kept), each.end() - static_cast<ptrdiff_t>(last));
  };
  shorten(all.ids);
  shorten(all.pieces);
  shorten(all.spans);
  shorten(all.types);
  shorten(all.sources);
  all.truncated = true;
  return all;
}

Encoding TranslationTokenizer::encode(const ModelTokenizer& side, std::string_view text,
                                      const EncodeOptions& options) const {
  return encoding_of(side, text, side.tokens(after_code(text), {.shared_spans = options.shared_spans}),
                     options);
}

std::vector<Encoding> TranslationTokenizer::sample(const ModelTokenizer& side, std::string_view text,
                                                   const SubwordSampling& sampling, Random& random) const {
  std::vector<Encoding> encodings;
  for (Encoding& tokens : side.sample(after_code(text), sampling, random)) {
    encodings.push_back(encoding_of(side, text, std::move(tokens), {}));
  }
  return encodings;
}

Encoding TranslationTokenizer::encode_source(std::string_view text, const EncodeOptions& options) const {
  return encode(source_, text, options);
}

Encoding TranslationTokenizer::encode_target(std::string_view text, const EncodeOptions& options) const {
  return encode(target_, text, options);
}

std::vector<Encoding> TranslationTokenizer::sample_source(std::string_view text,
                                                          const SubwordSampling& sampling,
                                                          Random& random) const {
  return sample(source_, text, sampling, random);
}

std::vector<Encoding> TranslationTokenizer::sample_target(std::string_view text,
                                                          const SubwordSampling& sampling,
                                                          Random& random) const {
  return sample(target_, text, sampling, random);
}

std::vector<int32_t> TranslationTokenizer::target_phrase(std::string_view text) const {
  const Encoding encoding = encode_target(text);
  std::vector<int32_t> ids;
  for (size_t n = 0; n < encoding.size(); ++n) {
    if (encoding.sources[n] >= 0) ids.push_back(encoding.ids[n]);
  }
  return ids;
}

std::string TranslationTokenizer::decode(const ModelTokenizer& side, std::span<const int32_t> ids) {
  std::vector<int32_t> text;
  text.reserve(ids.size());
  for (const int32_t id : ids) {
    side.vocabulary().piece(id);  // throws for an invalid id
    if (!side.vocabulary().is_special(id)) text.push_back(id);
  }
  return std::string(strip(side.pipeline().decode(text)));
}

std::string TranslationTokenizer::decode(std::span<const int32_t> ids) const {
  return decode(target_, ids);
}
std::string TranslationTokenizer::decode_source(std::span<const int32_t> ids) const {
  return decode(source_, ids);
}

}  // namespace heed
