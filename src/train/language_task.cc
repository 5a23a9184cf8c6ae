#include "train/language_task.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/fingerprint.h"
#include "data/block_batcher.h"
#include "data/corpus_builder.h"
#include "models/generation_defaults.h"
#include "models/language_model.h"
#include "text/text_tokenizer.h"
#include "train/prepared_corpus.h"
#include "train/prepared_tokenizer.h"
#include "train/trainer.h"
#include "train/training_step.h"

namespace heed::train {
namespace {

const std::vector<std::string>& tokenizer_files() {
  static const std::vector<std::string> names{"tokenizer_config.json", "vocab.json", "merges.txt",
                                              "tokenizer.json", "tokenizer.model"};
  return names;
}

/// The words of tokenizer.type.
struct TokenizerWord {
  const char* word;
  TextTokenizerKind kind;
  SubwordType subwords;
};
constexpr TokenizerWord kTokenizers[] = {
    {"characters", TextTokenizerKind::kCharacters, SubwordType::kBpe},
    {"bytes", TextTokenizerKind::kBytes, SubwordType::kBpe},
    {"bpe", TextTokenizerKind::kByteBpe, SubwordType::kBpe},
    {"sentencepiece", TextTokenizerKind::kSentencePiece, SubwordType::kBpe},
    {"unigram", TextTokenizerKind::kSentencePiece, SubwordType::kUnigram},
};

RunningTextOptions running_options(const TrainingText& text, const Recipe& recipe) {
  return {.lines = text.lines, .documents = recipe.document_boundaries};
}

/// Learns a tokenizer and writes its files.
void learn_tokenizer(const TaskInput& input, const std::string& directory) {
  const TrainerOptions& options = input.options;
  const Recipe& recipe = options.recipe;
  TextTokenizerOptions wanted;
  for (const auto& [word, kind, subwords] : kTokenizers) {
    if (recipe.tokenizer != word) continue;
    wanted.kind = kind;
    wanted.subwords = subwords;
  }
  wanted.vocabulary_size = recipe.vocabulary;
  wanted.seed = recipe.seed;
  RunningText text(options.data.text, running_options(options.data, recipe));
  const auto next = [&](std::string& chunk) {
    TextChunk read;
    if (!text.next(read)) return false;
    chunk = std::move(read.text);
    return true;
  };
  TextTokenizer::train(wanted, next)->save(directory);
}

/// A text as ids, and how many characters it had.
struct RunningCorpus {
  Corpus corpus;
  uint64_t characters;
};

RunningCorpus prepare_corpus(const TrainingText& text, const RunningTextFacts& facts, const std::string& file,
                             const TextTokenizer& tokenizer, const TaskInput& input) {
  const Recipe& recipe = input.options.recipe;
  const std::string& output = input.options.output;
  const std::string path = output + "/training/" + file;
  const CorpusOrigin origin{facts.fingerprint, fingerprint_files(output, tokenizer_files()), kNoLimit};
  Corpus corpus = prepared_corpus(input, {path, "'" + text.text + "'", origin}, [&] {
    RunningText reader(text.text, running_options(text, recipe));
    CorpusBuildOptions build;
    build.vocabulary_size = static_cast<uint32_t>(tokenizer.size());
    build.max_length = kNoLimit;
    build.tokenizer_fingerprint = origin.tokenizer;
    build.pool = &input.pool;
    build.stop = input.stop;
    const auto encode = [&](std::string_view chunk, uint64_t) {
      return std::vector<std::vector<int32_t>>{tokenizer.ids(chunk)};
    };
    const int32_t document_end = recipe.document_boundaries ? *tokenizer.end_id() : -1;
    build_running_corpus(reader, encode, document_end, path, build);
  });
  input.say(fmt::format("'{}': {} characters, {} tokens", text.text, facts.characters, corpus.stream_ids(0)));
  return {std::move(corpus), facts.characters};
}

class LanguageTask : public Task {
 public:
  explicit LanguageTask(const TaskInput& input)
      : input_(input), recipe_(input.options.recipe), block_(static_cast<uint64_t>(recipe_.block_size)) {
    if (recipe_.batch_tokens < recipe_.block_size) {
      fail(ErrorKind::kUsage, "training.batch_tokens ({}) must not be below training.block_size ({})",
           recipe_.batch_tokens, recipe_.block_size);
    }
    const bool spells = recipe_.tokenizer == "characters" || recipe_.tokenizer == "bytes";
    if (recipe_.document_boundaries && recipe_.from.empty() && spells) {
      require_end(false);
    }
    const TrainerOptions& options = input.options;
    training_facts_ = running_text_facts(options.data.text, running_options(options.data, recipe_));
    if (options.validation.is_named()) {
      validation_facts_ =
          running_text_facts(options.validation.text, running_options(options.validation, recipe_));
    }
    if (!recipe_.from.empty() && !input.begun) TextTokenizer::load(recipe_.from);
  }

