#include "serve/served_models.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "base/check.h"
#include "text/language_id.h"
#include "text/utf8.h"

namespace heed::serve {
namespace {

bool is_code(std::string_view text) {
  return (text.size() == 2 || text.size() == 3) &&
         std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

/// "opus-mt-de-en" -> {"de", "en"}, for models without language codes in their files.
void languages_of_name(ServedModel& model) {
  const size_t last = model.name.rfind('-');
  if (last == std::string::npos || last == 0) return;
  const size_t before = model.name.rfind('-', last - 1);
  const std::string source = model.name.substr(before == std::string::npos ? 0 : before + 1,
                                               last - (before == std::string::npos ? 0 : before + 1));
  const std::string target = model.name.substr(last + 1);
  if (!is_code(source) || !is_code(target)) return;
  model.source = source;
  model.target = target;
}

/// Whether a model was trained on text in lower case: some pieces have small letters, none has capitals.
bool knows_no_capitals(const Vocabulary& vocabulary) {
  bool small = false;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.piece(static_cast<int32_t>(id));
    if (vocabulary.is_special(static_cast<int32_t>(id)) || piece.starts_with("<0x")) continue;
    for (size_t at = 0; at < piece.size();) {
      const auto c = static_cast<UChar32>(next_code_point(piece, at));
      if (u_isupper(c)) return false;
      small = small || u_islower(c);
    }
  }
  return small;
}

std::unique_ptr<ServedModel> load(const ModelSource& from, const models::LoadOptions& options) {
  auto model = std::make_unique<ServedModel>();
  model->name = from.name;
  model->directory = from.directory;
  model->load = options;
  model->loaded_at = std::time(nullptr);
  models::LoadedModel loaded = models::load_model(from.directory, options);
  model->task = loaded.model->task();
  switch (model->task) {
    case models::Task::kTranslation: {
      model->translation =
          std::make_unique<decode::TranslationModel>(decode::translation_model(std::move(loaded)));
      const Tokenizer& tokenizer = model->translation->tokenizer;
      model->source = tokenizer.source_language();
      model->target = tokenizer.target_language();
      if (model->source.empty() || model->target.empty()) languages_of_name(*model);
      model->lowercase = knows_no_capitals(tokenizer.vocabulary());
      model->translator_options = decode::default_translator_options(model->translation->loaded);
      model->translator_options.search.piece_starts = std::make_shared<const std::vector<decode::PieceStart>>(
          decode::piece_starts(tokenizer.vocabulary()));
      return model;
    }
    case models::Task::kLanguageModel:
      model->language_model =
          std::make_unique<decode::LanguageModelFiles>(decode::with_tokenizer(std::move(loaded)));
      return model;
    case models::Task::kClassification:
      model->classifier = std::make_unique<decode::EncoderModel>(decode::classifier_model(std::move(loaded)));
      return model;
    default:
      fail(
          ErrorKind::kUsage,
          "'{}' holds a model that the server has no route for: it serves models that translate, continue or "
          "classify text",
          from.directory);
  }
}

}  // namespace

const models::LoadedModel& ServedModel::loaded() const {
  if (translation) return translation->loaded;
  return language_model ? language_model->loaded : classifier->loaded;
}

ServedModels::ServedModels(const std::vector<ModelSource>& sources, const models::LoadOptions& options) {
  for (const ModelSource& source : sources) {
    if (named(source.name) != nullptr) {
      fail(ErrorKind::kUsage, "two models are called '{}': give each --model directory a name of its own",
           source.name);
    }
    models_.push_back(load(source, options));
  }
}

std::vector<std::string> ServedModels::precisions(const ServedModel& model) const {
  std::vector<std::string> found{model.precision()};
  if (!model.load.precision) found.emplace_back(found[0] == "int8" ? "float32" : "int8");
  return found;
}

const ServedModel& ServedModels::in_precision(const ServedModel& model, const std::string& precision) const {
  if (precision == model.precision()) return model;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<ServedModel>& other = in_other_precision_[&model];
  if (other == nullptr) {
    models::LoadOptions options = model.load;
    options.precision = precision == "int8" ? models::Precision::kInt8 : models::Precision::kFloat32;
    other = load({model.name, model.directory}, options);
  }
  return *other;
}

const ServedModel* ServedModels::named(const std::string& name) const {
  for (const auto& model : models_) {
    if (model->name == name) return model.get();
  }
  return nullptr;
}

const ServedModel* ServedModels::for_pair(const std::string& source, const std::string& target) const {
  for (const auto& model : models_) {
    if (model->task == models::Task::kTranslation && model->source == source && model->target == target) {
      return model.get();
    }
  }
  return nullptr;
}

const ServedModel* ServedModels::first(models::Task task) const {
  for (const auto& model : models_) {
    if (model->task == task) return model.get();
  }
  return nullptr;
}

std::vector<ServedModels::Language> ServedModels::languages() const {
  std::map<std::string, std::set<std::string>> targets;
  for (const auto& model : models_) {
    if (model->source.empty()) continue;
    targets[model->source].insert(model->target);
    targets[model->target];
  }
  std::vector<Language> languages;
  for (const auto& [code, reached] : targets) {
    languages.push_back({code, language_name(code), {reached.begin(), reached.end()}});
  }
  return languages;
}

std::vector<std::string> ServedModels::sources(const std::string& target) const {
  std::set<std::string> codes;
  for (const auto& model : models_) {
    if (!model->source.empty() && (target.empty() || model->target == target)) codes.insert(model->source);
  }
  return {codes.begin(), codes.end()};
}

}  // namespace heed::serve
