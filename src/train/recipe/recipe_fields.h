// The keys of a recipe and their fields, for reading and writing recipes.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "models/architecture.h"
#include "models/directory/model_settings.h"
#include "train/recipe/recipe.h"

namespace heed::train {

using models::Limits;
using models::Words;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

constexpr const char* kArchitecture = "model.arch";
constexpr const char* kFrom = "training.from";
constexpr const char* kMaxLength = "training.max_length";
constexpr const char* kBlockSize = "training.block_size";
constexpr const char* kCorpus = "corpus";
constexpr const char* kHeldOut = "cleaning.held_out";
constexpr const char* kFitBatch = "training.fit_batch";
constexpr const char* kFitSchedule = "schedule.fit";
constexpr const char* kFitValidation = "validation.fit";

const Words<ScheduleKind>& schedule_names();

/// Who decides about a setting when a model is fine-tuned.
enum class FineTuning { kOfRecipe, kOfModel };

/// A key of a recipe.
struct RecipeKey {
  std::string name;                      ///< "tokenizer.joint"
  std::vector<models::Task> tasks = {};  ///< those that have it; empty: all
  FineTuning fine_tuning = FineTuning::kOfRecipe;
};

/// Whether a recipe of this task and architecture has the field.
bool has_field(const Recipe& recipe, const RecipeKey& key);

/// Whether fine-tuning takes this setting from the model.
bool is_fixed_by_model(const Recipe& recipe, const RecipeKey& key);

/// Whether the setting has the value of the model to fine-tune.
bool keeps_model_value(const Recipe& recipe, const RecipeKey& key);

/// Calls visit(key, field, range) for numbers, visit(key, field) for booleans and free text, and visit(key,
/// field, words) for enumerations, with the words that the recipe's task allows.
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
  using WordList = std::vector<const char*>;
  const auto one_of = [](const WordList& allowed) {
    Words<std::string> words;
    for (const char* word : allowed) words.emplace_back(word, word);
    return words;
  };
  const auto words_of_task = [&](const std::map<models::Task, WordList>& allowed) {
    return one_of(allowed.at(r.task()));
  };
  using enum models::Task;
  const std::vector<models::Task> all{}, translation{kTranslation}, language{kLanguageModel},
      classification{kClassification}, whole_texts{kTranslation, kClassification};
  constexpr FineTuning kOfModel = FineTuning::kOfModel;
  const Limits count{1, 1e9}, probability{0, 0.99}, any{0, 1e18};

  Words<std::string> architectures;
  for (const auto& each : models::architectures()) architectures.emplace_back(each.name, each.name);
  visit({kArchitecture}, r.arch, architectures);
  models::visit_model_settings(r.model, [&](const char* name, auto& field, const auto&... range_or_words) {
    visit({std::string("model.") + name, all, kOfModel}, field, range_or_words...);
  });

  visit({"tokenizer.type", all, kOfModel}, r.tokenizer,
        words_of_task({{kTranslation, {"unigram", "bpe"}},
                       {kLanguageModel, {"characters", "bytes", "bpe", "sentencepiece", "unigram"}},
                       {kClassification, {"wordpiece"}}}));
  visit({"tokenizer.vocabulary", all, kOfModel}, r.vocabulary, Limits{10, 1e6});
  visit({"tokenizer.joint", translation, kOfModel}, r.joint);
  visit({"tokenizer.normalization", translation, kOfModel}, r.normalization,
        one_of({"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"}));
  visit({"tokenizer.byte_fallback", translation, kOfModel}, r.byte_fallback);
  visit({"tokenizer.split_digits", translation, kOfModel}, r.split_digits);
  visit({"tokenizer.placeholders", translation, kOfModel}, r.placeholders, Limits{0, 1000});
  visit({"tokenizer.lowercase", classification, kOfModel}, r.lowercase);
  visit({"tokenizer.character_coverage", translation, kOfModel}, r.character_coverage, Limits{0.98, 1});
  visit({"tokenizer.input_sentence_size", translation, kOfModel}, r.input_sentence_size,
        Limits{1, 100'000'000});
  visit({"tokenizer.subword_regularization", whole_texts}, r.subword_regularization, Limits{0, 1000});
  visit({"tokenizer.sampling_alpha", translation}, r.sampling_alpha, Limits{0, 100});
  visit({"tokenizer.sampling_nbest", translation}, r.sampling_nbest, Limits{0, 1024});
  visit({"tokenizer.maxmatch_dropout", classification}, r.maxmatch_dropout, probability);
  visit({"tokenizer.word_dropout", classification}, r.word_dropout, probability);