  void prepare() override {
    const TrainerOptions& options = input_.options;
    const bool made =
        prepare_tokenizer(input_, training_facts_.fingerprint,
                          [&](const std::string& directory) { learn_tokenizer(input_, directory); });
    tokenizer_ = TextTokenizer::load(options.output);
    if (made) input_.say(fmt::format("tokenizer: {} tokens ({})", tokenizer_->size(), recipe_.tokenizer));
    if (recipe_.document_boundaries) require_end(tokenizer_->end_id().has_value());
    if (tokenizer_->starts_every_text()) start_ = tokenizer_->start_id();
    training_.emplace(prepare_corpus(options.data, training_facts_, "train.ids", *tokenizer_, input_));
    if (end_of(*training_) - first_label() < block_) {
      fail(ErrorKind::kUsage,
           "'{}' has {} tokens, and a block has {}: give more text, or a smaller training.block_size",
           options.data.text, end_of(*training_), block_);
    }
    if (!options.validation.is_named()) return;
    validation_.emplace(
        prepare_corpus(options.validation, validation_facts_, "valid.ids", *tokenizer_, input_));
    if (end_of(*validation_) <= first_label()) {
      fail(ErrorKind::kUsage, "'{}' is too short to validate with", options.validation.text);
    }
  }

  uint64_t fingerprint() const override {
    Fingerprint all;
    all.add_number(training_->corpus.content_fingerprint());
    if (validation_) all.add_number(validation_->corpus.content_fingerprint());
    return all.value();
  }

  void complete(models::ModelSettings& settings) const override {
    settings.vocabulary = tokenizer_->size();
    settings.start_id = tokenizer_->start_id().value_or(-1);
    settings.end_id = tokenizer_->end_id().value_or(-1);
  }

  void use(const models::Model& model) override {
    model_ = dynamic_cast<const models::LanguageModel*>(&model);
    HEED_CHECK(model_ != nullptr);
    if (model_->max_length() > 0 && recipe_.block_size > model_->max_length()) {
      fail(ErrorKind::kUsage, "training.block_size ({}) must not be above model.max_length ({})",
           recipe_.block_size, model_->max_length());
    }
  }

  void write_files(const std::string& directory) const override {
    models::GenerationDefaults generation;
    if (model_->max_length() > 0) generation.max_length = model_->max_length();
    models::write_generation_defaults(
        directory, generation,
        {.end = tokenizer_->end_id().value_or(-1), .begin = tokenizer_->start_id().value_or(-1)});
  }

  std::string amount() const override { return fmt::format("{} tokens of text", end_of(*training_)); }

  void begin(const BatchCursor& place) override {
    const BlockBatcherOptions options{
        .seed = recipe_.seed, .block = block_, .blocks = blocks_of(recipe_.batch_tokens)};
    batcher_.emplace(first_label(), end_of(*training_), options, place);
  }
  BatchCursor place() const override { return batcher_->cursor(); }
  double epochs() const override { return batcher_->epochs(); }
  std::vector<Batch> next_batch(size_t parts) override { return split_into_shards(batcher_->next(), parts); }

  double weight(Part, const Batch& batch) const override { return static_cast<double>(batch.target_tokens); }

  BatchLoss loss(nn::Context& context, Part part, const Batch& batch, double scale) const override {
    const bool training = part == Part::kTraining;
    const Corpus& corpus = (training ? *training_ : *validation_).corpus;
    Sequences text;
    std::vector<int32_t> labels;
    for (size_t n = 0; n < batch.sentences.size(); ++n) {
      const auto length = static_cast<uint64_t>(batch.sizes[n].target);
      append_block(corpus, batch.sentences[n], length, text);
      corpus.append_run(batch.sentences[n], length, labels);
    }
    const ops::VocabularyLoss loss =
        model_->loss(context, text, labels, {.smoothing = training ? recipe_.label_smoothing : 0}, scale);
    return {loss.loss,
            {loss.loss_sum, loss.negative_log_likelihood, static_cast<double>(loss.tokens), loss.tokens}};
  }

