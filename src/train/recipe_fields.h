// The keys of a recipe and their fields, for reading and writing recipes.
#pragma once

#include <initializer_list>
#include <limits>
#include <string>

#include "models/architecture.h"
#include "models/model_settings.h"
#include "train/recipe.h"

namespace heed::train {

using models::Limits;
using models::Words;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

constexpr const char* kArchitecture = "model.arch";
constexpr const char* kFrom = "training.from";
constexpr const char* kCorpus = "corpus";
constexpr const char* kHeldOut = "cleaning.held_out";
constexpr const char* kFitSchedule = "schedule.fit";
constexpr const char* kFitValidation = "validation.fit";

const Words<ScheduleKind>& schedule_names();

/// Whether a recipe of this task and architecture has the field.
bool has_field(const Recipe& recipe, const std::string& key);

/// Whether fine-tuning takes this setting from the model.
bool is_fixed_by_model(const Recipe& recipe, const std::string& key);

/// Whether the setting has the value of the model to fine-tune.
bool keeps_model_value(const Recipe& recipe, const std::string& key);

/// Calls visit(key, field, range) for numbers, visit(key, field) for booleans and free text, and visit(key,
/// field, words) for enumerations.
template <typename RecipeType, typename Visit>
void visit_recipe(RecipeType& r, Visit&& visit) {
  static const Words<Averaging> averagings{
      {"none", Averaging::kNone}, {"last", Averaging::kLast}, {"running", Averaging::kRunning}};
  static const Words<MatmulPrecision> precisions{{"highest", MatmulPrecision::kHighest},
                                                 {"medium", MatmulPrecision::kMedium}};
  static const Words<NamesFrom> name_sources{
      {"invented", NamesFrom::kInvented}, {"text", NamesFrom::kText}, {"both", NamesFrom::kBoth}};
  static const Words<ConcatenationLength> lengths{{"uniform", ConcatenationLength::kUniform},
                                                  {"geometric", ConcatenationLength::kGeometric}};
  const auto one_of = [](std::initializer_list<const char*> allowed) {
    Words<std::string> words;
    for (const char* word : allowed) words.emplace_back(word, word);
    return words;
  };
  const Limits count{1, 1e9}, probability{0, 0.99}, any{0, 1e18};

  Words<std::string> architectures;
  for (const auto& each : models::architectures()) architectures.emplace_back(each.name, each.name);
  visit("model.arch", r.arch, architectures);
  models::visit_model_settings(r.model, [&](const char* name, auto& field, const auto&... range_or_words) {
    visit(std::string("model.") + name, field, range_or_words...);
  });

  visit("tokenizer.type", r.tokenizer,
        one_of({"unigram", "bpe", "bytes", "characters", "sentencepiece", "wordpiece"}));
  visit("tokenizer.vocabulary", r.vocabulary, Limits{10, 1e6});
  visit("tokenizer.joint", r.joint);
  visit("tokenizer.normalization", r.normalization,
        one_of({"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"}));
  visit("tokenizer.byte_fallback", r.byte_fallback);
  visit("tokenizer.split_digits", r.split_digits);
  visit("tokenizer.placeholders", r.placeholders, Limits{0, 1000});
  visit("tokenizer.lowercase", r.lowercase);
  visit("tokenizer.character_coverage", r.character_coverage, Limits{0.98, 1});
  visit("tokenizer.input_sentence_size", r.input_sentence_size, Limits{1, 100'000'000});
  visit("tokenizer.subword_regularization", r.subword_regularization, Limits{0, 1000});
  visit("tokenizer.sampling_alpha", r.sampling_alpha, Limits{0, 100});
  visit("tokenizer.sampling_nbest", r.sampling_nbest, Limits{0, 1024});
  visit("tokenizer.maxmatch_dropout", r.maxmatch_dropout, probability);
  visit("tokenizer.word_dropout", r.word_dropout, probability);

  const Limits share{0, 1};
  visit("augmentation.names", r.augmentation.names, Limits{0, 100});
  visit("augmentation.names_from", r.augmentation.names_from, name_sources);
  visit("augmentation.numbers", r.augmentation.numbers, Limits{0, 100});
  visit("augmentation.uppercase", r.augmentation.uppercase, share);
  visit("augmentation.concatenated", r.augmentation.concatenated, share);
  visit("augmentation.concatenation_length", r.augmentation.concatenation_length, lengths);
  visit("augmentation.no_final_punctuation", r.augmentation.no_final_punctuation, share);
  visit("augmentation.copied_spans", r.augmentation.copied_spans, share);
  visit("augmentation.lowercase", r.augmentation.lowercase, share);
  visit("augmentation.uncapitalized", r.augmentation.uncapitalized, share);
  visit("augmentation.title_case", r.augmentation.title_case, share);
  visit("augmentation.addresses", r.augmentation.addresses, share);
  visit("augmentation.placeholders", r.augmentation.placeholders, share);
  visit("augmentation.emoji", r.augmentation.emoji, share);

  visit("cleaning.max_length_ratio", r.cleaning.max_length_ratio, Limits{0, 1e6});
  visit("cleaning.max_words", r.cleaning.max_words, any);
  visit("cleaning.max_characters", r.cleaning.max_characters, any);
  visit("cleaning.max_identical_words", r.cleaning.max_identical_words, Limits{-1, 1e6});
  visit("cleaning.drop_duplicates", r.cleaning.drop_duplicates);
  visit("cleaning.drop_broken_encoding", r.cleaning.drop_broken_encoding);
  visit("cleaning.drop_other_languages", r.cleaning.drop_other_languages);

  visit("training.from", r.from);
  visit("training.seed", r.seed, Limits{0, static_cast<double>(kLargest)});
  visit("training.batch_tokens", r.batch_tokens, count);
  visit("training.shards", r.shards, Limits{0, 1024});
  visit("training.gradient_accumulation", r.gradient_accumulation, Limits{1, 1024});
  visit("training.precision", r.precision, precisions);
  visit("training.max_length", r.max_length, Limits{2, 1e6});
  visit("training.block_size", r.block_size, Limits{2, 1e6});
  visit("training.document_boundaries", r.document_boundaries);
  visit("training.class_weights", r.class_weights, one_of({"none", "balanced"}));
  visit("training.label_smoothing", r.label_smoothing, probability);
  visit("training.guided_alignment", r.guided_alignment);
  visit("training.guided_alignment_weight", r.guided_alignment_weight, Limits{0, 100});
  visit("training.guided_alignment_layer", r.guided_alignment_layer, Limits{0, 1000});
  visit("training.guided_alignment_head", r.guided_alignment_head, Limits{1, 1000});

  visit("optimizer.kind", r.optimizer, one_of({"adam", "adamw"}));
  visit("optimizer.beta1", r.beta1, Limits{0, 0.9999999});
  visit("optimizer.beta2", r.beta2, Limits{0, 0.9999999});
  visit("optimizer.epsilon", r.epsilon, Limits{1e-16, 1});
  visit("optimizer.weight_decay", r.weight_decay, Limits{0, 10});
  visit("optimizer.clip_norm", r.clip_norm, any);

  visit("schedule.kind", r.schedule, schedule_names());
  visit("schedule.learning_rate", r.learning_rate, Limits{0, 1000});
  visit("schedule.warmup_steps", r.warmup_steps, count);
  visit("schedule.total_steps", r.total_steps, count);
  visit(kFitSchedule, r.fit_schedule);

  visit("averaging.kind", r.averaging, averagings);
  visit("averaging.decay", r.decay, Limits{0, 0.9999999});
  visit("averaging.snapshots", r.snapshots, Limits{1, 1000});
  visit("averaging.snapshot_every", r.snapshot_every, count);

  visit("validation.every", r.validate_every, count);
  visit(kFitValidation, r.fit_validation);
  visit("validation.sentences", r.validation_sentences, any);
  visit("validation.beam_size", r.validation_beam_size, Limits{1, 64});
  visit("validation.max_tokens", r.validation_max_tokens, any);
  visit("validation.metric", r.metric, one_of({"bleu", "chrf", "loss", "accuracy", "macro_f1"}));
  visit("validation.patience", r.patience, Limits{0, 1e6});
}

template <typename CorpusType, typename Visit>
void visit_corpus(CorpusType& c, Visit&& visit) {
  visit("pairs", c.pairs);
  visit("source", c.source);
  visit("target", c.target);
  visit("swap", c.swap);
  visit("weight", c.weight, Limits{0, 1000});
  visit("tag", c.tag);
}

}  // namespace heed::train
