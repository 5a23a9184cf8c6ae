#include "train/tasks/language_task.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/text/printable.h"
#include "data/batch/block_batcher.h"
#include "data/corpus_builder.h"
#include "models/directory/generation_defaults.h"
#include "models/language_model.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/unicode/whitespace.h"
#include "train/loop/sharded_batches.h"
#include "train/loop/trainer.h"
#include "train/tasks/prepared_corpus.h"
#include "train/tasks/prepared_tokenizer.h"

namespace heed::train {
namespace {

const std::vector<std::string>& language_model_tokenizer_files() {
  static const std::vector<std::string> names{model_file::kTokenizerConfig, model_file::kVocabularyJson,
                                              model_file::kMerges,          model_file::kTokenizerJson,
                                              model_file::kTokenizerModel,  model_file::kAddedTokens};
  return names;
}

/// The values of tokenizer.type.
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

/// Trains a tokenizer and writes its files.
void learn_language_model_tokenizer(const TaskInput& input, const std::string& directory) {
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
  train_language_tokenizer(wanted, next).save(directory);
}

/// A tokenized text and its number of characters.
struct RunningCorpus {
  Corpus corpus;
  uint64_t characters;
};

RunningCorpus prepare_corpus(const TrainingText& text, const RunningTextFacts& facts, const std::string& file,
                             const ModelTokenizer& tokenizer, const TaskInput& input) {
  constexpr size_t kShownBytes = 40;
  const Recipe& recipe = input.options.recipe;
  const std::string& output = input.options.output;
  const std::string path = output + "/training/" + file;
  const CorpusOrigin origin{facts.fingerprint, fingerprint_files(output, language_model_tokenizer_files()),
                            kNoLimit};
  Corpus corpus = prepared_corpus(input, {path, "'" + text.text + "'", origin}, [&] {
    RunningText reader(text.text, running_options(text, recipe));
    CorpusBuildOptions build;
    build.vocabulary_size = static_cast<uint32_t>(tokenizer.size());
    build.max_length = kNoLimit;
    build.tokenizer_fingerprint = origin.tokenizer;
    build.pool = &input.pool;
    build.stop = input.stop;
    const auto encode = [&](std::string_view chunk, uint64_t) {
      try {
        return std::vector<std::vector<int32_t>>{tokenizer.ids(chunk)};
      } catch (const Error& error) {  // which is about the part alone
        fail(error.kind(), "'{}', in the part that begins with '{}': {}", text.text,
             shown(strip(chunk), kShownBytes), error.what());
      }
    };
    const int32_t document_end = recipe.document_boundaries ? *tokenizer.end_id() : -1;
    build_running_corpus(reader, encode, document_end, path, build);
  });
  input.say(fmt::format("'{}': {} characters, {} tokens", text.text, facts.characters, corpus.stream_ids(0)));
  return {std::move(corpus), facts.characters};
}

/// Tokenizer and tokenized texts.
struct LanguageData {
  ModelTokenizer tokenizer;
  std::optional<int32_t> start;  ///< the start token, if every text begins with one
  std::optional<RunningCorpus> training, validation;
  uint64_t block = 0;

  static uint64_t end_of(const RunningCorpus& text) { return text.corpus.stream_ids(0); }
  uint64_t blocks_of(int64_t tokens) const {
    return std::max<uint64_t>(1, static_cast<uint64_t>(tokens) / block);
  }
  uint64_t fingerprint() const {
    if (!validation) return fingerprint_of_texts(training->corpus.content_fingerprint(), {});
    return fingerprint_of_texts(training->corpus.content_fingerprint(),
                                validation->corpus.content_fingerprint());
  }
  /// With a start token, blocks begin with it and every token can be a label; otherwise each block begins
  /// with the preceding token, and the first token of the text is no label.
  uint64_t first_label() const { return start ? 0 : 1; }

  /// The input for `length` labels from number `first` on: each label's predecessor.
  void append_block(const Corpus& corpus, uint64_t first, uint64_t length, Sequences& text) const {
    if (start) {
      text.ids.push_back(*start);
      corpus.append_run(first, length - 1, text.ids);
    } else {
      corpus.append_run(first - 1, length, text.ids);
    }
    text.close();
  }
};

const models::LanguageModel& fitting_language_model(const Recipe& recipe, const models::Model& model) {
  const auto* language_model = dynamic_cast<const models::LanguageModel*>(&model);
  HEED_CHECK(language_model != nullptr);
  if (language_model->max_length() > 0 && recipe.block_size > language_model->max_length()) {
    fail(ErrorKind::kUsage, "training.block_size ({}) must not be above model.max_length ({})",
         recipe.block_size, language_model->max_length());
  }
  return *language_model;
}

/// A language model in training.
class LanguageModelling {
 public:
  LanguageModelling(const TaskInput& input, LanguageData data, const models::LanguageModel& model)
      : input_(input), recipe_(input.options.recipe), data_(std::move(data)), model_(model) {}

