#include "train/tasks/translation_task.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/files/fingerprint.h"
#include "base/text/option_error.h"
#include "data/batch/packed_batch.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "models/directory/generation_defaults.h"
#include "models/directory/loaded_model.h"
#include "models/directory/model_directory.h"
#include "models/seq2seq.h"
#include "ops/elementwise.h"
#include "search/search.h"
#include "train/loop/sharded_batches.h"
#include "train/loop/trainer.h"
#include "train/tasks/guided_alignment.h"
#include "train/tasks/head_choice.h"
#include "train/tasks/translation_data.h"

namespace heed::train {
namespace {

// Number of pairs that train the word aligner for choosing alignment heads.
constexpr uint64_t kAlignedPairs = 20'000;

const models::Seq2Seq& fitting_model(const Recipe& recipe, const models::Model& model) {
  const auto* seq2seq = dynamic_cast<const models::Seq2Seq*>(&model);
  HEED_CHECK(seq2seq != nullptr);
  if (recipe.guided_alignment) guided_head(recipe, model);  // throws if there is none
  if (seq2seq->max_length() > 0 && recipe.max_length > seq2seq->max_length()) {
    fail(ErrorKind::kUsage, "training.max_length ({}) must not be above model.max_length ({})",
         recipe.max_length, seq2seq->max_length());
  }
  return *seq2seq;
}

/// A translation model in training.
class Translation {
 public:
  Translation(const TaskInput& input, TranslationData data, const models::Seq2Seq& model)
      : input_(input),
        recipe_(input.options.recipe),
        data_(std::move(data)),
        model_(model),
        source_generation_(generation_of_source(input)) {
    if (recipe_.guided_alignment) guided_head_ = guided_head(recipe_, model);
    if (source_generation_ && data_.tokenizer.target_begins_with_language()) {
      source_generation_->forced_begin_id = *data_.tokenizer.first_target_id();
    }
  }

  const TranslationData& data() const { return data_; }

  BatchLoss loss(nn::Context& context, const Batch& batch, double scale) const {
    const TranslationBatch input = pack_translation(data_.corpus, batch.sentences, model_.start_id());
    std::optional<GuidedHead> head;
    if (data_.links) {
      context.sink = &head.emplace(*guided_head_, guided_links(*data_.links, batch.sentences, input),
                                   recipe_.guided_alignment_weight * scale);
    }
    ops::VocabularyLoss loss =
        model_loss(context, input, {.smoothing = recipe_.label_smoothing, .scale = scale});
    if (head) {
      context.sink = nullptr;
      loss.loss = ops::add(loss.loss, head->loss());
      loss.loss_sum += static_cast<double>(head->loss().value().data<float>()[0]) / scale;
    }
    return {loss.loss, sums_of(loss)};
  }

  ValidationScores validate(const nn::ParameterArray& values) const {
    const nn::PackedWeights weights(model_.table(), values);
    const int64_t batch_tokens = std::max<int64_t>(1, recipe_.batch_tokens / recipe_.shard_count());
    const auto batches = length_sorted_batches(sizes_of(*data_.validation), batch_tokens);
    const LossSums sums = sum_losses(input_, weights, batches, [&](nn::Context& context, const Batch& batch) {
      const TranslationBatch input = pack_translation(*data_.validation, batch.sentences, model_.start_id());
      return sums_of(model_loss(context, input, {}));
    });
    ValidationScores scores;
    scores.loss = sums.negative_log_likelihood / sums.weight;
    scores.quality = -scores.loss;
    if (data_.validation_source.empty()) return scores;
    const std::vector<std::string> translations = translate(weights);
    scores.others = {{"bleu", corpus_bleu(translations, {data_.validation_target}).score},
                     {"chrf", corpus_chrf(translations, {data_.validation_target}).score}};
    for (const Score& score : scores.others) {
      if (score.name == recipe_.metric) scores.quality = score.value;
    }
    return scores;
  }

  void write_generation_config(const std::string& directory) const {
    models::write_generation_defaults(directory, source_generation_.value_or(own_generation()),
                                      {.padding = model_.padding_id(),
                                       .end = model_.end_id(),
                                       .begin = model_.translates_sentences() ? model_.end_id() : -1,
                                       .start = model_.start_id()});
    if (recipe_.guided_alignment) models::write_alignment_heads(directory, {*guided_head_});
  }

  /// With guided alignment the head is known; otherwise the heads that align words best are chosen.
  void finish(const std::string& directory) const {
    if (recipe_.guided_alignment) return;
    input_.begin_work("choosing alignment heads");
    TokenPairs pairs;
    const uint64_t count = data_.corpus.sentences(), step = (count + kAlignedPairs - 1) / kAlignedPairs;
    for (uint64_t n = 0; n < count; n += step) {
      pairs.sources.append(data_.corpus.sentence(0, n));
      pairs.targets.append(data_.corpus.sentence(1, n));
    }
    const models::LoadedModel trained = models::load_model(directory);
    models::write_alignment_heads(
        directory, choose_heads(trained.seq2seq(), trained.context(), pairs, input_.pool, input_.stop).heads);
  }

 private:
  models::GenerationDefaults own_generation() const {
    models::GenerationDefaults generation;
    generation.beams = 4;
    generation.max_length = model_.max_length();
    generation.forced_end_id = model_.end_id();
    generation.forbidden_ids = {model_.padding_id()};
    generation.renormalize = true;
    return generation;
  }

