#include "train/tasks/classification_task.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/files/fingerprint.h"
#include "data/corpus/readers/labelled_reader.h"
#include "data/corpus_builder.h"
#include "models/architecture.h"
#include "train/loop/sharded_batches.h"
#include "train/loop/trainer.h"
#include "train/tasks/classification_model.h"
#include "train/tasks/prepared_corpus.h"
#include "train/tasks/prepared_tokenizer.h"

namespace heed::train {
namespace {

const std::vector<std::string>& classifier_tokenizer_files() {
  static const std::vector<std::string> names{model_file::kVocabularyTxt, model_file::kTokenizerJson,
                                              model_file::kTokenizerConfig};
  return names;
}

/// Parses a label that is an integer.
std::optional<int64_t> number_of(const std::string& label) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  if (error != std::errc() || end != label.data() + label.size()) return std::nullopt;
  return number;
}

/// Statistics of the training text, from one pass over it.
struct Labels {
  std::vector<std::string> names;  ///< the labels; integers in numerical order, others by bytes
  uint64_t fingerprint = 0;        ///< of the file
};

Labels labels_of(const TrainingText& text) {
  std::set<std::string> found;
  LabelledReader reader(text.text, text.lines);
  LabelledText each;
  while (reader.next(each)) found.emplace(each.label);
  Labels labels{{found.begin(), found.end()}, reader.fingerprint().value()};
  if (found.size() < 2) {
    fail(ErrorKind::kFormat, "{}: every line has the label '{}'; a classifier needs two to tell apart",
         reader.name(), labels.names[0]);
  }
  if (std::ranges::all_of(found, [](const auto& label) { return number_of(label).has_value(); })) {
    std::ranges::stable_sort(labels.names, {}, [](const auto& label) { return *number_of(label); });
  }
  return labels;
}

/// Reads all texts; of a pair, both.
NextLine lines_of(const TrainingText& text) {
  auto reader = std::make_shared<LabelledReader>(text.text, text.lines);
  return [reader](std::string& line) {
    LabelledText each;
    if (!reader->next(each)) return false;
    line = each.first;
    if (each.second) line.append(" ").append(*each.second);
    return true;
  };
}

/// Trains a tokenizer and writes its files.
void train_classifier_tokenizer(const TaskInput& input, const std::string& directory) {
  const Recipe& recipe = input.options.recipe;
  WordPieceTrainOptions wanted;
  wanted.vocabulary_size = static_cast<size_t>(recipe.vocabulary);
  wanted.settings.words.lowercase = wanted.settings.words.strip_accents = recipe.lowercase;
  wanted.settings.max_length = static_cast<size_t>(recipe.model.max_length);
  wanted.settings.token_types = models::architecture_named(recipe.arch).token_types;
  train_wordpiece(wanted, lines_of(input.options.data)).save(directory);
}

/// The texts before the tokenizer is there.
struct TextsWithLabels {
  Labels labels;
  LabelledTexts validation;

