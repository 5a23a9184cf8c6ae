// Heed's own routes for translation with every option, and for classification.
#include <nlohmann/json.hpp>

#include "base/thread_pool.h"
#include "models/head_names.h"
#include "serve/service.h"
#include "tasks/result_json.h"
#include "text/unicode/whitespace.h"

namespace heed::serve {
namespace {

using nlohmann::ordered_json;

constexpr std::initializer_list<search::OptionGroup> kGroups{
    search::OptionGroup::kSearch, search::OptionGroup::kOutput,   search::OptionGroup::kText,
    search::OptionGroup::kHeads,  search::OptionGroup::kSampling, search::OptionGroup::kConstraints};

ordered_json to_json(const TranslatedLines& lines, const TranslateOptions& options) {
  if (lines.lines.size() == 1) return tasks::to_json(lines.lines[0], options);
  ordered_json json{{"translation", lines.text(0)}, {"lines", ordered_json::array()}};
  json["warnings"] = ordered_json::array();
  for (const translate::Translation& line : lines.lines) {
    json["lines"].push_back(tasks::to_json(line, options));
    for (const std::string& warning : line.warnings) json["warnings"].push_back(warning);
  }
  return json;
}

void require_heads_of_one(const ChosenChain& chain) {
  if (chain.size() == 1 || chain.front().options.heads.empty()) return;
  refuse(400,
         "'ablate' names heads of one model, and this translation goes through {} models: name one of "
         "them in 'model'",
         chain.size());
}

/// The fields that say what translates.
ordered_json describe(const ChosenChain& chain) {
  const ServedModel &model = chain.front().model, &last = chain.back().model;
  const std::string source = chain.front().tokenizer.source_language(),
                    target = chain.back().tokenizer.target_language();
  ordered_json json{{"model", model.name}, {"pair", model.pair()}};
  if (chain.size() == 1) {
    if (model.pair().empty() && !source.empty() && !target.empty()) {
      json.update({{"source_language", source}, {"target_language", target}});
    }
    return json;
  }
  std::vector<std::string> names, through;
  for (const ChosenTranslation& step : chain) {
    if (!names.empty()) through.push_back(tag_of(step.model.sources, step.tokenizer.source_language()));
    names.push_back(step.model.name);
  }
  return {{"models", names},
          {"pair", tag_of(model.sources, source) + "-" + tag_of(last.targets, target)},
          {"through", through}};
}

}  // namespace

void route_v1_translate(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  require_known(fields, {"text", "format"}, kGroups);
  const Fields::Texts texts = required_texts(exchange, "text");
  ChosenChain chain = chain_for(exchange);
  chain.front().options.heads = head_scales_of(fields);
  require_heads_of_one(chain);
  const TranslateOptions options = translate_options(exchange, kGroups);
  const std::string format = fields.choice("format", {"text", "html", "markdown"});
  ordered_json list = ordered_json::array();
  if (format == "text") {
    for (const TranslatedLines& lines : translate_texts(exchange, chain, options, texts.texts)) {
      list.push_back(to_json(lines, options));
    }
  } else {
    const std::vector<translate::TranslatedDocument> documents =
        translate_documents(exchange, chain, options, texts.texts, format);
    for (size_t n = 0; n < documents.size(); ++n) {
      list.push_back({{"source", texts.texts[n]},
                      {"translation", documents[n].text},
                      {"warnings", documents[n].warnings}});
    }
  }
  ordered_json json = describe(chain);
  json["translations"] = std::move(list);
  send_json(exchange, json);
}

void route_v1_classify(const Exchange& exchange) {
  exchange.fields.require_known({"text", "model", "precision", "ablate", "api_key"});
  const Fields::Texts texts = required_texts(exchange, "text");
  const ServedModel& model = model_for(exchange, models::Task::kClassification);
  const nn::HeadScales heads = head_scales_of(exchange.fields);
  models::require_heads(model.loaded().classifier(), heads);
  nn::Context context = model.loaded().context();
  context.head_scales = &heads;
  std::vector<tasks::ClassifierText> inputs;
  for (const std::string& text : texts.texts) {
    if (!strip(text).empty()) inputs.push_back(tasks::classifier_text(text));
  }
  std::vector<tasks::Classification> results;
  compute(exchange, [&] {
    ThreadPool here(1);
    const tasks::TextClassifier classifier(model.loaded().classifier(), context, model.encoder->tokenizer,
                                           here);
    results = classifier.classify(inputs, exchange.stop());
    require_present(exchange);
  });
  const std::vector<std::string>& labels = model.loaded().classifier().labels();
  ordered_json list = ordered_json::array();
  auto next = results.begin();
  for (const std::string& text : texts.texts) {
    const tasks::Classification* result = strip(text).empty() ? nullptr : &*next++;
    list.push_back(tasks::to_json(tasks::classifier_text(text), labels, result));
  }
  send_json(exchange, {{"model", model.name}, {"results", list}});
}

}  // namespace heed::serve
