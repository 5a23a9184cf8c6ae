#include "serve/served_models.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>

#include "base/check.h"
#include "base/files/directory_listing.h"
#include "base/text/ascii.h"
#include "base/text/utf8_length.h"
#include "tasks/text_embedder.h"
#include "text/sentences/language_codes.h"
#include "text/sentences/language_id.h"
#include "text/tokenizers/numbered_pieces.h"

namespace heed::serve {
namespace {

bool is_code(std::string_view text) {
  return (text.size() == 2 || text.size() == 3) && std::ranges::all_of(text, is_ascii_lower);
}

/// "opus-mt-de-en" -> {"de", "en"}, for models without language codes in their files; empty for what is none.
LanguagePair languages_of_name(const std::string& name) {
  const size_t last = name.rfind('-');
  if (last == std::string::npos || last == 0) return {};
  const size_t before = name.rfind('-', last - 1), begin = before == std::string::npos ? 0 : before + 1;
  const std::string source = name.substr(begin, last - begin), target = name.substr(last + 1);
  return {is_code(source) ? source : "", is_code(target) ? target : ""};
}

/// A language has its code as its tag where several have the same tag.
std::vector<ServedLanguage> tagged(const std::vector<std::string>& codes) {
  std::map<std::string, int> counts;
  for (const std::string& code : codes) ++counts[language_tag(code)];
  std::vector<ServedLanguage> languages;
  for (const std::string& code : codes) {
    const std::string tag = language_tag(code);
    languages.push_back({counts[tag] > 1 ? code : tag, code});
  }
  return languages;
}

/// Languages of Marian's codes in a vocabulary: "fra" of ">>fra<<".
std::vector<std::string> marian_languages(const Vocabulary& vocabulary) {
  std::vector<std::string> languages;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.piece(static_cast<int32_t>(id));
    if (is_marian_language_code(piece)) languages.emplace_back(language_of_marian_code(piece));
  }
  return languages;
}

void set_languages(ServedModel& model) {
  const TranslationTokenizer& tokenizer = model.translation->tokenizer;
  const std::vector<std::string> family = tokenizer.languages();
  if (!family.empty()) {
    model.sources = model.targets = tagged(family);
    if (tokenizer.target_begins_with_language()) return;
    // The decoder starts from the target language.
    const int32_t start = model.loaded().seq2seq().start_id();
    std::erase_if(model.targets,
                  [&](const ServedLanguage& each) { return !tokenizer.is_language(each.code, start); });
    return;
  }
  const std::vector<std::string> codes = marian_languages(tokenizer.source_vocabulary());
  LanguagePair pair{tokenizer.source_language(), tokenizer.target_language()};
  for (const std::string& name : {model.name, name_of_directory(model.directory)}) {
    if (pair.source.empty() || (pair.target.empty() && codes.empty())) pair = languages_of_name(name);
  }
  if (!codes.empty()) {
    if (!pair.source.empty()) model.sources = tagged({pair.source});
    model.targets = tagged(codes);
  } else if (!pair.source.empty() && !pair.target.empty()) {
    model.sources = tagged({pair.source});
    model.targets = tagged({pair.target});
  }
}

/// Names, sizes and times of a model's files, which differ once one is replaced.
std::string stamps_of(const std::string& directory) {
  std::string stamps;
  std::error_code missing;
  for (const std::string& name : names_in(directory, missing)) {
    const auto path = std::filesystem::path(directory) / name;
    const auto size = std::filesystem::file_size(path, missing);
    const auto time =
        static_cast<int64_t>(std::filesystem::last_write_time(path, missing).time_since_epoch().count());
    stamps += fmt::format("{}/{}/{}/", name, size, time);
  }
  return stamps;
}

std::unique_ptr<ServedModel> load(const ModelSource& from, const models::LoadOptions& options) {
  auto model = std::make_unique<ServedModel>();
  model->name = from.name;
  model->directory = from.files.directory();
  model->stamps = stamps_of(model->directory);
  model->bundled = from.bundled;
  model->load = options;
  model->in_all_precisions = from.in_all_precisions;
  model->loaded_at = std::time(nullptr);
  models::LoadedModel loaded = models::load_model(models::ModelDirectory::open(from.files), options);
  model->task = loaded.model->task();
  switch (model->task) {
    case models::Task::kTranslation: {
      model->translation =
          std::make_unique<tasks::TranslationModel>(tasks::translation_model(std::move(loaded)));
      set_languages(*model);
      model->translator_options = translate::default_translator_options(model->translation->loaded);
      model->translator_options.search.piece_starts = std::make_shared<const std::vector<search::PieceStart>>(
          search::piece_starts(model->translation->tokenizer.vocabulary()));
      return model;
    }
    case models::Task::kLanguageModel:
      model->language_model =
          std::make_unique<tasks::LanguageModelFiles>(tasks::with_tokenizer(std::move(loaded)));
      return model;
    case models::Task::kClassification:
      model->encoder = std::make_unique<tasks::EncoderModel>(tasks::classifier_model(std::move(loaded)));
      return model;
    case models::Task::kMaskedLanguageModel:
    case models::Task::kEmbedding:
      model->encoder = std::make_unique<tasks::EncoderModel>(tasks::encoder_model(std::move(loaded)));
      tasks::embedding_settings(model->encoder->loaded, {});  // throws for what is not supported
      return model;
  }
  HEED_CHECK(false);
}

}  // namespace

