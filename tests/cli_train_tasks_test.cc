// Command tests of heed train for its three tasks.

#include "command.h"
#include "test_folder.h"

namespace heed {
namespace {

class TrainTasks : public ::testing::Test {
 protected:
  /// Expects a training with these arguments to be refused, and to leave no weights.
  void expect_refused(std::vector<std::string> arguments, int status,
                      const std::vector<std::string>& parts) const {
    arguments.insert(arguments.begin(), "train");
    arguments.insert(arguments.end(),
                     {"--output", folder_.path("refused"), "--preset", "tiny", "--max-steps", "2"});
    expect_failure(heed_command(arguments), status, parts);
    EXPECT_FALSE(std::filesystem::exists(folder_.path("refused/model.safetensors")));
    std::filesystem::remove_all(folder_.path("refused"));
  }

  TestFolder folder_;
  std::string text_ = folder_.write("text.txt", "Some words,\nand more of them.\n");
  std::string labelled_ = folder_.write("labelled.tsv", "good\tfine words\nbad\tpoor ones\n");
  std::string pairs_ = folder_.write("pairs.tsv", "ein Hund\ta dog\n");
};

TEST_F(TrainTasks, RefusesTextOfAnotherTask) {
  expect_refused({"--text", text_}, 2,
                 {"a translator", "--pairs", "the tasks lm and classify, which --task chooses"});
  expect_refused({"--task", "lm", "--pairs", pairs_}, 2, {"a language model", "not on pairs", "--text"});
  expect_refused({"--task", "lm", "--text", text_, "--valid-source", text_}, 2, {"not on pairs"});
  expect_refused({"--task", "lm", "--text", text_, "--swap"}, 2, {"a language model", "--swap is for pairs"});
  expect_refused({"--task", "lm", "--text", text_, "--pair", "de-en"}, 2, {"--pair", "of pairs"});
  expect_refused({"--task", "lm"}, 2, {"a language model needs text", "--text"});
  expect_refused({"--task", "lm", "--text", "-"}, 2, {"standard input"});
  expect_refused({"--task", "classify", "--pairs", pairs_}, 2, {"a classifier", "not on pairs", "--text"});
  expect_refused({"--task", "classify", "--text", labelled_, "--valid-pairs", pairs_}, 2, {"not on pairs"});
  expect_refused({"--task", "classify"}, 2, {"a classifier needs lines of LABEL TAB TEXT", "--text"});
  expect_refused({"--task", "classify", "--text", "-"}, 2, {"standard input"});
}

TEST_F(TrainTasks, SuggestsNames) {
  expect_refused({"--task", "clasify", "--text", labelled_}, 2, {"unknown task 'clasify'", "'classify'"});
  expect_refused({"--arch", "transformr", "--pairs", pairs_}, 2,
                 {"unknown architecture 'transformr'", "'transformer'"});
  expect_refused({"--task", "classify", "--arch", "transformer", "--text", labelled_}, 2,
                 {"transformer does not support the task 'classify'", "bert"});
  expect_refused({"--pairs", pairs_, "--set", "model.layers=3"}, 2,
                 {"transformer has no setting 'model.layers'", "model.encoder_layers"});
  expect_refused({"--pairs", pairs_, "--set", "training.class_weights=balanced"}, 2,
                 {"'training.class_weights'", "training a translator"});
  expect_refused({"--pairs", pairs_, "--set", "tokenizer.type=wordpiece"}, 2,
                 {"'tokenizer.type'", "unigram, bpe", "'wordpiece'"});
}

TEST_F(TrainTasks, RefusesUnusableText) {
  const auto refused = [&](const std::string& text, int status, const std::vector<std::string>& parts) {
    expect_refused({"--task", "lm", "--text", folder_.write("bad.txt", text)}, status, parts);
  };
  refused("", 1, {"bad.txt", "no text"});
  refused(" \n\n", 1, {"bad.txt", "no text"});
  refused("one\n\xFF\n", 1, {"line 2", "bad.txt", "UTF-8"});
  refused("short\n", 2, {"bad.txt", "6 tokens", "a block has 64", "training.block_size"});
  expect_refused({"--task", "lm", "--text", folder_.path("none.txt")}, 1, {"cannot open", "none.txt"});
  std::string letters;
  for (int n = 0; n < 100; ++n) letters += "abc";
  const std::string abc = folder_.write("abc.txt", letters);
  expect_refused({"--task", "lm", "--text", abc, "--set", "training.block_size=65"}, 2,
                 {"training.block_size (65)", "model.max_length (64)"});
  expect_refused({"--task", "lm", "--text", abc, "--valid-text", folder_.write("xyz.txt", "abcxyz")}, 1,
                 {"'x'"});
}

TEST_F(TrainTasks, ALanguageModelLogsItsPerplexity) {
  std::string text;
  for (int n = 0; n < 100; ++n) text += "the cat sat on the mat, ";
  const std::string path = folder_.write("cats.txt", text);
  const CommandResult result =
      heed_command({"train", "--task", "lm", "--text", path, "--valid-text", path, "--output",
                    folder_.path("model"), "--preset", "tiny", "--max-steps", "4"});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string metrics = content_of(folder_.path("model/training/metrics.jsonl"));
  for (const char* key : {"valid_loss", "perplexity", "bits_per_character"}) {
    EXPECT_NE(metrics.find('"' + std::string(key) + "\":"), std::string::npos) << key;
  }
}

TEST_F(TrainTasks, RefusesLinesWithoutALabel) {
  const auto refused = [&](const std::string& text, const std::vector<std::string>& parts) {
    expect_refused({"--task", "classify", "--text", folder_.write("bad.tsv", text)}, 1, parts);
  };
  refused("", {"bad.tsv", "no lines"});
  refused("good\tyes\nno label\n", {"line 2", "bad.tsv", "tab"});
  refused("good\tyes\n\tno label\n", {"line 2", "bad.tsv", "label"});
  refused("good\tyes\ngood\tno\n", {"bad.tsv", "every line has the label 'good'"});
  const std::string valid = folder_.write("valid.tsv", "good\tx\nugly\ty\n");
  expect_refused({"--task", "classify", "--text", labelled_, "--valid-text", valid}, 1,
                 {"line 2", "valid.tsv", "no label 'ugly'", "bad, good"});
}

TEST_F(TrainTasks, AClassifierKeepsItsLabels) {
  std::string lines;
  for (int n = 0; n < 60; ++n)
    lines += n % 3 == 0 ? "10\ta good one\n" : n % 3 == 1 ? "9\tbad\n" : "2\tso so\n";
  const std::string text = folder_.write("train.tsv", lines);
  const CommandResult result =
      heed_command({"train", "--task", "classify", "--text", text, "--valid-text", text, "--output",
                    folder_.path("model"), "--preset", "tiny", "--max-steps", "4", "--set",
                    "training.class_weights=balanced", "--set", "validation.metric=macro_f1"});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string config = content_of(folder_.path("model/config.json"));
  EXPECT_NE(config.find("\"0\": \"2\""), std::string::npos) << config;  // sorted as numbers
  EXPECT_NE(config.find("\"2\": \"10\""), std::string::npos) << config;
  const std::string metrics = content_of(folder_.path("model/training/metrics.jsonl"));
  for (const char* key : {"valid_loss", "accuracy", "macro_f1"}) {
    EXPECT_NE(metrics.find('"' + std::string(key) + "\":"), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace heed
