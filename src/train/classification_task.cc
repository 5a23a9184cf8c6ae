#include "train/classification_task.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/fingerprint.h"
#include "data/corpus_builder.h"
#include "data/labelled_reader.h"
#include "decode/text_classifier.h"
#include "distributed/agreement.h"
#include "distributed/collectives.h"
#include "models/architecture.h"
#include "models/classifier.h"
#include "text/confusion.h"
#include "text/wordpiece.h"
#include "train/prepared_corpus.h"
#include "train/prepared_tokenizer.h"
#include "train/sharded_batches.h"
#include "train/trainer.h"

namespace heed::train {
namespace {

const std::vector<std::string>& tokenizer_files() {
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
void learn_tokenizer(const TaskInput& input, const std::string& directory) {
  const Recipe& recipe = input.options.recipe;
  WordPieceTrainOptions wanted;
  wanted.vocabulary_size = static_cast<size_t>(recipe.vocabulary);
  wanted.settings.words.lowercase = wanted.settings.words.strip_accents = recipe.lowercase;
  wanted.settings.max_length = static_cast<size_t>(recipe.model.max_length);
  wanted.settings.token_types = models::architecture_named(recipe.arch).token_types;
  WordPieceTokenizer::train(wanted, lines_of(input.options.data)).save(directory);
}

/// The validation text.
struct LabelledTexts {
  std::vector<decode::ClassifierText> texts;
  std::vector<int32_t> labels;
  uint64_t fingerprint = 0;
};

/// Tokenizer and tokenized texts.
struct ClassificationData {
  WordPieceTokenizer tokenizer;
  Corpus training;                        ///< two streams: label index, and text with special tokens
  std::vector<float> class_weights = {};  ///< empty: 1 for each

  int32_t label_of(uint64_t text) const { return training.sentence(0, text)[0]; }
};

const models::Classifier& fitting_model(const Recipe& recipe, const models::Model& model) {
  const auto* classifier = dynamic_cast<const models::Classifier*>(&model);
  HEED_CHECK(classifier != nullptr);
  if (recipe.max_length > classifier->max_length()) {
    fail(ErrorKind::kUsage, "training.max_length ({}) must not be above model.max_length ({})",
         recipe.max_length, classifier->max_length());
  }
  return *classifier;
}

class ClassificationObjective : public Objective {
 public:
  ClassificationObjective(const TaskInput& input, const ClassificationData& data,
                          const LabelledTexts& validation, const models::Model& model)
      : input_(input),
        recipe_(input.options.recipe),
        data_(data),
        validation_(validation),
        model_(fitting_model(recipe_, model)) {}

  double weight(const Batch& batch) const override {
    if (data_.class_weights.empty()) return static_cast<double>(batch.sentences.size());
    double sum = 0;
    for (const uint64_t text : batch.sentences) {
      sum += static_cast<double>(data_.class_weights[data_.label_of(text)]);
    }
    return sum;
  }

  BatchLoss loss(nn::Context& context, const Batch& batch, double scale) const override {
    models::EncoderInput input;
    std::vector<int32_t> labels;
    for (const uint64_t text : batch.sentences) {
      labels.push_back(data_.label_of(text));
      const size_t begin = input.text.ids.size();
      data_.training.append(1, text, input.text.ids);
      input.text.close();
      int32_t type = 0;  // 0 for the first text of a pair, 1 for the second
      for (size_t n = begin; n < input.text.ids.size(); ++n) {
        input.types.push_back(type);
        if (input.text.ids[n] == data_.tokenizer.end_id()) type = 1;
      }
    }
    const models::ClassificationLoss loss = model_.loss(
        context, input, labels,
        {.class_weights = data_.class_weights, .smoothing = recipe_.label_smoothing, .scale = scale});
    return {loss.loss,
            {loss.loss_sum, loss.negative_log_likelihood, loss.weight,
             static_cast<int64_t>(input.text.ids.size())}};
  }

  bool has_validation() const override { return !validation_.texts.empty(); }

  ValidationScores validate(const nn::ParameterArray& values) const override {
    const std::vector<Answer> found = classify(values);
    ConfusionMatrix confusion(model_.labels());
    double negative_log_likelihood = 0;
    for (size_t n = 0; n < found.size(); ++n) {
      negative_log_likelihood -= found[n].log_probability;
      confusion.add(validation_.labels[n], found[n].best);
    }
    ValidationScores scores;
    scores.loss = negative_log_likelihood / static_cast<double>(found.size());
    scores.quality = -scores.loss;
    scores.others = {{"accuracy", confusion.accuracy()}, {"macro_f1", confusion.macro_f1()}};
    for (const Score& score : scores.others) {
      if (score.name == recipe_.metric) scores.quality = score.value;
    }
    return scores;
  }

  void write_files(const std::string&) const override {}  // the labels are in config.json

 private:
  /// For a validation text.
  struct Answer {
    double log_probability = 0;  ///< of the true class
    int best = 0;                ///< the predicted class
  };

  /// Each rank classifies some of the validation texts; all get all answers.
  std::vector<Answer> classify(const nn::ParameterArray& values) const {
    std::vector<Answer> answers(validation_.texts.size());
    const distributed::Slices parts(static_cast<int64_t>(answers.size()), input_.ranks->size());
    const distributed::Range own = parts.of(input_.ranks->rank());
    distributed::together(*input_.ranks, [&] {
      const nn::PackedWeights weights(model_.table(), values);
      const decode::TextClassifier classifier(model_, weights.context(), data_.tokenizer, input_.pool);
      const auto first = validation_.texts.begin();
      const std::vector<decode::Classification> found =
          classifier.classify({first + own.begin, first + own.end}, input_.options.stop);
      input_.stop.check();
      for (size_t n = 0; n < found.size(); ++n) {
        const size_t text = static_cast<size_t>(own.begin) + n;
        const auto truth = static_cast<size_t>(validation_.labels[text]);
        answers[text] = {found[n].log_probabilities[truth], found[n].best};
      }
    });
    distributed::all_gather(*input_.ranks, {answers.data(), sizeof(Answer), parts});
    return answers;
  }

  const TaskInput& input_;
  const Recipe& recipe_;
  const ClassificationData& data_;
  const LabelledTexts& validation_;
  const models::Classifier& model_;
};

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

  std::unique_ptr<BatchSource> batches(const BatchCursor& place) const override {
    return shuffled_batches(data_.training, input_.options.recipe, place);
  }
  std::unique_ptr<Objective> objective(const models::Model& model) const override {
    return std::make_unique<ClassificationObjective>(input_, data_, validation_, model);
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

  void require_fit(const models::Model& model) const override { fitting_model(recipe_, model); }

  std::unique_ptr<PreparedText> prepare() const override {
    const bool made = prepare_tokenizer(input_, labels_.fingerprint, [&](const std::string& directory) {
      learn_tokenizer(input_, directory);
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
    const CorpusOrigin origin{labels_.fingerprint, fingerprint_files(output, tokenizer_files()),
                              static_cast<uint64_t>(recipe_.max_length)};
    return prepared_corpus(input_, {path, "'" + text.text + "'", origin}, [&] {
      LabelledReader reader(text.text, text.lines);
      CorpusBuildOptions build;
      build.vocabulary_size = static_cast<uint32_t>(std::max(tokenizer.size(), labels_.names.size()));
      build.max_length = origin.max_length;
      build.tokenizer_fingerprint = origin.tokenizer;
      build.pool = &input_.pool;
      build.stop = input_.stop;
      const auto cuts = static_cast<size_t>(std::max(1, recipe_.subword_regularization));
      build_labelled_corpus(
          reader,
          [&](std::string_view label, uint64_t) {
            return Cuts(cuts, std::vector<int32_t>{*find_label(label)});
          },
          [&](std::string_view columns, uint64_t number) { return cuts_of(tokenizer, columns, number); },
          path, build);
    });
  }

  using Cuts = std::vector<std::vector<int32_t>>;

  /// With tokenizer.subword_regularization = n, the corpus contains n sampled segmentations of each text,
  /// drawn before the training instead of in each epoch.
  Cuts cuts_of(const WordPieceTokenizer& tokenizer, std::string_view columns, uint64_t number) const {
    WordPieceOptions options{.max_length = static_cast<size_t>(recipe_.max_length)};
    if (recipe_.subword_regularization == 0) return {encode(tokenizer, columns, options)};
    Random random(RandomKey::from_seed(recipe_.seed).fold(2).fold(number));
    options.dropout = {recipe_.maxmatch_dropout, recipe_.word_dropout, &random};
    Cuts cuts;
    for (int n = 0; n < recipe_.subword_regularization; ++n)
      cuts.push_back(encode(tokenizer, columns, options));
    return cuts;
  }

  /// The ids of a text, or of two texts with a tab between them, truncated to the maximum length.
  static std::vector<int32_t> encode(const WordPieceTokenizer& tokenizer, std::string_view columns,
                                     const WordPieceOptions& cut) {
    const size_t tab = columns.find('\t');
    if (tab == std::string_view::npos) return tokenizer.encode(columns, cut).ids;
    return tokenizer.encode(columns.substr(0, tab), columns.substr(tab + 1), cut).ids;
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

void preset(models::PresetSize size, Recipe& recipe) {
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

void check(const TrainerOptions& options) {
  require_text(options, "a classifier", "lines of LABEL TAB TEXT");
}

}  // namespace

TaskKind classification_kind() {
  return {.task = models::Task::kClassification,
          .name = "classify",
          .training = "training a classifier",
          .settings = {{"tokenizer.type", {"wordpiece"}},
                       {"tokenizer.lowercase", {}},
                       {"tokenizer.subword_regularization", {}},
                       {"tokenizer.maxmatch_dropout", {}},
                       {"tokenizer.word_dropout", {}},
                       {"training.max_length", {}},
                       {"training.class_weights", {}},
                       {"validation.metric", {"accuracy", "macro_f1", "loss"}}},
          .tokenizer_files = tokenizer_files(),
          .preset = preset,
          .check = check,
          .read = [](const TaskInput& input) -> std::unique_ptr<CheckedText> {
            return std::make_unique<TextsWithLabels>(input);
          }};
}

}  // namespace heed::train