std::string name_of_directory(const std::string& path) {
  std::filesystem::path directory = std::filesystem::path(path).lexically_normal();
  if (!directory.has_filename()) directory = directory.parent_path();
  if (directory.filename() == "." || directory.filename() == "..") {
    directory = std::filesystem::canonical(directory);
  }
  return directory.filename().string();
}

const models::LoadedModel& ServedModel::loaded() const {
  if (translation) return translation->loaded;
  return language_model ? language_model->loaded : encoder->loaded;
}

std::string ServedModel::pair() const {
  return sources.size() == 1 && targets.size() == 1 ? sources[0].tag + "-" + targets[0].tag : "";
}

const ServedLanguage* find_language(const std::vector<ServedLanguage>& languages, const std::string& name) {
  const auto find = [&](const auto& is_it) -> const ServedLanguage* {
    const auto found = std::ranges::find_if(languages, is_it);
    return found == languages.end() ? nullptr : &*found;
  };
  if (const auto* exact = find([&](const auto& each) { return each.tag == name || each.code == name; })) {
    return exact;
  }
  const std::string tag = language_tag(name);
  return find([&](const auto& each) { return each.tag == tag; });
}

std::string tag_of(const std::vector<ServedLanguage>& languages, const std::string& code) {
  if (languages.size() == 1) return languages[0].tag;
  const ServedLanguage* language = find_language(languages, code);
  return language == nullptr ? code : language->tag;
}

std::optional<LanguagePair> ServedModel::languages(const std::string& source_language,
                                                   const std::string& target_language) const {
  const ServedLanguage *source = find_language(sources, source_language),
                       *target = find_language(targets, target_language);
  if (source == nullptr || target == nullptr || source->code == target->code) return {};
  return LanguagePair{source->code, target->code};
}

std::optional<LanguagePair> ServedModel::languages(const std::string& pair) const {
  for (size_t dash = pair.find('-'); dash != std::string::npos; dash = pair.find('-', dash + 1)) {
    if (auto found = languages(pair.substr(0, dash), pair.substr(dash + 1))) return found;
  }
  return {};
}

ServedModels::ServedModels(const std::vector<ModelSource>& sources, const models::LoadOptions& options) {
  for (const ModelSource& source : sources) add(source, options);
}

const ServedModel& ServedModels::add(const ModelSource& source, const models::LoadOptions& options) {
  if (!is_utf8(source.name)) {
    fail(ErrorKind::kUsage,
         "the name of model '{}' is not valid UTF-8: give it another one (--model NAME=DIR)",
         source.files.directory());
  }
  if (named(source.name) != nullptr) {
    fail(ErrorKind::kUsage, "two models are called '{}': name one of them differently (--model NAME=DIR)",
         source.name);
  }
  models_.push_back(load(source, options));
  list_languages();
  return *models_.back();
}