  ops::VocabularyLoss model_loss(nn::Context& context, const TranslationBatch& input,
                                 const ops::CrossEntropyOptions& options) const {
    return model_.loss(context, input.source, input.decoder_input, input.labels, options);
  }
  static LossSums sums_of(const ops::VocabularyLoss& loss) {
    return {loss.loss_sum, loss.negative_log_likelihood, static_cast<double>(loss.tokens), loss.tokens};
  }

  /// An untrained model does not predict the end token: translations are limited to 2 * source + 10 tokens.
  search::SearchOptions search_options() const {
    search::SearchOptions options;
    options.beam_size = recipe_.validation_beam_size;
    options.max_length_factor = 2;
    options.max_length_offset = 10;
    options.forbidden_ids = {model_.padding_id()};
    if (source_generation_) options.forced_begin_id = source_generation_->forced_begin_id;
    return options;
  }

  /// The best translations, in the order of the sources, independent of threads and processes.
  std::vector<std::string> translate(const nn::PackedWeights& weights) const {
    EncodeOptions encode_options;
    encode_options.max_length = static_cast<size_t>(model_.max_length());
    const auto& lines = data_.validation_source;
    const Range own = input_.reducer.own_part(static_cast<int64_t>(lines.size()));
    std::vector<std::string> translations(lines.size());
    input_.reducer.together([&] {
      std::vector<search::SearchSentence> sentences;
      for (auto n = static_cast<size_t>(own.begin); n < static_cast<size_t>(own.end); ++n) {
        sentences.push_back({n, data_.tokenizer.encode_source(lines[n], encode_options).ids});
      }
      const search::Search search(model_, weights.context(), search_options());
      input_.stop.check();
      search::search_all(search, std::move(sentences), input_.pool,
                         [&](uint64_t number, std::vector<search::Hypothesis> hypotheses) {
                           input_.stop.check();
                           if (!hypotheses.empty())
                             translations[number] = data_.tokenizer.decode(hypotheses[0].ids);
                         });
    });
    input_.reducer.gather(translations);
    return translations;
  }

  const TaskInput input_;
  const Recipe& recipe_;
  const TranslationData data_;
  const models::Seq2Seq& model_;
  std::optional<models::AlignmentHead> guided_head_;
  std::optional<models::GenerationDefaults> source_generation_;  // with the target language
};

Task translation_task(const TaskInput& input, const PairsText& text, const MakeModel& make_model) {
  const Recipe& recipe = input.options.recipe;
  TranslationData data = prepare_translation_data(input, text);
  models::ModelSettings settings = recipe.model;
  settings.vocabulary = static_cast<int64_t>(data.tokenizer.size());
  settings.padding_id = settings.start_id = data.tokenizer.pad_id();
  settings.end_id = data.tokenizer.end_id();
  const models::Seq2Seq& model = fitting_model(recipe, make_model(settings));
  const auto all = std::make_shared<const Translation>(input, std::move(data), model);

  Task task;
  task.amount = counted(all->data().corpus.sentences(), "pair");
  task.fingerprint = all->data().fingerprint();
  task.batches = [all, &recipe](const BatchCursor& cursor, int64_t batch_tokens) {
    return shuffled_batches(all->data().corpus, {.seed = recipe.seed, .batch_tokens = batch_tokens}, cursor);
  };
  task.weight = [](const Batch& batch) { return static_cast<double>(batch.target_tokens); };
  task.loss = [all](nn::Context& context, const Batch& batch, double scale) {
    return all->loss(context, batch, scale);
  };
  if (all->data().validation)
    task.validate = [all](const nn::ParameterArray& values) { return all->validate(values); };
  task.write_generation_config = [all](const std::string& directory) {
    all->write_generation_config(directory);
  };
  task.finish = [all](const std::string& directory) { all->finish(directory); };
  return task;
}

CheckedText read_pairs(const TaskInput& input) {
  const auto text = std::make_shared<const PairsText>(read_pairs_text(input));
  return {fingerprint_of_texts(text->training.fingerprint(), text->validation),
          [input](const models::Model& model) { fitting_model(input.options.recipe, model); },
          [input, text](const MakeModel& make_model) { return translation_task(input, *text, make_model); }};
}

void preset(models::PresetSize size, Recipe& recipe) {
  if (size == models::PresetSize::kTiny) {  // learns something in seconds
    recipe.vocabulary = 1000;
    recipe.input_sentence_size = 20'000;
    recipe.batch_tokens = 1024;
    recipe.validate_every = 100;
    recipe.validation_sentences = 100;
    recipe.decay = 0.98;
  } else if (size == models::PresetSize::kBase) {
    recipe.vocabulary = 16000;
    recipe.batch_tokens = 8192;
  }
}

void check(const TrainerOptions& options) {
  if (!options.data.text.empty() || !options.validation.text.empty()) {
    fail_option(
        "a translator is trained on pairs of sentences: $pairs, or $source and $target; $text is for the "
        "tasks lm "
        "and classify, which $task chooses");
  }
}

}  // namespace

TaskKind translation_kind() {
  return {.task = models::Task::kTranslation,
          .name = "translation",
          .training = "training a translator",
          .tokenizer_files = translation_tokenizer_files(),
          .preset = preset,
          .check = check,
          .read = read_pairs};
}

}  // namespace heed::train