  const LanguageData& data() const { return data_; }

  std::unique_ptr<BatchSource> batches(const BatchCursor& cursor, int64_t batch_tokens) const {
    const BlockBatcherOptions options{
        .seed = recipe_.seed, .block = data_.block, .blocks = data_.blocks_of(batch_tokens)};
    return std::make_unique<ShardedBatches<BlockBatcher>>(
        BlockBatcher(data_.first_label(), LanguageData::end_of(*data_.training), options, cursor));
  }

  BatchLoss loss(nn::Context& context, const Batch& batch, double scale) const {
    const ops::VocabularyLoss loss = model_loss(context, data_.training->corpus, batch,
                                                {.smoothing = recipe_.label_smoothing, .scale = scale});
    return {loss.loss, sums_of(loss)};
  }

  ValidationScores validate(const nn::ParameterArray& values) const {
    const nn::PackedWeights weights(model_.table(), values);
    const uint64_t end = LanguageData::end_of(*data_.validation);
    const uint64_t most =
        recipe_.validation_max_tokens == 0 ? 0 : data_.blocks_of(recipe_.validation_max_tokens);
    const auto batches = running_blocks(data_.first_label(), end, data_.block, most,
                                        data_.blocks_of(recipe_.batch_tokens / recipe_.shard_count()));
    const LossSums sums = sum_losses(input_, weights, batches, [&](nn::Context& context, const Batch& batch) {
      return sums_of(model_loss(context, data_.validation->corpus, batch, {}));
    });
    ValidationScores scores;
    scores.loss = sums.negative_log_likelihood / sums.weight;
    scores.quality = -scores.loss;
    const double tokens_per_character =
        static_cast<double>(end) / static_cast<double>(data_.validation->characters);
    scores.others = {{"perplexity", std::exp(scores.loss)},
                     {"bits_per_character", scores.loss * tokens_per_character / std::numbers::ln2}};
    return scores;
  }

  void write_generation_config(const std::string& directory) const {
    models::GenerationDefaults generation = generation_of_source(input_).value_or(own_generation());
    std::vector<int32_t>& ends = generation.end_ids;
    if (const auto end = data_.tokenizer.end_id()) {
      const bool is_learnt = recipe_.document_boundaries && std::ranges::count(ends, *end) == 0;
      if (ends.empty() || is_learnt) ends.push_back(*end);
    }
    models::write_generation_defaults(directory, generation,
                                      {.padding = model_.padding_id(),
                                       .end = ends.empty() ? -1 : ends.front(),
                                       .begin = data_.tokenizer.start_id().value_or(-1)});
  }

 private:
  models::GenerationDefaults own_generation() const {
    models::GenerationDefaults generation;
    if (model_.max_length() > 0) generation.max_length = model_.max_length();
    return generation;
  }

  ops::VocabularyLoss model_loss(nn::Context& context, const Corpus& corpus, const Batch& batch,
                                 const ops::CrossEntropyOptions& options) const {
    Sequences text;
    std::vector<int32_t> labels;
    for (size_t n = 0; n < batch.sentences.size(); ++n) {
      const auto length = static_cast<uint64_t>(batch.sizes[n].target);
      data_.append_block(corpus, batch.sentences[n], length, text);
      corpus.append_run(batch.sentences[n], length, labels);
    }
    return model_.loss(context, text, labels, options);
  }
  static LossSums sums_of(const ops::VocabularyLoss& loss) {
    return {loss.loss_sum, loss.negative_log_likelihood, static_cast<double>(loss.tokens), loss.tokens};
  }

