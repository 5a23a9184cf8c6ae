#include "train/translation_task.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/files/file.h"
#include "base/files/fingerprint.h"
#include "base/text/option_error.h"
#include "data/batch/packed_batch.h"
#include "decode/search.h"
#include "distributed/agreement.h"
#include "distributed/collectives.h"
#include "models/directory_files.h"
#include "models/generation_defaults.h"
#include "models/model_directory.h"
#include "models/seq2seq.h"
#include "ops/elementwise.h"
#include "text/bleu.h"
#include "text/chrf.h"
#include "train/guided_alignment.h"
#include "train/head_choice.h"
#include "train/sharded_batches.h"
#include "train/trainer.h"
#include "train/translation_data.h"

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

class TranslationObjective : public Objective {
 public:
  TranslationObjective(const TaskInput& input, const TranslationData& data, const models::Model& model)
      : input_(input), recipe_(input.options.recipe), data_(data), model_(fitting_model(recipe_, model)) {
    if (recipe_.guided_alignment) guided_head_ = guided_head(recipe_, model);
    if (!model_.translates_sentences()) generation_ = generation_of_family();
  }

  double weight(const Batch& batch) const override { return static_cast<double>(batch.target_tokens); }

  BatchLoss loss(nn::Context& context, const Batch& batch, double scale) const override {
    const TranslationBatch input = pack_translation(data_.corpus, batch.sentences, model_.start_id());
    std::optional<GuidedHead> head;
    if (data_.links) {
      context.sink = &head.emplace(*guided_head_, guided_links(*data_.links, batch.sentences, input),
                                   recipe_.guided_alignment_weight * scale);
    }
    ops::VocabularyLoss loss = model_loss(context, input, {.smoothing = recipe_.label_smoothing}, scale);
    if (head) {
      context.sink = nullptr;
      loss.loss = ops::add(loss.loss, head->loss());
      loss.loss_sum += static_cast<double>(head->loss().value().data<float>()[0]) / scale;
    }
    return {loss.loss, sums_of(loss)};
  }

  bool has_validation() const override { return data_.validation.has_value(); }

