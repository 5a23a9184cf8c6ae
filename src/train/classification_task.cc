#include "train/classification_task.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "data/corpus_builder.h"
#include "data/labelled_reader.h"
#include "decode/text_classifier.h"
#include "models/classifier.h"
#include "text/confusion.h"
#include "text/wordpiece.h"
#include "train/prepared_corpus.h"
#include "train/prepared_tokenizer.h"
#include "train/trainer.h"
#include "train/training_step.h"

namespace heed::train {
namespace {

const std::vector<std::string>& tokenizer_files() {
  static const std::vector<std::string> names{"vocab.txt", "tokenizer.json", "tokenizer_config.json"};
  return names;
}

/// The whole of a label as a number.
std::optional<int64_t> number_of(const std::string& label) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  if (error != std::errc() || end != label.data() + label.size()) return std::nullopt;
  return number;
}

/// What one reading of the training text tells.
struct Labels {
  std::vector<std::string> names;  ///< those that occur, numbers by size and others by their bytes
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

/// Text after text; of a pair, both.
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

/// Learns a tokenizer and writes its files.
void learn_tokenizer(const TaskInput& input, const std::string& directory) {
  const Recipe& recipe = input.options.recipe;
  WordPieceTrainOptions wanted;
  wanted.vocabulary_size = static_cast<size_t>(recipe.vocabulary);
  wanted.settings.words.lowercase = wanted.settings.words.strip_accents = recipe.lowercase;
  wanted.settings.max_length = static_cast<size_t>(recipe.model.max_length);
  WordPieceTokenizer::train(wanted, lines_of(input.options.data)).save(directory);
}

class ClassificationTask : public Task {
 public:
  explicit ClassificationTask(const TaskInput& input)
      : input_(input), recipe_(input.options.recipe), labels_(labels_of(input.options.data)) {
    if (input.options.validation.is_named()) read_validation(input.options.validation);
    if (!recipe_.from.empty() && !input.begun) WordPieceTokenizer::load(recipe_.from);
  }

  void prepare() override {
    const bool made = prepare_tokenizer(input_, labels_.fingerprint, [&](const std::string& directory) {
      learn_tokenizer(input_, directory);
    });
    tokenizer_.emplace(WordPieceTokenizer::load(input_.options.output));
    if (made) input_.say(fmt::format("tokenizer: {} pieces (wordpiece)", tokenizer_->size()));
    training_.emplace(prepare_corpus());
    if (recipe_.class_weights == "balanced") class_weights_ = balanced_weights();
  }

  uint64_t fingerprint() const override {
    Fingerprint all;
    all.add_number(training_->content_fingerprint());
    all.add_number(validation_fingerprint_);
    return all.value();
  }

  void complete(models::ModelSettings& settings) const override {
    settings.vocabulary = static_cast<int64_t>(tokenizer_->size());
    settings.padding_id = tokenizer_->pad_id();
    settings.start_id = tokenizer_->start_id();
    settings.end_id = tokenizer_->end_id();
    settings.labels = labels_.names;
  }

  void use(const models::Model& model) override {
    model_ = dynamic_cast<const models::Classifier*>(&model);
    HEED_CHECK(model_ != nullptr);
    if (recipe_.max_length > model_->max_length()) {
      fail(ErrorKind::kUsage, "training.max_length ({}) must not be above model.max_length ({})",
           recipe_.max_length, model_->max_length());
    }
  }

  void write_files(const std::string&) const override {}  // the labels are in config.json

  std::string amount() const override {
    return fmt::format("{} of {} classes", counted(training_->sentences(), "text"), labels_.names.size());
  }

  void begin(const BatchCursor& place) override {
    batcher_.emplace(sizes_of(*training_),
                     BatcherOptions{.seed = recipe_.seed, .batch_tokens = recipe_.batch_tokens}, place);
  }
  BatchCursor place() const override { return batcher_->cursor(); }
  double epochs() const override { return batcher_->epochs(); }
  std::vector<Batch> next_batch(size_t parts) override { return split_into_shards(batcher_->next(), parts); }

  double weight(Part, const Batch& batch) const override {
    if (class_weights_.empty()) return static_cast<double>(batch.sentences.size());
    double sum = 0;
    for (const uint64_t text : batch.sentences) sum += static_cast<double>(class_weights_[label_of(text)]);
    return sum;
  }

  BatchLoss loss(nn::Context& context, Part part, const Batch& batch, double scale) const override {
    HEED_CHECK(part == Part::kTraining);
    models::ClassifierInput input;
    std::vector<int32_t> labels;
    for (const uint64_t text : batch.sentences) {
      labels.push_back(label_of(text));
      const size_t begin = input.text.ids.size();
      training_->append(1, text, input.text.ids);
      input.text.close();
      int32_t type = 0;  // the second of two texts stands behind the end of the first
      for (size_t n = begin; n < input.text.ids.size(); ++n) {
        input.types.push_back(type);
        if (input.text.ids[n] == tokenizer_->end_id()) type = 1;
      }
    }
    const models::ClassificationLoss loss =
        model_->loss(context, input, labels,
                     {.class_weights = class_weights_, .smoothing = recipe_.label_smoothing, .scale = scale});
    return {loss.loss,
            {loss.loss_sum, loss.negative_log_likelihood, loss.weight,
             static_cast<int64_t>(input.text.ids.size())}};
  }