  bool has_validation() const override { return validation_.has_value(); }

  ValidationScores validate(const nn::ParameterArray& values, TrainingStep& step,
                            ThreadPool&) const override {
    const uint64_t most = recipe_.validation_max_tokens == 0 ? 0 : blocks_of(recipe_.validation_max_tokens);
    const LossSums sums =
        step.evaluate(running_blocks(first_label(), end_of(*validation_), block_, most,
                                     blocks_of(recipe_.batch_tokens / recipe_.shard_count())),
                      values);
    ValidationScores scores;
    scores.loss = sums.negative_log_likelihood / sums.weight;
    scores.quality = -scores.loss;
    const double tokens_per_character =
        static_cast<double>(end_of(*validation_)) / static_cast<double>(validation_->characters);
    scores.others = {{"perplexity", std::exp(scores.loss)},
                     {"bits_per_character", scores.loss * tokens_per_character / std::numbers::ln2}};
    return scores;
  }

 private:
  void require_end(bool has_end) const {
    if (has_end) return;
    fail(ErrorKind::kUsage,
         "training.document_boundaries puts an end behind each document, which a tokenizer of {} does not "
         "have; set "
         "tokenizer.type to bpe, sentencepiece or unigram",
         recipe_.tokenizer);
  }
  static uint64_t end_of(const RunningCorpus& text) { return text.corpus.stream_ids(0); }
  uint64_t blocks_of(int64_t tokens) const {
    return std::max<uint64_t>(1, static_cast<uint64_t>(tokens) / block_);
  }
  /// Where every text has a start, blocks begin with it and may be asked for any token; else a token is in
  /// front of each, and none is asked for the first.
  uint64_t first_label() const { return start_ ? 0 : 1; }

  /// What is read where the labels are those from number `first` on: each label's predecessor.
  void append_block(const Corpus& corpus, uint64_t first, uint64_t length, Sequences& text) const {
    if (start_) {
      text.ids.push_back(*start_);
      corpus.append_run(first, length - 1, text.ids);
    } else {
      corpus.append_run(first - 1, length, text.ids);
    }
    text.close();
  }

  const TaskInput input_;
  const Recipe& recipe_;
  const uint64_t block_;
  RunningTextFacts training_facts_, validation_facts_;
  std::unique_ptr<TextTokenizer> tokenizer_;
  std::optional<int32_t> start_;
  std::optional<RunningCorpus> training_, validation_;
  const models::LanguageModel* model_ = nullptr;
  std::optional<BlockBatcher> batcher_;
};

void preset(models::PresetSize size, Recipe& recipe) {
  recipe.tokenizer = "bpe";
  recipe.vocabulary = 4096;
  recipe.label_smoothing = 0;
  recipe.optimizer = "adamw";
  recipe.beta2 = 0.99;
  recipe.epsilon = 1e-8;
  recipe.weight_decay = 0.1;
  recipe.clip_norm = 1;
  recipe.metric = "loss";
  recipe.block_size = std::min<int64_t>(recipe.model.max_length, 512);  // all that the model can look back on
  recipe.decay = 0.995;
  recipe.validate_every = 500;
  recipe.validation_max_tokens = 200000;
  if (size == models::PresetSize::kTiny) {  // learns something in seconds
    recipe.tokenizer = "characters";
    recipe.batch_tokens = 768;
    recipe.decay = 0.98;
    recipe.validate_every = 100;
    recipe.validation_max_tokens = 20000;
  } else if (size == models::PresetSize::kBase) {
    recipe.vocabulary = 16000;
    recipe.batch_tokens = 8192;
  }
}

void check(const TrainerOptions& options) {
  require_text(options, "a language model", "text");
}

}  // namespace

TaskKind language_kind() {
  std::vector<std::string> tokenizers;
  for (const TokenizerWord& each : kTokenizers) tokenizers.emplace_back(each.word);
  return {.task = models::Task::kLanguageModel,
          .name = "lm",
          .training = "training a language model",
          .settings = {{"tokenizer.type", tokenizers},
                       {"training.block_size", {}},
                       {"training.document_boundaries", {}},
                       {"validation.max_tokens", {}},
                       {"validation.metric", {"loss"}}},
          .tokenizer_files = tokenizer_files(),
          .preset = preset,
          .check = check,
          .make = [](const TaskInput& input) -> std::unique_ptr<Task> {
            return std::make_unique<LanguageTask>(input);
          }};
}

}  // namespace heed::train