void ServedModels::list_languages() {
  languages_.clear();
  chains_.clear();
  std::vector<translate::LanguageStep> steps;
  std::set<std::string> languages;
  for (size_t n = 0; n < models_.size(); ++n) {
    for (const ServedLanguage& target : models_[n]->targets) {
      languages.insert(target.tag);
      for (const ServedLanguage& source : models_[n]->sources) {
        languages.insert(source.tag);
        if (source.code != target.code) steps.push_back({source.tag, target.tag, n});
      }
    }
  }
  steps_ = translate::LanguageSteps(std::move(steps));
  for (const std::string& code : languages) {
    languages_.push_back({code, language_name(code), steps_.targets(code)});
    for (const std::string& target : languages_.back().targets) {
      Chain chain{code, target, {}};
      for (const translate::LanguageStep& step : steps_.between(code, target)) {
        if (step.source != code) chain.through.push_back(step.source);
      }
      if (!chain.through.empty()) chains_.push_back(std::move(chain));
    }
  }
}

std::vector<std::string> ServedModels::precisions(const ServedModel& model) const {
  std::vector<std::string> found{model.precision()};
  if (model.load.precision && !model.in_all_precisions) return found;
  for (const std::string& name : models::precision_names()) {
    const models::Precision precision = *models::precision_named(name);
    if (name != found[0] && models::runs_here(precision) &&
        models::can_be_used_in(precision, model.loaded().stored_bits)) {
      found.push_back(name);
    }
  }
  return found;
}

const ServedModel& ServedModels::in_precision(const ServedModel& model, const std::string& precision) const {
  if (precision == model.precision()) return model;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<ServedModel>& other = in_other_precision_[{&model, precision}];
  if (other == nullptr) {
    if (stamps_of(model.directory) != model.stamps) {
      fail(ErrorKind::kFile,
           "the files of the model '{}' have changed since it was read in {}: start the server again",
           model.name, model.precision());
    }
    models::LoadOptions options = model.load;
    options.precision = models::precision_named(precision);
    other = load({model.name, ModelInventory(model.directory), model.bundled}, options);
  }
  return *other;
}

const ServedModel* ServedModels::named(const std::string& name) const {
  for (const auto& model : models_) {
    if (model->name == name) return model.get();
  }
  return nullptr;
}

const ServedModel* ServedModels::between(const std::string& source, const std::string& target) const {
  for (const auto& model : models_) {
    if (model->languages(source, target)) return model.get();
  }
  return nullptr;
}

const ServedModel* ServedModels::for_pair(const std::string& pair) const {
  for (const auto& model : models_) {
    if (model->languages(pair)) return model.get();
  }
  return nullptr;
}

std::vector<ServedStep> ServedModels::chain(const std::string& source, const std::string& target) const {
  if (between(source, target) != nullptr) return {};
  std::string from, to;
  for (const auto& model : models_) {
    const ServedLanguage *reads = find_language(model->sources, source),
                         *writes = find_language(model->targets, target);
    if (reads != nullptr && from.empty()) from = reads->tag;
    if (writes != nullptr && to.empty()) to = writes->tag;
  }
  std::vector<ServedStep> chain;
  if (from.empty() || to.empty()) return chain;
  for (const translate::LanguageStep& step : steps_.between(from, to)) {
    const ServedModel& model = *models_[step.model];
    chain.push_back({&model, *model.languages(step.source, step.target)});
  }
  return chain;
}

std::vector<ServedStep> ServedModels::chain(const std::string& pair) const {
  for (size_t dash = pair.find('-'); dash != std::string::npos; dash = pair.find('-', dash + 1)) {
    std::vector<ServedStep> found = chain(pair.substr(0, dash), pair.substr(dash + 1));
    if (!found.empty()) return found;
  }
  return {};
}

const ServedModel* ServedModels::first(models::Task task) const {
  for (const auto& model : models_) {
    if (model->task == task) return model.get();
  }
  for (const auto& model : models_) {
    if (can_do(*model, task)) return model.get();
  }
  return nullptr;
}

bool ServedModels::has_language(const std::string& name) const {
  return std::ranges::any_of(models_, [&](const auto& model) {
    return find_language(model->sources, name) != nullptr || find_language(model->targets, name) != nullptr;
  });
}

std::vector<std::string> ServedModels::sources(const std::string& target) const {
  std::set<std::string> tags;
  for (const auto& model : models_) {
    for (const ServedLanguage& source : model->sources) {
      const bool suits =
          target.empty() || model->languages(source.code, target) || !chain(source.code, target).empty();
      if (suits) tags.insert(source.tag);
    }
  }
  return {tags.begin(), tags.end()};
}

}  // namespace heed::serve
