#include "train/classification_task.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/files/fingerprint.h"
#include "data/corpus/corpus_builder.h"
#include "data/corpus/labelled_reader.h"
#include "models/architecture.h"
#include "train/classification_objective.h"
#include "train/prepared_corpus.h"
#include "train/prepared_tokenizer.h"
#include "train/sharded_batches.h"
#include "train/trainer.h"

namespace heed::train {
namespace {

const std::vector<std::string>& classifier_tokenizer_files() {
  static const std::vector<std::string> names{"vocab.txt", "tokenizer.json", "tokenizer_config.json"};
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
  WordPieceTokenizer::train(wanted, lines_of(input.options.data)).save(directory);
}

class PreparedClassification : public PreparedText {
 public:
  PreparedClassification(const TaskInput& input, const Labels& labels, const LabelledTexts& validation,
                         ClassificationData data)
      : input_(input), labels_(labels), validation_(validation), data_(std::move(data)) {}

  uint64_t fingerprint() const override {
    Fingerprint all;
    all.add_number(data_.training.content_fingerprint());
    all.add_number(validation_.fingerprint);
    return all.value();
  }

  std::string amount() const override {
    return fmt::format("{} of {} classes", counted(data_.training.sentences(), "text"), labels_.names.size());
  }

  void complete(models::ModelSettings& settings) const override {
    settings.vocabulary = static_cast<int64_t>(data_.tokenizer.size());
    settings.padding_id = data_.tokenizer.pad_id();
    settings.start_id = data_.tokenizer.start_id();
    settings.end_id = data_.tokenizer.end_id();
    settings.labels = labels_.names;
  }

  std::unique_ptr<BatchSource> batches(const BatchCursor& start) const override {
    return shuffled_batches(data_.training, input_.options.recipe, start);
  }
  std::unique_ptr<Objective> objective(const models::Model& model) const override {
    return classification_objective(input_, data_, validation_, model);
  }

 private:
  const TaskInput& input_;
  const Labels& labels_;
  const LabelledTexts& validation_;
  const ClassificationData data_;
};

class TextsWithLabels : public CheckedText {
 public:
  explicit TextsWithLabels(const TaskInput& input)
      : input_(input), recipe_(input.options.recipe), labels_(labels_of(input.options.data)) {
    if (input.options.validation.is_named()) read_validation(input.options.validation);
    if (!recipe_.from.empty() && !input.begun) WordPieceTokenizer::load(recipe_.from);
  }

  uint64_t fingerprint() const override {
    Fingerprint all;
    all.add_number(labels_.fingerprint);
    all.add_number(validation_.fingerprint);
    return all.value();
  }

  void require_fit(const models::Model& model) const override { classifier_of(recipe_, model); }

  std::unique_ptr<PreparedText> prepare() const override {
    const bool made = prepare_tokenizer(input_, labels_.fingerprint, [&](const std::string& directory) {
      train_classifier_tokenizer(input_, directory);
    });
    WordPieceTokenizer tokenizer = WordPieceTokenizer::load(input_.options.output);
    if (made) input_.say(fmt::format("tokenizer: {} pieces (wordpiece)", tokenizer.size()));
    Corpus training = prepare_corpus(tokenizer);
    ClassificationData data{std::move(tokenizer), std::move(training)};
    if (recipe_.class_weights == "balanced") data.class_weights = balanced_weights(data);
    return std::make_unique<PreparedClassification>(input_, labels_, validation_, std::move(data));
  }

 private:
  std::optional<int32_t> find_label(std::string_view label) const {
    const auto found = std::ranges::find(labels_.names, label);
    if (found == labels_.names.end()) return std::nullopt;
    return static_cast<int32_t>(found - labels_.names.begin());
  }

