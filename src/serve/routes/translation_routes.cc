// Heed's own routes for translation with every option, and for classification.
#include <nlohmann/json.hpp>

#include "base/thread_pool.h"
#include "decode/result_json.h"
#include "inspect/trace/head_ablation.h"
#include "serve/service.h"
#include "text/whitespace.h"

namespace heed::serve {
namespace {

using nlohmann::ordered_json;

std::shared_ptr<const Glossary> glossary_of(const Exchange& exchange) {
  const nlohmann::json* terms = exchange.fields.find("glossary");
  if (terms == nullptr) return nullptr;
  if (!terms->is_object()) refuse(400, "'glossary' must be an object: {{\"source term\": \"target term\"}}");
  auto glossary = std::make_shared<Glossary>();
  for (const auto& [source, target] : terms->items()) {
    if (!target.is_string()) refuse(400, "'glossary': the target of '{}' must be a text", shown(source));
    glossary->add(source, target.get<std::string>());
  }
  return glossary;
}

decode::TranslationChoices translation_choices(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  decode::TranslationChoices choices;
  choices.search = search_choices(exchange);
  choices.nbest = static_cast<int>(fields.integer("nbest", 1, exchange.service.limits.beam).value_or(1));
  choices.sample = fields.flag("sample");
  choices.temperature = fields.number("temperature", 0, 1e6, true);
  if (const auto top_k = fields.integer("top_k", 0, INT32_MAX)) choices.top_k = static_cast<int>(*top_k);
  choices.top_p = fields.number("top_p", 0, 1, true);
  choices.seed = static_cast<uint64_t>(fields.integer("seed", 0, INT64_MAX).value_or(1));
  for (const char* name : {"temperature", "top_k", "top_p", "seed"}) {
    if (fields.has(name) && !choices.sample) refuse(400, "'{}' needs \"sample\": true", name);
  }
  choices.whole_lines = fields.find("split_sentences") != nullptr && !fields.flag("split_sentences");
  choices.no_placeholders = fields.find("placeholders") != nullptr && !fields.flag("placeholders");
  choices.constraints = constraints_of(exchange);
  choices.align = fields.flag("alignment");
  choices.glossary = glossary_of(exchange);
  return choices;
}

ordered_json to_json(const TranslatedLines& lines, bool alignment) {
  if (lines.lines.size() == 1) return decode::to_json(lines.lines[0], alignment);
  ordered_json json{{"translation", lines.text(0)}, {"lines", ordered_json::array()}};
  for (const decode::Translation& line : lines.lines)
    json["lines"].push_back(decode::to_json(line, alignment));
  return json;
}

}  // namespace

void route_v1_translate(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  fields.require_known(
      with_search_fields({"text", "model", "pair", "format", "nbest", "alignment", "glossary", "sample",
                          "temperature", "top_k", "top_p", "seed", "split_sentences", "placeholders"}));
  const Fields::Texts texts = required_texts(exchange, "text");
  const ChosenTranslation chosen = translation_for(exchange);
  const ServedModel& model = chosen.model;
  const decode::TranslationChoices choices = translation_choices(exchange);
  const std::string format = fields.choice("format", {"text", "html", "markdown"});
  ordered_json list = ordered_json::array();
  if (format == "text") {
    for (const TranslatedLines& lines : translate_texts(exchange, chosen, choices, texts.texts)) {
      list.push_back(to_json(lines, choices.align));
    }
  } else {
    for (const char* name : {"nbest", "alignment", "prefix", "require", "sample", "placeholders"}) {
      if (fields.has(name)) refuse(400, "'{}' is for the format text: {} gives a document", name, format);
    }
    const std::vector<std::string> translations =
        translate_documents(exchange, chosen, choices, texts.texts, format);
    for (size_t n = 0; n < translations.size(); ++n) {
      list.push_back({{"source", texts.texts[n]}, {"translation", translations[n]}});
    }
  }
  ordered_json json{{"model", model.name}, {"pair", model.pair()}};
  const std::string source = chosen.tokenizer.source_language(), target = chosen.tokenizer.target_language();
  if (model.pair().empty() && !source.empty() && !target.empty()) {
    json.update({{"source_language", source}, {"target_language", target}});
  }
  json["translations"] = std::move(list);
  send_json(exchange, json);
}

void route_v1_classify(const Exchange& exchange) {
  exchange.fields.require_known({"text", "model", "precision", "ablate", "api_key"});
  const Fields::Texts texts = required_texts(exchange, "text");
  const ServedModel& model = model_for(exchange, models::Task::kClassification);
  const nn::HeadScales heads = head_scales_of(exchange.fields);
  require_heads(model.loaded().classifier(), heads);
  nn::Context context = model.loaded().context();
  context.head_scales = &heads;
  std::vector<decode::ClassifierText> inputs;
  for (const std::string& text : texts.texts) {
    if (!strip(text).empty()) inputs.push_back(decode::classifier_text(text));
  }
  std::vector<decode::Classification> results;
  compute(exchange, [&] {
    ThreadPool here(1);
    const decode::TextClassifier classifier(model.loaded().classifier(), context, model.encoder->tokenizer,
                                            here);
    results = classifier.classify(inputs, exchange.request.gone.get());
    require_present(exchange);
  });
  const std::vector<std::string>& labels = model.loaded().classifier().labels();
  ordered_json list = ordered_json::array();
  auto next = results.begin();
  for (const std::string& text : texts.texts) {
    const decode::Classification* result = strip(text).empty() ? nullptr : &*next++;
    list.push_back(decode::to_json(decode::classifier_text(text), labels, result));
  }
  send_json(exchange, {{"model", model.name}, {"results", list}});
}

}  // namespace heed::serve
