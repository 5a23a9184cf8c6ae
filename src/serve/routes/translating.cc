// Common parts of the translation routes.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/stop.h"
#include "base/text/nearest_word.h"
#include "base/thread_pool.h"
#include "serve/service.h"
#include "text/unicode/utf8.h"
#include "translate/documents/document.h"

namespace heed::serve {
namespace {

translate::TranslatorOptions options_for(const Exchange& exchange, const ChosenTranslation& chosen,
                                         const TranslateOptions& choices) {
  translate::TranslatorOptions options = chosen.options;
  translate::apply(choices, options);
  if (options.heads.empty()) options.executor = exchange.service.engine.get();
  options.max_sentences = exchange.service.limits.sentences;
  options.max_source_tokens = exchange.service.limits.work_tokens;
  options.max_parts = exchange.service.limits.lines();
  // One window, so that a request beyond the limits is refused before any of it is translated.
  options.window = SIZE_MAX;
  return options;
}

std::vector<translate::ChainStep> steps_for(const Exchange& exchange, const ChosenChain& chain,
                                            const TranslateOptions& choices) {
  std::vector<translate::ChainStep> steps;
  for (size_t n = 0; n < chain.size(); ++n) {
    const TranslateOptions own = translate::choices_of_step(choices, n, chain.size());
    const auto& [model, tokenizer, options] = chain[n];
    steps.push_back({model.loaded(),
                     tokenizer,
                     options_for(exchange, chain[n], own),
                     {tag_of(model.sources, tokenizer.source_language()),
                      tag_of(model.targets, tokenizer.target_language())}});
  }
  return steps;
}

/// Calls `work`, whose searches share batches in the engine. Heads that are switched off are those of a whole
/// batch: such a request is searched alone, on one of the engine's threads.
void search(const Exchange& exchange, const ChosenChain& chain, const std::function<void()>& work) {
  if (chain.front().options.heads.empty()) return work();
  compute(exchange, work);
}

/// A model in the precision that the request names, or its own; 400 if it does not have it here.
const ServedModel& in_wanted_precision(const Exchange& exchange, const ServedModel& model) {
  const ServedModels& models = *exchange.service.models;
  const std::string precision = exchange.fields.text_or("precision", "");
  if (precision.empty() || precision == model.precision()) return model;
  const std::vector<std::string> there = models.precisions(model);
  if (std::ranges::count(there, precision) == 0) {
    refuse(400, "'precision': the model '{}' is in {} here, not in {}", model.name, fmt::join(there, " and "),
           shown(precision));
  }
  return models.in_precision(model, precision);
}

/// 400 for languages between which no single model translates: says through which models a text passes, if it
/// does.
[[noreturn]] void refuse_languages(const std::vector<ServedStep>& chain, const std::string& what,
                                   const char* where) {
  if (chain.empty()) refuse(400, "no model here translates {}: GET {} lists them", what, where);
  std::vector<std::string> names;
  for (const ServedStep& step : chain) names.push_back("'" + step.model->name + "'");
  refuse(
      400,
      "no single model here translates {}, and this route shows one model: send the text with the model {}, "
      "then its translation with {}; /translate and /v1/translate go through all of them",
      what, names.front(), fmt::join(names.begin() + 1, names.end(), ", then "));
}

}  // namespace

void require_length(const RequestLimits& limits, const std::string& text, const std::string& name) {
  const size_t characters = count_characters(text);
  if (characters <= limits.characters) return;
  refuse(400, "'{}' has a text of {} characters, and this server takes {}: send it in parts", name,
         characters, limits.characters);
}

Fields::Texts required_texts(const Exchange& exchange, const std::string& name) {
  std::optional<Fields::Texts> texts = exchange.fields.texts(name);
  if (!texts || texts->texts.empty() || (!texts->is_list && texts->texts[0].empty())) {
    refuse(400, "Invalid request: missing {} parameter", name);
  }
  const RequestLimits& limits = exchange.service.limits;
  if (texts->texts.size() > limits.texts) {
    refuse(400, "'{}' has {} texts, and this server takes {} in a request", name, texts->texts.size(),
           limits.texts);
  }
  for (const std::string& text : texts->texts) require_length(limits, text, name);
  return std::move(*texts);
}

const ServedModel& model_for(const Exchange& exchange, models::Task task) {
  const Fields& fields = exchange.fields;
  const ServedModels& models = *exchange.service.models;
  const std::string name = fields.text_or("model", ""), pair = fields.text_or("pair", ""),
                    source = fields.text_or("source_language", ""),
                    target = fields.text_or("target_language", "");
  const ServedModel* model = nullptr;
  if (!name.empty()) {
    model = models.named(name);
    if (model == nullptr) refuse(404, "there is no model '{}' here: GET /v1/models lists them", shown(name));
    if (!pair.empty() && pair != name && !model->languages(pair)) {
      refuse(400, "the model '{}' does not translate '{}'", name, shown(pair));
    }
  } else if (!pair.empty()) {
    model = models.for_pair(pair);
    if (model == nullptr) model = models.named(pair);
    if (model == nullptr) refuse_languages(models.chain(pair), "'" + shown(pair) + "'", "/v1/models");
  } else if (!source.empty() && !target.empty()) {
    model = models.between(source, target);
    if (model == nullptr) {
      refuse_languages(models.chain(source, target),
                       fmt::format("from '{}' to '{}'", shown(source), shown(target)), "/languages");
    }
  } else {
    model = models.first(task);
  }
  const char* what = task == models::Task::kTranslation      ? "translates"
                     : task == models::Task::kClassification ? "classifies text"
                     : task == models::Task::kEmbedding      ? "embeds text"
                     : task == models::Task::kLanguageModel  ? "continues text"
                                                             : "fills masks";
  if (model == nullptr) refuse(400, "this server has no model that {}", what);
  if (!ServedModels::can_do(*model, task))
    refuse(400, "the model '{}' is not one that {}", model->name, what);
  return in_wanted_precision(exchange, *model);
}

ChosenTranslation in_languages(const ServedModel& model, const LanguagePair& languages) {
  ChosenTranslation chosen{model, model.translation->tokenizer, model.translator_options};
  chosen.tokenizer = chosen.tokenizer.with_languages(model.sources.size() > 1 ? languages.source : "",
                                                     model.targets.size() > 1 ? languages.target : "");
  if (chosen.tokenizer.target_begins_with_language()) {
    chosen.options.search.forced_begin_id = chosen.tokenizer.first_target_id().value_or(-1);
  }
  return chosen;
}

namespace {

/// The model's code of the language that a field names; empty if there is no such field.
std::string language_of(const Fields& fields, const char* field, const ServedModel& model,
                        const std::vector<ServedLanguage>& languages) {
  constexpr size_t kShown = 20;
  const std::string name = fields.text_or(field, "");
  if (name.empty()) return "";
  if (const ServedLanguage* found = find_language(languages, name)) return found->code;
  std::vector<std::string> tags;
  for (const ServedLanguage& each : languages) tags.push_back(each.tag);
  const std::string nearest = did_you_mean(name, tags);
  const size_t more = tags.size() - std::min(tags.size(), kShown);
  tags.resize(tags.size() - more);
  refuse(400, "'{}': the model '{}' has no language '{}'{}; it has {}{}", field, model.name, shown(name),
         nearest, tags.empty() ? "none" : fmt::format("{}", fmt::join(tags, ", ")),
         more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

ChosenTranslation translation_for(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  const ServedModel& model = model_for(exchange, models::Task::kTranslation);
  const LanguagePair languages{language_of(fields, "source_language", model, model.sources),
                               language_of(fields, "target_language", model, model.targets)};
  const std::string pair = fields.text_or("pair", "");
  if (pair.empty()) return in_languages(model, languages);
  if (!languages.source.empty() || !languages.target.empty()) {
    refuse(400, "give either 'pair' or 'source_language' and 'target_language'");
  }
  return in_languages(model, model.languages(pair).value_or(LanguagePair{}));  // or the model's name
}

ChosenChain in_languages(const std::vector<ServedStep>& chain) {
  ChosenChain chosen;
  for (const ServedStep& step : chain) chosen.push_back(in_languages(*step.model, step.languages));
  return chosen;
}

ChosenChain chain_for(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  const ServedModels& models = *exchange.service.models;
  const std::string pair = fields.text_or("pair", ""), source = fields.text_or("source_language", ""),
                    target = fields.text_or("target_language", "");
  std::vector<ServedStep> chain;
  if (fields.text_or("model", "").empty()) {
    const bool languages = !source.empty() && !target.empty();
    if (!pair.empty() && source.empty() && target.empty() && models.for_pair(pair) == nullptr &&
        models.named(pair) == nullptr) {
      chain = models.chain(pair);
    } else if (pair.empty() && languages) {
      chain = models.chain(source, target);
    }
  }
  for (ServedStep& step : chain) step.model = &in_wanted_precision(exchange, *step.model);
  if (!chain.empty()) return in_languages(chain);
  ChosenChain chosen;
  chosen.push_back(translation_for(exchange));
  return chosen;
}

void send_json(const Exchange& exchange, const nlohmann::ordered_json& json) {
  send_text(exchange, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
            "application/json");
}

void send_text(const Exchange& exchange, std::string text, const std::string& content_type) {
  exchange.reply.send({.status = 200, .content_type = content_type, .body = std::move(text)});
}

namespace {

/// Throws 400 for more lines than a request may have.
void require_few_lines(const RequestLimits& limits, const std::vector<std::string>& texts) {
  size_t lines = texts.size();
  for (const std::string& text : texts) lines += static_cast<size_t>(std::ranges::count(text, '\n'));
  if (lines <= limits.lines()) return;
  refuse(400, "the request has {} lines, and this server takes {}: send it in parts", lines, limits.lines());
}

}  // namespace

size_t TranslatedLines::count() const {
  size_t most = 1;
  for (const translate::Translation& line : lines) most = std::max(most, line.candidates.size());
  return most;
}

std::string TranslatedLines::text(size_t rank) const {
  std::string joined;
  for (size_t n = 0; n < lines.size(); ++n) {
    const auto& candidates = lines[n].candidates;
    joined += candidates[std::min(rank, candidates.size() - 1)].text + line_ends[n];
  }
  return joined;
}

std::vector<TranslatedLines> translate_texts(const Exchange& exchange, const ChosenChain& chain,
                                             const TranslateOptions& choices,
                                             const std::vector<std::string>& texts) {
  require_few_lines(exchange.service.limits, texts);
  std::vector<TranslatedLines> results(texts.size());
  std::vector<std::string> lines;
  for (size_t n = 0; n < texts.size(); ++n) {
    std::string_view rest = texts[n];
    while (true) {
      const size_t end = rest.find('\n');
      std::string_view line = rest.substr(0, end);
      std::string line_end = end == std::string_view::npos ? "" : "\n";
      if (!line_end.empty() && line.ends_with('\r')) {
        line.remove_suffix(1);
        line_end = "\r\n";
      }
      lines.emplace_back(line);
      results[n].line_ends.push_back(line_end);
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
  }
  ThreadPool here(1);  // tokenization runs on this thread, searches in the engine
  const translate::TranslatorChain translator(steps_for(exchange, chain, choices), here);
  size_t text = 0;
  const auto take = [&](translate::Translation translation) {
    while (results[text].lines.size() == results[text].line_ends.size()) ++text;
    results[text].lines.push_back(std::move(translation));
  };
  search(exchange, chain, [&] { translator.translate(lines, take, {.stop = exchange.stop()}); });
  return results;
}

std::vector<translate::TranslatedDocument> translate_documents(const Exchange& exchange,
                                                               const ChosenChain& chain,
                                                               const TranslateOptions& choices,
                                                               const std::vector<std::string>& documents,
                                                               const std::string& format) {
  ThreadPool here(1);
  const translate::TranslatorChain translator(
      steps_for(exchange, chain, translate::options_for_document(choices)), here);
  std::vector<translate::TranslatedDocument> translated;
  search(exchange, chain, [&] {
    translated = translate::translate_documents(
        translator, documents,
        format == "html" ? translate::DocumentFormat::kHtml : translate::DocumentFormat::kMarkdown,
        exchange.stop());
  });
  require_present(exchange);
  return translated;
}

}  // namespace heed::serve