  const Limits share{0, 1};
  visit({"augmentation.names", translation}, r.augmentation.names, Limits{0, 100});
  visit({"augmentation.names_from", translation}, r.augmentation.names_from, name_sources);
  visit({"augmentation.numbers", translation}, r.augmentation.numbers, Limits{0, 100});
  visit({"augmentation.uppercase", translation}, r.augmentation.uppercase, share);
  visit({"augmentation.concatenated", translation}, r.augmentation.concatenated, share);
  visit({"augmentation.concatenation_length", translation}, r.augmentation.concatenation_length, lengths);
  visit({"augmentation.no_final_punctuation", translation}, r.augmentation.no_final_punctuation, share);
  visit({"augmentation.copied_spans", translation}, r.augmentation.copied_spans, share);
  visit({"augmentation.lowercase", translation}, r.augmentation.lowercase, share);
  visit({"augmentation.uncapitalized", translation}, r.augmentation.uncapitalized, share);
  visit({"augmentation.title_case", translation}, r.augmentation.title_case, share);
  visit({"augmentation.addresses", translation}, r.augmentation.addresses, share);
  visit({"augmentation.placeholders", translation}, r.augmentation.placeholders, share);
  visit({"augmentation.emoji", translation}, r.augmentation.emoji, share);

  visit({"cleaning.max_length_ratio", translation}, r.cleaning.max_length_ratio, Limits{0, 1e6});
  visit({"cleaning.max_words", translation}, r.cleaning.max_words, any);
  visit({"cleaning.max_characters", translation}, r.cleaning.max_characters, any);
  visit({"cleaning.max_identical_words", translation}, r.cleaning.max_identical_words, Limits{-1, 1e6});
  visit({"cleaning.drop_duplicates", translation}, r.cleaning.drop_duplicates);
  visit({"cleaning.drop_broken_encoding", translation}, r.cleaning.drop_broken_encoding);
  visit({"cleaning.drop_other_languages", translation}, r.cleaning.drop_other_languages);

  visit({kFrom}, r.from);
  visit({"training.seed"}, r.seed, Limits{0, static_cast<double>(kLargest)});
  visit({"training.batch_tokens"}, r.batch_tokens, count);
  visit({kFitBatch}, r.fit_batch);
  visit({"training.shards"}, r.shards, Limits{0, 1024});
  visit({"training.gradient_accumulation"}, r.gradient_accumulation, Limits{1, 1024});
  visit({"training.precision"}, r.precision, precisions);
  visit({kMaxLength, whole_texts}, r.max_length, Limits{2, 1e6});
  visit({kBlockSize, language}, r.block_size, Limits{2, 1e6});
  visit({"training.document_boundaries", language}, r.document_boundaries);
  visit({"training.class_weights", classification}, r.class_weights, one_of({"none", "balanced"}));
  visit({"training.label_smoothing"}, r.label_smoothing, probability);
  visit({"training.guided_alignment", translation}, r.guided_alignment);
  visit({"training.guided_alignment_weight", translation}, r.guided_alignment_weight, Limits{0, 100});
  visit({"training.guided_alignment_layer", translation}, r.guided_alignment_layer, Limits{0, 1000});
  visit({"training.guided_alignment_head", translation}, r.guided_alignment_head, Limits{1, 1000});

  visit({"optimizer.kind"}, r.optimizer, one_of({"adam", "adamw"}));
  visit({"optimizer.beta1"}, r.beta1, Limits{0, 0.9999999});
  visit({"optimizer.beta2"}, r.beta2, Limits{0, 0.9999999});
  visit({"optimizer.epsilon"}, r.epsilon, Limits{1e-16, 1});
  visit({"optimizer.weight_decay"}, r.weight_decay, Limits{0, 10});
  visit({"optimizer.clip_norm"}, r.clip_norm, any);

  visit({"schedule.kind"}, r.schedule, schedule_names());
  visit({"schedule.learning_rate"}, r.learning_rate, Limits{0, 1000});
  visit({"schedule.warmup_steps"}, r.warmup_steps, count);
  visit({"schedule.total_steps"}, r.total_steps, count);
  visit({kFitSchedule}, r.fit_schedule);

  visit({"averaging.kind"}, r.averaging, averagings);
  visit({"averaging.decay"}, r.decay, Limits{0, 0.9999999});
  visit({"averaging.snapshots"}, r.snapshots, Limits{1, 1000});
  visit({"averaging.snapshot_every"}, r.snapshot_every, count);

  visit({"validation.every"}, r.validate_every, count);
  visit({kFitValidation}, r.fit_validation);
  visit({"validation.sentences", translation}, r.validation_sentences, any);
  visit({"validation.beam_size", translation}, r.validation_beam_size, Limits{1, 64});
  visit({"validation.max_tokens", language}, r.validation_max_tokens, any);
  visit({"validation.metric"}, r.metric,
        words_of_task({{kTranslation, {"bleu", "chrf", "loss"}},
                       {kLanguageModel, {"loss"}},
                       {kClassification, {"accuracy", "macro_f1", "loss"}}}));
  visit({"validation.patience"}, r.patience, Limits{0, 1e6});
}

template <typename CorpusType, typename Visit>
void visit_corpus(CorpusType& c, Visit&& visit) {
  visit({"pairs"}, c.pairs);
  visit({"source"}, c.source);
  visit({"target"}, c.target);
  visit({"swap"}, c.swap);
  visit({"weight"}, c.weight, Limits{0, 1000});
  visit({"tag"}, c.tag);
}

}  // namespace heed::train