  const TaskInput input_;
  const Recipe& recipe_;
  const LanguageData data_;
  const models::LanguageModel& model_;
};

/// What is known of the texts before the tokenizer is.
struct RunningTexts {
  RunningTextFacts training, validation;
};

void require_end(const Recipe& recipe, bool has_end) {
  if (has_end) return;
  fail(
      ErrorKind::kUsage,
      "training.document_boundaries puts an end behind each document, which a tokenizer of {} does not have; "
      "set tokenizer.type to bpe, sentencepiece or unigram",
      recipe.tokenizer);
}

RunningTexts read_running_texts(const TaskInput& input) {
  const TrainerOptions& options = input.options;
  const Recipe& recipe = options.recipe;
  if (recipe.batch_tokens < recipe.block_size) {
    fail(ErrorKind::kUsage,
         "training.batch_tokens ({}) must not be below training.block_size ({}, by default model.max_length)",
         recipe.batch_tokens, recipe.block_size);
  }
  const bool spells = recipe.tokenizer == "characters" || recipe.tokenizer == "bytes";
  if (recipe.document_boundaries && recipe.from.empty() && spells) require_end(recipe, false);
  RunningTexts texts;
  texts.training = running_text_facts(options.data.text, running_options(options.data, recipe));
  if (options.validation.is_named()) {
    texts.validation =
        running_text_facts(options.validation.text, running_options(options.validation, recipe));
  }
  if (!recipe.from.empty() && !input.begun) {
    load_language_tokenizer(recipe.from);
    generation_of_source(input);
  }
  return texts;
}

LanguageData prepare_language_data(const TaskInput& input, const RunningTexts& texts) {
  const TrainerOptions& options = input.options;
  const Recipe& recipe = options.recipe;
  const bool made = prepare_tokenizer(input, texts.training.fingerprint, [&](const std::string& directory) {
    learn_language_model_tokenizer(input, directory);
  });
  LanguageData data;
  data.block = static_cast<uint64_t>(recipe.block_size);
  data.tokenizer = load_language_tokenizer(options.output);
  if (made) input.say(described_tokenizer(recipe, counted(data.tokenizer.size(), "token")));
  if (recipe.document_boundaries) require_end(recipe, data.tokenizer.end_id().has_value());
  if (data.tokenizer.starts_every_text()) data.start = data.tokenizer.start_id();
  data.training.emplace(prepare_corpus(options.data, texts.training, "train.ids", data.tokenizer, input));
  const uint64_t tokens = LanguageData::end_of(*data.training);
  if (tokens - data.first_label() < data.block) {
    fail(ErrorKind::kUsage,
         "'{}' has {} tokens, and a block has {}: give more text, or a smaller training.block_size",
         options.data.text, tokens, data.block);
  }
  if (options.validation.is_named()) {
    data.validation.emplace(
        prepare_corpus(options.validation, texts.validation, "valid.ids", data.tokenizer, input));
    if (LanguageData::end_of(*data.validation) <= data.first_label()) {
      fail(ErrorKind::kUsage, "'{}' is too short to validate with", options.validation.text);
    }
  }
  return data;
}

Task language_task(const TaskInput& input, const RunningTexts& texts, const MakeModel& make_model) {
  const Recipe& recipe = input.options.recipe;
  LanguageData data = prepare_language_data(input, texts);
  models::ModelSettings settings = recipe.model;
  settings.vocabulary = data.tokenizer.size();
  settings.start_id = data.tokenizer.start_id().value_or(-1);
  settings.end_id = data.tokenizer.end_id().value_or(-1);
  const models::LanguageModel& model = fitting_language_model(recipe, make_model(settings));
  const auto all = std::make_shared<const LanguageModelling>(input, std::move(data), model);

  Task task;
  task.amount = fmt::format("{} tokens of text", LanguageData::end_of(*all->data().training));
  task.fingerprint = all->data().fingerprint();
  task.batches = [all](const BatchCursor& cursor, int64_t batch_tokens) {
    return all->batches(cursor, batch_tokens);
  };
  task.weight = [](const Batch& batch) { return static_cast<double>(batch.target_tokens); };
  task.loss = [all](nn::Context& context, const Batch& batch, double scale) {
    return all->loss(context, batch, scale);
  };
  if (all->data().validation) {
    task.validate = [all](const nn::ParameterArray& values) { return all->validate(values); };
  }
  task.write_generation_config = [all](const std::string& directory) {
    all->write_generation_config(directory);
  };
  return task;
}

CheckedText read_text(const TaskInput& input) {
  const RunningTexts texts = read_running_texts(input);
  return {fingerprint_of_texts(texts.training.fingerprint, texts.validation.fingerprint),
          [input](const models::Model& model) { fitting_language_model(input.options.recipe, model); },
          [input, texts](const MakeModel& make_model) { return language_task(input, texts, make_model); }};
}

void language_model_preset(models::PresetSize size, Recipe& recipe) {
  recipe.tokenizer = "bpe";
  recipe.vocabulary = 4096;
  recipe.label_smoothing = 0;
  recipe.optimizer = "adamw";
  recipe.beta2 = 0.99;
  recipe.epsilon = 1e-8;
  recipe.weight_decay = 0.1;
  recipe.clip_norm = 1;
  recipe.metric = "loss";
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

void check_language_model_options(const TrainerOptions& options) {
  require_text(options, "a language model", "text");
}

}  // namespace

TaskKind language_kind() {
  return {.task = models::Task::kLanguageModel,
          .name = "lm",
          .training = "training a language model",
          .tokenizer_files = language_model_tokenizer_files(),
          .preset = language_model_preset,
          .check = check_language_model_options,
          .read = read_text};
}

}  // namespace heed::train
