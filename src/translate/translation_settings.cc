#include "translate/translation_settings.h"

#include <algorithm>
#include <memory>

#include "models/head_names.h"
#include "translate/translate_options.h"

namespace heed::translate {
namespace {

template <typename Value>
void set(Value& setting, const auto& choice) {
  if (choice) setting = static_cast<Value>(*choice);
}

void apply_search(const TranslateOptions& choices, search::SearchOptions& search) {
  set(search.beam_size, choices.beam);
  if (choices.beam) search.sample = false;
  search.nbest = choices.nbest;
  if (!choices.beam) search.beam_size = std::max(search.beam_size, choices.nbest);
  set(search.length_penalty, choices.length_penalty);
  set(search.max_length, choices.max_length);
  if (choices.max_length) search.max_new = 0;
  set(search.no_repeat_ngram_size, choices.no_repeat_ngram);
  if (choices.sample) search.sample = true;
  set(search.sampling.temperature, choices.temperature);
  set(search.sampling.top_k, choices.top_k);
  set(search.sampling.top_p, choices.top_p);
  set(search.sampling.seed, choices.seed);
}

std::shared_ptr<const Glossary> glossary_of(const std::vector<std::pair<std::string, std::string>>& terms) {
  if (terms.empty()) return nullptr;
  auto glossary = std::make_shared<Glossary>();
  for (const auto& [source, target] : terms) glossary->add(source, target);
  return glossary;
}

}  // namespace

TranslatorOptions default_translator_options(const models::LoadedModel& model) {
  TranslatorOptions options;
  options.split_sentences = options.protect_spans = options.true_case = options.check_values = true;
  options.search = search::search_options_of(model);
  options.alignment.heads = model.generation.alignment_heads;
  return options;
}

TranslateOptions options_for_document(TranslateOptions options) {
  search::require_for_documents(search::given_options(options));
  options.alignment = true;
  return options;
}

void apply(const TranslateOptions& choices, TranslatorOptions& options) {
  search::require_valid(choices);
  apply_search(choices, options.search);
  set(options.budget.source_tokens, choices.batch_tokens);
  options.split_sentences = choices.split_sentences;
  options.protect_spans = choices.placeholders;
  options.check_values = choices.check_values;
  options.glossary = glossary_of(choices.glossary);
  options.constraints = {choices.prefix, choices.require, choices.forbid};
  options.align = choices.alignment;
  options.confidence = choices.confidence;
  if (!choices.ablate.empty()) options.heads = models::heads_off(choices.ablate);
}

TranslatorOptions translator_options(const models::LoadedModel& model, const TranslateOptions& choices) {
  TranslatorOptions options = default_translator_options(model);
  apply(choices, options);
  return options;
}

}  // namespace heed::translate
