#include <fmt/format.h>

#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/files/file.h"
#include "gtest/gtest.h"
#include "models/language_model.h"
#include "test_folder.h"
#include "text/tokenizers/language_tokenizer.h"
#include "train/loop/trainer.h"
#include "train/tasks/task.h"

namespace heed::train {
namespace {

/// A model with a uniform distribution that records its inputs.
class IndifferentModel : public models::LanguageModel {
 public:
  explicit IndifferentModel(int64_t vocabulary) : vocabulary_(vocabulary) {
    table_.add({"nothing", {1}, {nn::Initialization::Kind::kZeros}, {}});
  }

  int64_t vocabulary_size() const override { return vocabulary_; }
  int32_t start_id() const override { return -1; }
  int32_t end_id() const override { return -1; }
  int32_t padding_id() const override { return -1; }
  int64_t max_length() const override { return 0; }
  nlohmann::ordered_json config_json() const override { return {}; }

  ops::VocabularyLoss loss(nn::Context&, const Sequences& text, const std::vector<int32_t>& labels,
                           const ops::CrossEntropyOptions&) const override {
    const std::scoped_lock lock(mutex_);
    for (int n = 0; n < text.count(); ++n) {
      const auto begin = labels.begin() + text.offsets[n], end = labels.begin() + text.offsets[n + 1];
      read.insert(std::vector<int32_t>(text[n].begin(), text[n].end()));
      blocks.emplace_back(begin, end);
      // Each label is what the next position reads.
      EXPECT_TRUE(std::equal(text[n].begin() + 1, text[n].end(), begin));
    }
    const auto count = static_cast<int64_t>(labels.size());
    const double sum = static_cast<double>(count) * std::log(static_cast<double>(vocabulary_));
    return {{}, sum, sum, count};
  }
  Var hidden(nn::Context&, const Sequences&) const override { throw std::logic_error("only its loss"); }
  Tensor logits(nn::Context&, const Sequences&) const override { throw std::logic_error("only its loss"); }
  std::unique_ptr<models::DecoderState> start(nn::Context&) const override {
    throw std::logic_error("only its loss");
  }
  std::vector<int32_t> admit(nn::Context&, models::DecoderState&, const Sequences&) const override {
    throw std::logic_error("only its loss");
  }
  void release(models::DecoderState&, int32_t) const override {}
  Tensor step(nn::Context&, models::DecoderState&, const std::vector<models::StepRow>&) const override {
    throw std::logic_error("only its loss");
  }

  mutable std::multiset<std::vector<int32_t>> read;
  mutable std::vector<std::vector<int32_t>> blocks;  ///< the labels

 private:
  int64_t vocabulary_;
  mutable std::mutex mutex_;
};

/// "äbcäbc...", 60 characters and a line end.
std::string letters() {
  std::string text;
  for (int n = 0; n < 20; ++n) text += "äbc";
  return text + "\n";
}

class LanguageTask : public ::testing::Test {
 protected:
  LanguageTask() {
    options_.output = folder_.path("model");
    options_.data.text = folder_.write("train.txt", letters());
    options_.validation.text = folder_.write("valid.txt", letters());
    options_.recipe.arch = "gpt2";
    options_.recipe.tokenizer = "bytes";
    options_.recipe.block_size = 7;
    options_.recipe.batch_tokens = 21;
    options_.recipe.validation_max_tokens = 0;
    options_.recipe.metric = "loss";
    make_directories(folder_.path("model/training"));
  }

  /// `begun` as TaskInput has it.
  void prepare(bool begun = false) {
    const auto say = [this](const std::string& text) { said_ += text + "\n"; };
    const CheckedText text =
        task_kind(models::Task::kLanguageModel).read({options_, pool_, alone_, say, begun});
    task_ = text.prepare([&](const models::ModelSettings& settings) -> const models::Model& {
      settings_ = settings;
      return model_.emplace(settings.vocabulary);
    });
  }
  ValidationScores validate() const {
    return task_.validate(nn::ParameterArray(model_->table(), DType::kFloat32));
  }