  bool has_validation() const override { return !validation_.empty(); }

  ValidationScores validate(const nn::ParameterArray& values, TrainingStep&,
                            ThreadPool& pool) const override {
    nn::PackedWeights packed;
    nn::Context context;
    context.table = &model_->table();
    context.values = &values;
    context.packed = &packed;
    const decode::TextClassifier classifier(*model_, context, *tokenizer_, pool);
    const std::vector<decode::Classification> found = classifier.classify(validation_, input_.options.stop);
    input_.stop.check();
    ConfusionMatrix confusion(labels_.names);
    double negative_log_likelihood = 0;
    for (size_t n = 0; n < found.size(); ++n) {
      const int32_t truth = validation_labels_[n];
      negative_log_likelihood -= found[n].log_probabilities[static_cast<size_t>(truth)];
      confusion.add(truth, found[n].best);
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

 private:
  int32_t label_of(uint64_t text) const { return training_->sentence(0, text)[0]; }

  std::optional<int32_t> find_label(std::string_view label) const {
    const auto found = std::ranges::find(labels_.names, label);
    if (found == labels_.names.end()) return std::nullopt;
    return static_cast<int32_t>(found - labels_.names.begin());
  }

  /// Two streams: the number of the label, and the text with its special tokens.
  Corpus prepare_corpus() const {
    const TrainingText& text = input_.options.data;
    const std::string& output = input_.options.output;
    const std::string path = output + "/training/train.ids";
    const CorpusOrigin origin{labels_.fingerprint, fingerprint_files(output, tokenizer_files()),
                              static_cast<uint64_t>(recipe_.max_length)};
    return prepared_corpus(input_, {path, "'" + text.text + "'", origin}, [&] {
      LabelledReader reader(text.text, text.lines);
      CorpusBuildOptions build;
      build.vocabulary_size = static_cast<uint32_t>(std::max(tokenizer_->size(), labels_.names.size()));
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
          [&](std::string_view columns, uint64_t number) { return cuts_of(columns, number); }, path, build);
    });
  }

  using Cuts = std::vector<std::vector<int32_t>>;

  /// With tokenizer.subword_regularization, each text stands in the corpus so many times, disturbed by chance
  /// in other ways; drawn before the training instead of on the way.
  Cuts cuts_of(std::string_view columns, uint64_t number) const {
    WordPieceOptions options{.max_length = static_cast<size_t>(recipe_.max_length)};
    if (recipe_.subword_regularization == 0) return {encode(columns, options)};
    Random random(RandomKey::from_seed(recipe_.seed).fold(2).fold(number));
    options.dropout = {recipe_.maxmatch_dropout, recipe_.word_dropout, &random};
    Cuts cuts;
    for (int n = 0; n < recipe_.subword_regularization; ++n) cuts.push_back(encode(columns, options));
    return cuts;
  }

  /// Of a text, or of two with a tab between them; what is too long loses its end.
  std::vector<int32_t> encode(std::string_view columns, const WordPieceOptions& cut) const {
    const size_t tab = columns.find('\t');
    if (tab == std::string_view::npos) return tokenizer_->encode(columns, cut).ids;
    return tokenizer_->encode(columns.substr(0, tab), columns.substr(tab + 1), cut).ids;
  }

  /// n / (classes * n of the class): all classes together weigh as much as without weights, and each as much
  /// as any other.
  std::vector<float> balanced_weights() const {
    std::vector<double> counts(labels_.names.size());
    for (uint64_t text = 0; text < training_->sentences(); ++text)
      ++counts[static_cast<size_t>(label_of(text))];
    std::vector<float> weights;
    for (const double count : counts) {
      weights.push_back(static_cast<float>(static_cast<double>(training_->sentences()) /
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
      validation_labels_.push_back(*label);
      validation_.push_back({std::string(each.first), {}});
      if (each.second) validation_.back().second = *each.second;
    }
    validation_fingerprint_ = reader.fingerprint().value();
  }

  const TaskInput input_;
  const Recipe& recipe_;
  const Labels labels_;
  std::optional<WordPieceTokenizer> tokenizer_;
  std::optional<Corpus> training_;
  std::vector<float> class_weights_;  // empty: 1 for each
  std::vector<decode::ClassifierText> validation_;
  std::vector<int32_t> validation_labels_;
  uint64_t validation_fingerprint_ = 0;
  const models::Classifier* model_ = nullptr;
  std::optional<Batcher> batcher_;
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
          .make = [](const TaskInput& input) -> std::unique_ptr<Task> {
            return std::make_unique<ClassificationTask>(input);
          }};
}

}  // namespace heed::train
