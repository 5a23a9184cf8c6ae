#include "browser/module/module.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "models/config/precision_names.h"
#include "models/directory/loaded_model.h"
#include "tasks/model_files.h"
#include "tasks/result_json.h"
#include "translate/translation_settings.h"

namespace heed::browser {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

TranslateOptions options_of(const json& request) {
  TranslateOptions options;
  if (request.contains("beam")) options.beam = request["beam"].get<int>();
  options.nbest = request.value("nbest", 1);
  if (request.contains("length_penalty")) options.length_penalty = request["length_penalty"].get<double>();
  options.alignment = request.value("alignment", false);
  return options;
}

}  // namespace

struct Module::Opened {
  tasks::TranslationModel model;
  translate::TranslatorOptions options;
};

Module::Module() = default;
Module::~Module() = default;

ordered_json Module::load(const json& request) {
  models::LoadOptions options;
  if (request.contains("precision")) {
    options.precision = models::precision_named(request["precision"].get<std::string>());
  }
  models::LoadedModel loaded = models::load_model(request.at("directory").get<std::string>(), options);
  tasks::TranslationModel model = tasks::translation_model(std::move(loaded));
  translate::TranslatorOptions settings = translate::default_translator_options(model.loaded);
  opened_ = std::make_unique<Opened>(Opened{std::move(model), std::move(settings)});
  return {{"precision", models::name_of(opened_->model.loaded.precision)},
          {"source_language", opened_->model.tokenizer.source_language()},
          {"target_language", opened_->model.tokenizer.target_language()}};
}

ordered_json Module::translate(const json& request) const {
  if (opened_ == nullptr) fail(ErrorKind::kUsage, "no model is loaded");
  const TranslateOptions choices = options_of(request);
  translate::TranslatorOptions options = opened_->options;
  translate::apply(choices, options);
  ThreadPool here(1);
  const translate::Translator translator(opened_->model.loaded, opened_->model.tokenizer, here, options);
  ordered_json found = ordered_json::object();
  translator.translate({request.at("text").get<std::string>()},
                       [&](const translate::Translation& translation) {
                         found = tasks::to_json(translation, choices.alignment);
                       },
                       {});
  return found;
}

std::string Module::answer(const std::string& text) {
  ordered_json answer = ordered_json::object();
  try {
    const json request = json::parse(text);
    const std::string method = request.at("method").get<std::string>();
    if (method == "load") {
      answer["result"] = load(request);
    } else if (method == "translate") {
      answer["result"] = translate(request);
    } else {
      fail(ErrorKind::kUsage, "there is no method '{}'; the methods are load and translate", method);
    }
  } catch (const std::exception& error) {
    answer = {{"error", error.what()}};
  }
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace heed::browser