  TestFolder folder_;
  TrainerOptions options_;
  ThreadPool pool_{2};
  Reducer alone_;
  models::ModelSettings settings_;
  std::optional<IndifferentModel> model_;
  Task task_;
  std::string said_;
};

TEST_F(LanguageTask, EvaluatesEveryTokenExceptTheFirst) {
  prepare();
  EXPECT_EQ(settings_.vocabulary, 256);
  const ValidationScores scores = validate();
  const std::string characters = letters();
  size_t labels = 0;
  for (const auto& block : model_->blocks) labels += block.size();
  EXPECT_EQ(labels, characters.size() - 1);
  EXPECT_NEAR(scores.loss, std::log(256), 1e-12);
  ASSERT_EQ(scores.others.size(), 2u);
  EXPECT_NEAR(scores.others[0].value, 256, 1e-9);
  // 8 bits for each byte; "ä" has two.
  EXPECT_NEAR(scores.others[1].value, 8.0 * 81 / 61, 1e-9);
}

TEST_F(LanguageTask, SpreadsALimitedValidationOverTheText) {
  options_.recipe.validation_max_tokens = 22;
  prepare();
  validate();
  EXPECT_EQ(model_->blocks.size(), 3u);
}

TEST_F(LanguageTask, AppendsDocumentEnds) {
  options_.recipe.document_boundaries = true;
  expect_error(ErrorKind::kUsage, "training.document_boundaries", [&] { prepare(); });
  std::filesystem::remove_all(options_.output);
  make_directories(options_.output + "/training");
  options_.data.text = folder_.write("documents.txt", "abab\n\nabab\n\nabab\n");
  options_.validation = {};
  options_.recipe.tokenizer = "bpe";
  options_.recipe.vocabulary = 260;
  options_.recipe.block_size = 3;
  prepare();
  ASSERT_GE(settings_.end_id, 0);
  const Corpus corpus(options_.output + "/training/train.ids");
  std::vector<int32_t> ids;
  corpus.append_run(0, corpus.stream_ids(0), ids);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), settings_.end_id), 3);
  EXPECT_EQ(ids.back(), settings_.end_id);
}

TEST_F(LanguageTask, FineTunesWithAddedTokensOfAFileOfTheirOwn) {
  options_.recipe.from = folder_.path("from");
  make_directories(options_.recipe.from);
  const auto next = [text = letters()](std::string& chunk) mutable {
    chunk = std::exchange(text, "");
    return !chunk.empty();
  };
  const ModelTokenizer base =
      train_language_tokenizer({.kind = TextTokenizerKind::kByteBpe, .vocabulary_size = 260}, next);
  base.save(options_.recipe.from);
  folder_.write("from/config.json", R"({"model_type": "gpt2", "vocab_size": 300})");
  const auto fine_tune = [&] {
    std::filesystem::remove_all(options_.output);
    make_directories(options_.output + "/training");
    prepare();
    return Corpus(options_.output + "/training/train.ids").info().origin.tokenizer;
  };
  const uint64_t without = fine_tune();
  EXPECT_EQ(settings_.vocabulary, base.size()) << "the control";
  folder_.write("from/added_tokens.json", fmt::format(R"({{"<call>": {}}})", base.size()));
  EXPECT_NE(fine_tune(), without);
  EXPECT_EQ(settings_.vocabulary, base.size() + 1);
  EXPECT_EQ(load_language_tokenizer(options_.output).find("<call>"), base.size());
  // The recipe has another type of tokenizer.
  EXPECT_NE(said_.find(fmt::format("tokenizer of the model: {} tokens\n", base.size())), std::string::npos)
      << said_;
}

TEST_F(LanguageTask, NamesTheTextThatCannotBeTokenized) {
  options_.recipe.tokenizer = "characters";
  folder_.write("valid.txt", "äb\nbß\n");
  expect_error(ErrorKind::kText, "valid.txt', in the part that begins with 'äb", [&] { prepare(); });
}

TEST_F(LanguageTask, RefusesTextThatIsTooShort) {
  options_.recipe.block_size = 100;
  options_.recipe.batch_tokens = 100;
  expect_error(ErrorKind::kUsage, "has 81 tokens, and a block has 100", [&] { prepare(); });
  options_.recipe.batch_tokens = 99;
  expect_error(ErrorKind::kUsage, "training.batch_tokens (99)", [&] { prepare(); });
}

TEST_F(LanguageTask, RefusesAnotherTextOnResume) {
  prepare();
  prepare(true);  // the control: the same text may
  folder_.write("train.txt", letters() + "more\n");
  expect_error(ErrorKind::kUsage, "has changed since the training", [&] { prepare(true); });
}

}  // namespace
}  // namespace heed::train