  /// A corpus of two streams: label index, and text with special tokens.
  Corpus prepare_corpus(const WordPieceTokenizer& tokenizer) const {
    const TrainingText& text = input_.options.data;
    const std::string& output = input_.options.output;
    const std::string path = output + "/training/train.ids";
    const CorpusOrigin origin{labels_.fingerprint, fingerprint_files(output, classifier_tokenizer_files()),
                              static_cast<uint64_t>(recipe_.max_length)};
    return prepared_corpus(input_, {path, "'" + text.text + "'", origin}, [&] {
      LabelledReader reader(text.text, text.lines);
      CorpusBuildOptions build;
      build.vocabulary_size = static_cast<uint32_t>(std::max(tokenizer.size(), labels_.names.size()));
      build.max_length = origin.max_length;
      build.tokenizer_fingerprint = origin.tokenizer;
      build.pool = &input_.pool;
      build.stop = input_.stop;
      const auto count = static_cast<size_t>(std::max(1, recipe_.subword_regularization));
      build_labelled_corpus(
          reader,
          [&](std::string_view label, uint64_t) {
            return Segmentations(count, std::vector<int32_t>{*find_label(label)});
          },
          [&](std::string_view columns, uint64_t number) {
            return segmentations_of(tokenizer, columns, number);
          },
          path, build);
    });
  }

  using Segmentations = std::vector<std::vector<int32_t>>;

  /// With tokenizer.subword_regularization = n, the corpus contains n sampled segmentations of each text,
  /// drawn before the training instead of in each epoch.
  Segmentations segmentations_of(const WordPieceTokenizer& tokenizer, std::string_view columns,
                                 uint64_t number) const {
    WordPieceOptions options{.max_length = static_cast<size_t>(recipe_.max_length)};
    if (recipe_.subword_regularization == 0) return {encode(tokenizer, columns, options)};
    Random random(RandomKey::from_seed(recipe_.seed).fold(2).fold(number));
    options.dropout = {recipe_.maxmatch_dropout, recipe_.word_dropout, &random};
    Segmentations all;
    for (int n = 0; n < recipe_.subword_regularization; ++n)
      all.push_back(encode(tokenizer, columns, options));
    return all;
  }

  /// The ids of a text, or of two texts with a tab between them, truncated to the maximum length.
  static std::vector<int32_t> encode(const WordPieceTokenizer& tokenizer, std::string_view columns,
                                     const WordPieceOptions& options) {
    const size_t tab = columns.find('\t');
    if (tab == std::string_view::npos) return tokenizer.encode(columns, options).ids;
    return tokenizer.encode(columns.substr(0, tab), columns.substr(tab + 1), options).ids;
  }

  /// n / (classes * n_class): balanced class weights whose mean over all texts is 1.
  std::vector<float> balanced_weights(const ClassificationData& data) const {
    std::vector<double> counts(labels_.names.size());
    for (uint64_t text = 0; text < data.training.sentences(); ++text)
      ++counts[static_cast<size_t>(data.label_of(text))];
    std::vector<float> weights;
    for (const double count : counts) {
      weights.push_back(static_cast<float>(static_cast<double>(data.training.sentences()) /
                                           (static_cast<double>(counts.size()) * count)));
    }
    return weights;
  }

  void read_validation(const TrainingText& text) {
    LabelledReader reader(text.text, text.lines);
    LabelledText each;
    while (reader.next(each)) {
      const auto label = find_label(each.label);
      if (!label) {
        fail(ErrorKind::kFormat, "line {} of {}: the training text has no label '{}'; it has {}", each.line,
             reader.name(), each.label, fmt::join(labels_.names, ", "));
      }
      validation_.labels.push_back(*label);
      validation_.texts.push_back({std::string(each.first), {}});
      if (each.second) validation_.texts.back().second = *each.second;
    }
    validation_.fingerprint = reader.fingerprint().value();
  }

  const TaskInput input_;
  const Recipe& recipe_;
  const Labels labels_;
  LabelledTexts validation_;
};

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
          .read = [](const TaskInput& input) -> std::unique_ptr<CheckedText> {
            return std::make_unique<TextsWithLabels>(input);
          }};
}

}  // namespace heed::train
