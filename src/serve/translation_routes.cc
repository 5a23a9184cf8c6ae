// Heed's own routes: translation with every option, attention, the search tree, classification.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/thread_pool.h"
#include "decode/result_json.h"
#include "inspect/classifier_trace.h"
#include "inspect/head_ablation.h"
#include "inspect/text_trace.h"
#include "inspect/trace_json.h"
#include "inspect/trace_pack.h"
#include "inspect/translation_trace.h"
#include "inspect/words.h"
#include "serve/service.h"
#include "text/whitespace.h"

namespace heed::serve {
namespace {

using nlohmann::ordered_json;

const std::vector<std::string> kSearchFields{"beam", "length_penalty", "max_length", "no_repeat_ngram"};

decode::SearchChoices search_choices(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  decode::SearchChoices choices;
  const auto small = [&](const char* name, int64_t least, int64_t most) -> std::optional<int> {
    const auto value = fields.integer(name, least, most);
    if (!value) return {};
    return static_cast<int>(*value);
  };
  choices.beam = small("beam", 1, exchange.service.limits.beam);
  choices.no_repeat_ngram = small("no_repeat_ngram", 0, 1000);
  choices.length_penalty = fields.number("length_penalty", -100, 100);
  choices.max_length = fields.integer("max_length", 2, 1 << 20);
  return choices;
}

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
  choices.prefix = fields.text_or("prefix", "");
  require_length(exchange.service.limits, choices.prefix, "prefix");
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

std::string required_sentence(const Exchange& exchange) {
  const std::string text = exchange.fields.text_or("text", "");
  if (strip(text).empty()) refuse(400, "'text' is missing or empty: there is nothing to look at");
  require_length(exchange.service.limits, text, "text");
  return text;
}

/// A list of {"stack", "layer", "head"}, counted from 1, optionally with a `scale` other than 0.
nn::HeadScales head_scales_of(const Fields& fields) {
  const nlohmann::json* list = fields.find("ablate");
  if (list == nullptr) return {};
  constexpr const char* kForm =
      "'ablate' must be a list of {{\"stack\": \"cross\", \"layer\": 3, \"head\": 5}}";
  if (!list->is_array() || list->size() > 10000) refuse(400, kForm);
  std::vector<nn::HeadScale> scales;
  for (const nlohmann::json& each : *list) {
    const auto number = [&](const char* name) -> std::string {
      if (!each.contains(name)) return "all";
      if (!each[name].is_number_integer()) refuse(400, "'ablate': '{}' must be an integer", name);
      return each[name].dump();
    };
    if (!each.is_object() || !each.contains("stack") || !each["stack"].is_string()) refuse(400, kForm);
    for (const auto& [name, value] : each.items()) {
      if (name != "stack" && name != "layer" && name != "head" && name != "scale") {
        refuse(400, "'ablate': there is no field '{}', but stack, layer, head and scale", shown(name));
      }
    }
    if (each.contains("scale") && !each["scale"].is_number())
      refuse(400, "'ablate': 'scale' must be a number");
    const float scale = each.value("scale", 0.0F);
    if (!(std::abs(scale) <= 100)) refuse(400, "'ablate': 'scale' must be from -100 to 100");
    scales.push_back(
        parse_head(each["stack"].get<std::string>() + ":" + number("layer") + ":" + number("head"), scale));
  }
  return nn::HeadScales(std::move(scales));
}

std::vector<std::string> with(std::vector<std::string> names, const std::vector<std::string>& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

void require_present(const Exchange& exchange) {
  if (*exchange.request.gone) throw Cancelled();
}

}  // namespace

void route_v1_translate(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  fields.require_known(with(
      {"text", "model", "pair", "format", "nbest", "alignment", "prefix", "glossary", "sample", "temperature",
       "top_k", "top_p", "seed", "split_sentences", "placeholders", "precision", "api_key"},
      kSearchFields));
  const Fields::Texts texts = required_texts(exchange, "text");
  const ServedModel& model = model_for(exchange, models::Task::kTranslation);
  const decode::TranslationChoices choices = translation_choices(exchange);
  const std::string format = fields.choice("format", {"text", "html", "markdown"});
  ordered_json list = ordered_json::array();
  if (format == "text") {
    for (const TranslatedLines& lines : translate_texts(exchange, model, choices, texts.texts)) {
      list.push_back(to_json(lines, choices.align));
    }
  } else {
    for (const char* name : {"nbest", "alignment", "prefix", "sample", "placeholders"}) {
      if (fields.has(name)) refuse(400, "'{}' is for the format text: {} gives a document", name, format);
    }
    for (const std::string& text : texts.texts) {
      list.push_back(
          {{"source", text}, {"translation", translate_document(exchange, model, choices, text, format)}});
    }
  }
  send_json(exchange, {{"model", model.name}, {"pair", model.pair()}, {"translations", list}});
}

void route_v1_attend(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  fields.require_known(with({"text", "model", "pair", "target", "prefix", "words", "ablate", "details",
                             "packed", "precision", "api_key"},
                            kSearchFields));
  const std::string text = required_sentence(exchange);
  const std::string target = fields.text_or("target", ""), prefix = fields.text_or("prefix", "");
  require_length(exchange.service.limits, target, "target");
  require_length(exchange.service.limits, prefix, "prefix");
  if (!target.empty() && strip(target).empty()) refuse(400, "'target' is empty: leave it out");
  const nn::HeadScales heads = head_scales_of(fields);
  const bool words = fields.flag("words"), details = fields.flag("details"), packed = fields.flag("packed");
  if (words && details) refuse(400, "'details' are those of tokens: leave out 'words'");
  const std::string name = fields.text_or("model", "");
  const ServedModel* named = name.empty() ? nullptr : exchange.service.models->named(name);
  const ServedModel& model = model_for(exchange, named == nullptr ? models::Task::kTranslation : named->task);
  if (model.task != models::Task::kTranslation && !(target + prefix).empty()) {
    refuse(400, "'target' and 'prefix' are for models that translate, and '{}' is not one", model.name);
  }
  decode::TranslatorOptions options = model.translator_options;
  decode::apply(search_choices(exchange), options);
  std::string json;
  exchange.service.engine->call([&] {
    require_present(exchange);
    std::map<std::string, double> numbers;
    Trace trace;
    if (model.translation) {
      ScoredTrace scored = trace_text_with_score(model.loaded(), model.translation->tokenizer,
                                                 {text, target, options.search, details, prefix, heads});
      trace = std::move(scored.trace);
      numbers = {{"log_probability", scored.log_probability}, {"score", scored.score}};
    } else if (model.classifier) {
      trace = trace_classification(model.loaded(), model.classifier->tokenizer, decode::classifier_text(text),
                                   nullptr, details, heads);
    } else {
      trace = trace_language_model(model.loaded(), *model.language_model->tokenizer, text, details, heads);
    }
    if (words) trace = group_by_words(trace);
    json = packed ? pack_trace(trace, numbers) : trace_to_json(trace, numbers);
  });
  send_text(exchange, std::move(json), "application/json");
}

namespace {

/// Records the search tree, step by step.
class SearchTree : public decode::SearchObserver {
 public:
  explicit SearchTree(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void on_step(const std::vector<decode::SearchCandidate>& candidates) override {
    ordered_json list = ordered_json::array();
    for (const decode::SearchCandidate& candidate : candidates) {
      ordered_json json{{"parent", nullptr},
                        {"node", nullptr},
                        {"token", tokenizer_.vocabulary().piece(candidate.id)},
                        {"id", candidate.id},
                        {"log_probability", candidate.log_probability},
                        {"sum", candidate.sum},
                        {"kept", candidate.node >= 0},
                        {"finished", candidate.finished}};
      if (candidate.parent >= 0) json["parent"] = candidate.parent;
      if (candidate.node >= 0) json["node"] = candidate.node;
      if (candidate.finished) json["score"] = candidate.score;
      list.push_back(std::move(json));
      if (candidate.finished && candidate.node >= 0) ends_.push_back(candidate);
    }
    steps_.push_back({{"step", steps_.size() + 1}, {"candidates", std::move(list)}});
  }

  /// The node in which a hypothesis ends, found by its sum.
  ordered_json node_of(const decode::Hypothesis& hypothesis) const {
    for (const decode::SearchCandidate& end : ends_) {
      if (end.score == hypothesis.score && end.id == hypothesis.ids.back()) return end.node;
    }
    return nullptr;
  }
  ordered_json take_steps() { return std::move(steps_); }

 private:
  const Tokenizer& tokenizer_;
  ordered_json steps_ = ordered_json::array();
  std::vector<decode::SearchCandidate> ends_;
};

}  // namespace

void route_v1_search(const Exchange& exchange) {
  exchange.fields.require_known(
      with({"text", "model", "pair", "prefix", "precision", "api_key"}, kSearchFields));
  const std::string text = required_sentence(exchange);
  const ServedModel& model = model_for(exchange, models::Task::kTranslation);
  const Tokenizer& tokenizer = model.translation->tokenizer;
  decode::TranslatorOptions options = model.translator_options;
  decode::apply(search_choices(exchange), options);
  options.search.sample = false;
  options.search.nbest = options.search.beam_size;
  const std::string prefix = exchange.fields.text_or("prefix", "");
  require_length(exchange.service.limits, prefix, "prefix");
  const decode::Search search(model.loaded().seq2seq(), model.loaded().context(), options.search);
  tokenizer.require_language_code(text);
  const Encoding source = tokenizer.encode_source(text);
  decode::SearchSentence sentence{.number = 0, .source = source.ids};
  sentence.prefix = tokenizer.encode_target(prefix).ids;
  sentence.prefix.pop_back();  // the end token
  SearchTree tree(tokenizer);
  sentence.observer = &tree;
  std::vector<decode::Hypothesis> found;
  const auto take = [&](uint64_t, std::vector<decode::Hypothesis> hypotheses) {
    found = std::move(hypotheses);
  };
  if (!exchange.service.engine->run(search, {sentence}, take, {.cancelled = exchange.request.gone.get()})) {
    throw Cancelled();
  }
  ordered_json finished = ordered_json::array();
  for (const decode::Hypothesis& hypothesis : found) {
    std::vector<std::string> pieces;
    for (const int32_t id : hypothesis.ids) pieces.push_back(tokenizer.vocabulary().piece(id));
    finished.push_back({{"node", tree.node_of(hypothesis)},
                        {"translation", tokenizer.decode(hypothesis.ids)},
                        {"tokens", pieces},
                        {"log_probability", hypothesis.log_probability},
                        {"score", hypothesis.score}});
  }
  send_json(exchange, {{"model", model.name},
                       {"source", text},
                       {"source_tokens", source.pieces},
                       {"beam", options.search.beam_size},
                       {"length_penalty", options.search.length_penalty},
                       {"steps", tree.take_steps()},
                       {"finished", finished}});
}

void route_v1_classify(const Exchange& exchange) {
  exchange.fields.require_known({"text", "model", "api_key"});
  const Fields::Texts texts = required_texts(exchange, "text");
  const ServedModel& model = model_for(exchange, models::Task::kClassification);
  std::vector<decode::ClassifierText> inputs;
  for (const std::string& text : texts.texts) {
    if (!strip(text).empty()) inputs.push_back(decode::classifier_text(text));
  }
  std::vector<decode::Classification> results;
  exchange.service.engine->call([&] {
    require_present(exchange);
    ThreadPool here(1);
    const decode::TextClassifier classifier(model.loaded().classifier(), model.loaded().context(),
                                            model.classifier->tokenizer, here);
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