  ValidationScores validate(const nn::ParameterArray& values) const override {
    const nn::PackedWeights weights(model_.table(), values);
    const auto batches =
        length_sorted_batches(sizes_of(*data_.validation), recipe_.batch_tokens / recipe_.shard_count());
    const LossSums sums = sum_losses(input_, weights, batches, [&](nn::Context& context, const Batch& batch) {
      const TranslationBatch input = pack_translation(*data_.validation, batch.sentences, model_.start_id());
      return sums_of(model_loss(context, input, {}, 1));
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

  void write_files(const std::string& directory) const override {
    models::write_generation_defaults(directory, generation_.value_or(own_generation()),
                                      {.padding = model_.padding_id(),
                                       .end = model_.end_id(),
                                       .begin = generation_ ? -1 : model_.end_id(),
                                       .start = model_.start_id()});
    if (recipe_.guided_alignment) models::write_alignment_heads(directory, {*guided_head_});
  }

  /// With guided alignment the head is known; otherwise the heads that align words best are chosen.
  void finish(const std::string& directory) const override {
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

  /// The settings of a fine-tuned model of another family than Marian, with the target language.
  models::GenerationDefaults generation_of_family() const {
    const std::string& output = input_.options.output;
    const std::string& from = is_present(output + "/generation_config.json") ? output : recipe_.from;
    models::GenerationDefaults generation =
        models::read_generation_defaults(from, models::read_config(from), models::Task::kTranslation);
    if (data_.tokenizer.target_begins_with_language()) {
      generation.forced_begin_id = *data_.tokenizer.first_target_id();
    }
    return generation;
  }

  ops::VocabularyLoss model_loss(nn::Context& context, const TranslationBatch& input,
                                 const ops::CrossEntropyOptions& options, double scale) const {
    return model_.loss(context, input.source, input.decoder_input, input.labels, options, scale);
  }
  static LossSums sums_of(const ops::VocabularyLoss& loss) {
    return {loss.loss_sum, loss.negative_log_likelihood, static_cast<double>(loss.tokens), loss.tokens};
  }

  /// An untrained model does not predict the end token: translations are limited to 2 * source + 10 tokens.
  decode::SearchOptions search_options() const {
    decode::SearchOptions options;
    options.beam_size = recipe_.validation_beam_size;
    options.max_length_factor = 2;
    options.max_length_offset = 10;
    options.forbidden_ids = {model_.padding_id()};
    if (generation_) options.forced_begin_id = generation_->forced_begin_id;
    return options;
  }

  /// The best translations, in the order of the sources, independent of threads and ranks.
  std::vector<std::string> translate(const nn::PackedWeights& weights) const {
    EncodeOptions encode_options;
    encode_options.max_length = static_cast<size_t>(model_.max_length());
    const auto& lines = data_.validation_source;
    const distributed::Slices parts(static_cast<int64_t>(lines.size()), input_.ranks->size());
    const distributed::Range own = parts.of(input_.ranks->rank());
    std::vector<std::string> translations(static_cast<size_t>(own.size()));
    distributed::together(*input_.ranks, [&] {
      std::vector<decode::SearchSentence> sentences;
      for (size_t n = 0; n < translations.size(); ++n) {
        const std::string& line = lines[static_cast<size_t>(own.begin) + n];
        sentences.push_back({n, data_.tokenizer.encode_source(line, encode_options).ids});
      }
      const decode::Search search(model_, weights.context(), search_options());
      input_.stop.check();
      decode::search_all(search, std::move(sentences), input_.pool,
                         [&](uint64_t number, std::vector<decode::Hypothesis> hypotheses) {
                           input_.stop.check();
                           if (!hypotheses.empty())
                             translations[number] = data_.tokenizer.decode(hypotheses[0].ids);
                         });
    });
    std::vector<std::string> all;
    for (std::vector<std::string>& each : distributed::all_gather_strings(*input_.ranks, translations)) {
      std::ranges::move(each, std::back_inserter(all));
    }
    return all;
  }

  const TaskInput& input_;
  const Recipe& recipe_;
  const TranslationData& data_;
  const models::Seq2Seq& model_;
  std::optional<models::AlignmentHead> guided_head_;
  std::optional<models::GenerationDefaults> generation_;  // of a model of another family than Marian
};

class PreparedTranslation : public PreparedText {
 public:
  PreparedTranslation(const TaskInput& input, const PairsText& text)
      : input_(input), data_(prepare_translation_data(input, text)) {}

  uint64_t fingerprint() const override {
    Fingerprint all;
    all.add_number(data_.corpus.content_fingerprint());
    if (data_.validation) all.add_number(data_.validation->content_fingerprint());
    return all.value();
  }

  std::string amount() const override { return counted(data_.corpus.sentences(), "pair"); }

  void complete(models::ModelSettings& settings) const override {
    settings.vocabulary = static_cast<int64_t>(data_.tokenizer.size());
    settings.padding_id = settings.start_id = data_.tokenizer.pad_id();
    settings.end_id = data_.tokenizer.end_id();
  }

  std::unique_ptr<BatchSource> batches(const BatchCursor& place) const override {
    return shuffled_batches(data_.corpus, input_.options.recipe, place);
  }
  std::unique_ptr<Objective> objective(const models::Model& model) const override {
    return std::make_unique<TranslationObjective>(input_, data_, model);
  }

 private:
  const TaskInput& input_;
  const TranslationData data_;
};

class PairsToTranslate : public CheckedText {
 public:
  explicit PairsToTranslate(const TaskInput& input) : input_(input), text_(read_pairs_text(input)) {}
  uint64_t fingerprint() const override {
    Fingerprint all;
    all.add_number(text_.training.fingerprint());
    all.add_number(text_.validation);
    return all.value();
  }
  void require_fit(const models::Model& model) const override { fitting_model(input_.options.recipe, model); }
  std::unique_ptr<PreparedText> prepare() const override {
    return std::make_unique<PreparedTranslation>(input_, text_);
  }

 private:
  const TaskInput input_;
  const PairsText text_;
};

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
          .read = [](const TaskInput& input) -> std::unique_ptr<CheckedText> {
            return std::make_unique<PairsToTranslate>(input);
          }};
}

}  // namespace heed::train