  std::optional<int32_t> find_label(std::string_view label) const {
    const auto found = std::ranges::find(labels.names, label);
    if (found == labels.names.end()) return std::nullopt;
    return static_cast<int32_t>(found - labels.names.begin());
  }
};

void read_validation(const TrainingText& text, TextsWithLabels& texts) {
  LabelledReader reader(text.text, text.lines);
  LabelledText each;
  while (reader.next(each)) {
    const auto label = texts.find_label(each.label);
    if (!label) {
      fail(ErrorKind::kFormat, "line {} of {}: the training text has no label '{}'; it has {}", each.line,
           reader.name(), each.label, fmt::join(texts.labels.names, ", "));
    }
    texts.validation.labels.push_back(*label);
    texts.validation.texts.push_back({std::string(each.first), {}});
    if (each.second) texts.validation.texts.back().second = *each.second;
  }
  texts.validation.fingerprint = reader.fingerprint().value();
}

TextsWithLabels read_texts_with_labels(const TaskInput& input) {
  TextsWithLabels texts{labels_of(input.options.data), {}};
  if (input.options.validation.is_named()) read_validation(input.options.validation, texts);
  const std::string& from = input.options.recipe.from;
  if (!from.empty() && !input.begun) load_encoder_tokenizer(from);
  return texts;
}

using Segmentations = std::vector<std::vector<int32_t>>;

/// The ids of a text, or of two texts with a tab between them, truncated to the maximum length.
std::vector<int32_t> encode(const ModelTokenizer& tokenizer, std::string_view columns,
                            const EncodeOptions& options) {
  const size_t tab = columns.find('\t');
  if (tab == std::string_view::npos) return tokenizer.encode(columns, options).ids;
  return tokenizer.encode(columns.substr(0, tab), columns.substr(tab + 1), options).ids;
}

/// With tokenizer.subword_regularization = n, the corpus contains n sampled segmentations of each text,
/// drawn before the training instead of in each epoch.
Segmentations segmentations_of(const Recipe& recipe, const ModelTokenizer& tokenizer,
                               std::string_view columns, uint64_t number) {
  EncodeOptions options{.max_length = static_cast<size_t>(recipe.max_length)};
  if (recipe.subword_regularization == 0) return {encode(tokenizer, columns, options)};
  Random random(RandomKey::from_seed(recipe.seed).fold(2).fold(number));
  options.dropout = {recipe.maxmatch_dropout, recipe.word_dropout, &random};
  Segmentations all;
  for (int n = 0; n < recipe.subword_regularization; ++n) all.push_back(encode(tokenizer, columns, options));
  return all;
}

/// A corpus of two streams: label index, and text with special tokens.
Corpus prepare_corpus(const TaskInput& input, const TextsWithLabels& texts, const ModelTokenizer& tokenizer) {
  const TrainingText& text = input.options.data;
  const std::string& output = input.options.output;
  const Recipe& recipe = input.options.recipe;
  const std::string path = output + "/training/train.ids";
  const CorpusOrigin origin{texts.labels.fingerprint, fingerprint_files(output, classifier_tokenizer_files()),
                            static_cast<uint64_t>(recipe.max_length)};
  return prepared_corpus(input, {path, "'" + text.text + "'", origin}, [&] {
    LabelledReader reader(text.text, text.lines);
    CorpusBuildOptions build;
    build.vocabulary_size =
        static_cast<uint32_t>(std::max(tokenizer.vocabulary().size(), texts.labels.names.size()));
    build.max_length = origin.max_length;
    build.tokenizer_fingerprint = origin.tokenizer;
    build.pool = &input.pool;
    build.stop = input.stop;
    const auto count = static_cast<size_t>(std::max(1, recipe.subword_regularization));
    build_labelled_corpus(
        reader,
        [&](std::string_view label, uint64_t) {
          return Segmentations(count, std::vector<int32_t>{*texts.find_label(label)});
        },
        [&](std::string_view columns, uint64_t number) {
          return segmentations_of(recipe, tokenizer, columns, number);
        },
        path, build);
  });
}

/// n / (classes * n_class): balanced class weights whose mean over all texts is 1.
std::vector<float> balanced_weights(const ClassificationData& data, size_t classes) {
  std::vector<double> counts(classes);
  for (uint64_t text = 0; text < data.training.sentences(); ++text)
    ++counts[static_cast<size_t>(data.label_of(text))];
  std::vector<float> weights;
  for (const double count : counts) {
    weights.push_back(static_cast<float>(static_cast<double>(data.training.sentences()) /
                                         (static_cast<double>(counts.size()) * count)));
  }
  return weights;
}

ClassificationData prepare_classification_data(const TaskInput& input, const TextsWithLabels& texts) {
  const bool made = prepare_tokenizer(input, texts.labels.fingerprint, [&](const std::string& directory) {
    train_classifier_tokenizer(input, directory);
  });
  ModelTokenizer tokenizer = load_encoder_tokenizer(input.options.output);
  if (made) input.say(described_tokenizer(input.options.recipe, counted(tokenizer.size(), "piece")));
  Corpus training = prepare_corpus(input, texts, tokenizer);
  ClassificationData data{std::move(tokenizer), std::move(training), texts.validation};
  if (input.options.recipe.class_weights == "balanced") {
    data.class_weights = balanced_weights(data, texts.labels.names.size());
  }
  return data;
}

Task classification_task(const TaskInput& input, const TextsWithLabels& texts, const MakeModel& make_model) {
  const Recipe& recipe = input.options.recipe;
  const std::vector<std::string>& labels = texts.labels.names;
  ClassificationData data = prepare_classification_data(input, texts);
  models::ModelSettings settings = recipe.model;
  settings.vocabulary = data.tokenizer.size();
  settings.padding_id = data.tokenizer.vocabulary().pad_id();
  settings.start_id = *data.tokenizer.start_id();
  settings.end_id = data.tokenizer.vocabulary().end_id();
  settings.labels = labels;
  const models::Classifier& model = classifier_of(recipe, make_model(settings));
  const auto all = std::make_shared<const Classification>(input, std::move(data), model);

  const Corpus& corpus = all->data().training;
  Task task;
  task.amount = fmt::format("{} of {} classes", counted(corpus.sentences(), "text"), labels.size());
  task.fingerprint = fingerprint_of_texts(corpus.content_fingerprint(), texts.validation.fingerprint);
  task.batches = [all, &recipe](const BatchCursor& cursor, int64_t batch_tokens) {
    return shuffled_batches(all->data().training, {.seed = recipe.seed, .batch_tokens = batch_tokens},
                            cursor);
  };
  task.weight = [all](const Batch& batch) { return all->weight(batch); };
  task.loss = [all](nn::Context& context, const Batch& batch, double scale) {
    return all->loss(context, batch, scale);
  };
  if (!all->data().validation.texts.empty()) {
    task.validate = [all](const nn::ParameterArray& values) { return all->validate(values); };
  }
  return task;
}

CheckedText read_labelled_text(const TaskInput& input) {
  const auto texts = std::make_shared<const TextsWithLabels>(read_texts_with_labels(input));
  return {
      fingerprint_of_texts(texts->labels.fingerprint, texts->validation.fingerprint),
      [input](const models::Model& model) { classifier_of(input.options.recipe, model); },
      [input, texts](const MakeModel& make_model) { return classification_task(input, *texts, make_model); }};
}

void classifier_preset(models::PresetSize size, Recipe& recipe) {
  recipe.tokenizer = "wordpiece";
  recipe.vocabulary = 8000;
  recipe.batch_tokens = 2048;
  recipe.optimizer = "adamw";
  recipe.beta2 = 0.999;
  recipe.epsilon = 1e-8;
  recipe.weight_decay = 0.01;
  recipe.metric = "accuracy";
  recipe.decay = 0.99;
  recipe.validate_every = 100;
  if (size == models::PresetSize::kTiny) {  // learns something in seconds
    recipe.vocabulary = 2000;
    recipe.batch_tokens = 1024;
    recipe.decay = 0.98;
  } else if (size == models::PresetSize::kBase) {
    recipe.vocabulary = 16000;
    recipe.batch_tokens = 4096;
  }
}

void check_classifier_options(const TrainerOptions& options) {
  require_text(options, "a classifier", "lines of LABEL TAB TEXT");
}

}  // namespace

TaskKind classification_kind() {
  return {.task = models::Task::kClassification,
          .name = "classify",
          .training = "training a classifier",
          .tokenizer_files = classifier_tokenizer_files(),
          .preset = classifier_preset,
          .check = check_classifier_options,
          .read = read_labelled_text};
}

}  // namespace heed::train
