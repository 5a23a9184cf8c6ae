// Command tests of classifiers: batch invariance, scores, attention of [CLS], and errors for other models.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/text/json_file.h"
#include "command.h"
#include "models/config/encoder_only_config.h"
#include "models/stacks/encoder_heads.h"
#include "models/test_models.h"
#include "nn/storage/parameters.h"
#include "text/tokenizers/encoder_tokenizer.h"

namespace heed {
namespace {

using Arguments = std::vector<std::string>;

/// A classifier with fixed random weights.
class CliClassifyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::string> pieces{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a",
                                          "fine",  "film",  "##s",   "bad",   "dull",   ".",
                                          "very",  "long",  "the",   "plot"};
    WordPieceSettings settings;
    settings.max_length = 16;
    const ModelTokenizer tokenizer = wordpiece_tokenizer(pieces, settings);
    tokenizer.save(folder_.path());
    models::EncoderOnlyConfig config = models::bert_config(models::EncoderHead::kClassifier);
    config.vocabulary = static_cast<int64_t>(pieces.size());
    config.width = 16;
    config.layers = 2;
    config.heads = 2;
    config.inner_width = 24;
    config.max_length = 16;
    config.deviation = 1;
    config.labels = {"bad", "good", "neither"};
    models::write_untrained(folder_.path(), models::EncoderClassifier(config), 3);
  }

  CommandResult with_model(Arguments arguments, const Command::Settings& settings = {}) const {
    arguments.insert(arguments.begin() + 1, {"--model", folder_.path()});
    return heed_command(arguments, settings);
  }
  CommandResult classify(const std::string& text, const Arguments& more = {}) const {
    Arguments arguments{"classify"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return with_model(arguments, {.input = other_.write("input", text)});
  }

  TestFolder folder_, other_;
};

std::string many_lines(size_t count) {
  const std::vector<std::string> words{"a", "fine", "films", "bad", "dull",
                                       ".", "very", "long",  "the", "plot"};
  Random random(RandomKey::from_seed(5));
  std::string text;
  for (size_t n = 0; n < count; ++n) {
    for (uint64_t length = random.below(12); length > 0; --length)
      text += words[random.below(words.size())] + " ";
    text += n % 7 == 3 ? "\tthe second text\n" : "\n";
  }
  return text;
}

TEST_F(CliClassifyTest, EachLineGivesALine) {
  const CommandResult result = classify("a fine film\n\n  \t \nfilms\tvery dull\na fine film\n");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[2], "");
  EXPECT_EQ(lines[0], lines[4]);
  EXPECT_NE(lines[0], lines[3]);
  const CommandResult argument = with_model({"classify", "a fine film"});
  EXPECT_EQ(argument.out, lines[0] + "\n");
}

TEST_F(CliClassifyTest, ThreadsAndBatchesDoNotChangeResults) {
  const std::string text = many_lines(300);
  const CommandResult together = classify(text, {"--threads", "1", "--json"});
  ASSERT_EQ(together.status, 0) << together.err;
  EXPECT_EQ(classify(text, {"--threads", "3", "--json"}).out, together.out);
  const auto inputs = lines_of(text), outputs = lines_of(together.out);
  ASSERT_EQ(outputs.size(), inputs.size());
  for (const size_t n : {size_t{0}, size_t{3}, size_t{10}, inputs.size() - 1}) {
    EXPECT_EQ(classify(inputs[n] + "\n", {"--json"}).out, outputs[n] + "\n");
  }
}

TEST_F(CliClassifyTest, JsonHoldsAllClasses) {
  const auto lines = lines_of(classify("a fine film\ndull\tplot\n\n", {"--json"}).out);
  ASSERT_EQ(lines.size(), 3u);
  const auto json = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(json["text"], "a fine film");
  double sum = 0, largest = 0;
  for (const auto& [label, probability] : json["probabilities"].items()) {
    sum += probability.get<double>();
    largest = std::max(largest, probability.get<double>());
  }
  EXPECT_EQ(json["probabilities"].size(), 3u);
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_EQ(json["probability"], largest);
  EXPECT_EQ(json["probabilities"][json["label"].get<std::string>()], largest);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["second_text"], "plot");
  EXPECT_TRUE(nlohmann::json::parse(lines[2])["label"].is_null());
}

TEST_F(CliClassifyTest, ReportsTruncatedTexts) {
  std::string longer;
  for (int n = 0; n < 30; ++n) longer += "very ";
  const CommandResult result = classify(longer + "long\n" + longer + "dull\na film\n", {"--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto lines = lines_of(result.out);
  EXPECT_NE(result.err.find("2 texts truncated to the model's maximum of 16 tokens"), std::string::npos)
      << result.err;
  EXPECT_EQ(nlohmann::json::parse(lines[0])["probabilities"],
            nlohmann::json::parse(lines[1])["probabilities"]);
  EXPECT_TRUE(nlohmann::json::parse(lines[0]).contains("truncated"));
  EXPECT_FALSE(nlohmann::json::parse(lines[2]).contains("truncated"));
}

TEST_F(CliClassifyTest, InvalidUtf8IsAnErrorUnlessLossy) {
  expect_failure(classify("a film\n\xff\n"), 1, {"line 2", "UTF-8"});
  EXPECT_EQ(lines_of(classify("a film\n\xff film\n", {"--lossy"}).out).size(), 2u);
}

TEST_F(CliClassifyTest, EvaluateAgreesWithClassify) {
  const std::vector<std::string> labels{"bad", "good", "neither"};
  std::string text;
  std::vector<std::string> inputs;
  for (const std::string& line : lines_of(many_lines(120))) {
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    text += labels[inputs.size() % 3] + "\t" + line + "\n";
    inputs.push_back(line);
  }
  std::string all;
  for (const std::string& line : inputs) all += line + "\n";
  const auto said = lines_of(classify(all, {"--json"}).out);
  std::vector<std::vector<int>> confusion(3, std::vector<int>(3));
  int right = 0;
  for (size_t n = 0; n < said.size(); ++n) {
    const std::string label = nlohmann::json::parse(said[n])["label"];
    const auto given = static_cast<size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
    ++confusion[n % 3][given];
    right += given == n % 3 ? 1 : 0;
  }
  const std::string path = other_.write("test.tsv", text);
  const CommandResult result = with_model({"evaluate", "--task", "classify", "--text", path, "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["confusion"].get<std::vector<std::vector<int>>>(), confusion);
  EXPECT_NEAR(json["accuracy"].get<double>(), right / static_cast<double>(inputs.size()), 1e-12);
  EXPECT_EQ(json["texts"], inputs.size());
  const CommandResult table = with_model({"evaluate", "--task", "classify", "--text", path});
  EXPECT_EQ(with_model({"evaluate", "--text", path}).out, table.out);  // the model says the task
  EXPECT_EQ(with_model({"evaluate", path}).out, table.out);
  EXPECT_NE(table.out.find("macro F1"), std::string::npos);
  EXPECT_NE(table.out.find("neither"), std::string::npos);
}

TEST_F(CliClassifyTest, EvaluateRefusesInvalidInput) {
  const std::string path = other_.write("test.tsv", "good\ta film\ngod\ta film\n");
  expect_failure(with_model({"evaluate", "--task", "classify", "--text", path}), 1,
                 {"line 2", "no class 'god'", "bad, good, neither", "did you mean 'good'"});
  expect_failure(with_model({"evaluate", "--task", "classify"}), 2, {"--text"});
  expect_failure(with_model({"evaluate", path, path}), 2, {"one file"});
  expect_failure(heed_command({"evaluate", "--text", path}), 2, {"--text", "classifier"});
  expect_failure(with_model({"evaluate", "--task", "sort", "--text", path}), 2, {"translate or classify"});
  expect_failure(with_model({"evaluate", "--task", "classify", "--pairs", path}), 2, {"for translations"});
  for (const std::vector<std::string>& each : {std::vector<std::string>{"--metrics", "ter"},
                                               {"--confidence"},
                                               {"--swap"},
                                               {"--beam", "2"},
                                               {"--lowercase"},
                                               {"--paired-bs"},
                                               {"--shortlist"}}) {
    std::vector<std::string> options{"evaluate", path};
    options.insert(options.end(), each.begin(), each.end());
    expect_failure(with_model(options), 2, {each[0], "leave it out"});
  }
}

TEST_F(CliClassifyTest, AttendShowsTheEncoder) {
  const CommandResult shown = with_model({"attend", "very long films", "--columns", "60"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find("text: very long films"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("[CLS]"), std::string::npos);
  EXPECT_NE(shown.out.find("  films "), std::string::npos);  // words, not pieces
  const CommandResult json = with_model({"attend", "very long films", "--json"});
  const auto trace = nlohmann::json::parse(json.out);
  EXPECT_EQ(trace["source_tokens"], (Arguments{"[CLS]", "very", "long", "film", "##s", "[SEP]"}));
  EXPECT_TRUE(trace["target_tokens"].empty());
  EXPECT_TRUE(trace["attention"]["cross"].empty());
  ASSERT_EQ(trace["attention"]["encoder"].size(), 2u);
  ASSERT_EQ(trace["attention"]["encoder"][1].size(), 2u);
  const auto row = trace["attention"]["encoder"][1][0][0].get<std::vector<double>>();
  EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-5);
  const std::string label = trace["target"];
  EXPECT_EQ(classify("very long films\n").out.substr(0, label.size()), label);
  const std::string words = with_model({"attend", "very long films", "--json", "--words"}).out;
  EXPECT_EQ(nlohmann::json::parse(words)["source_tokens"],
            (Arguments{"[CLS]", "very", "long", "films", "[SEP]"}));
  const CommandResult one = with_model({"attend", "very long films", "--query", "film"});
  EXPECT_NE(one.out.find("film\u201D attends to"), std::string::npos) << one.out << one.err;
  const CommandResult word = with_model({"attend", "very long films", "--query", "films"});  // film ##s
  EXPECT_NE(word.out.find("films\u201D attends to"), std::string::npos) << word.out << word.err;
  expect_failure(with_model({"attend", "a film", "--query", "plot"}), 2,
                 {"there is no token", "[CLS] a film [SEP]"});
  expect_failure(with_model({"attend", "a film", "--target", "x"}), 2, {"--target"});
  expect_failure(with_model({"attend", "a film", "--stack", "cross"}), 2, {"no cross attention"});
}

TEST_F(CliClassifyTest, TextsToLookIntoAreNotCut) {
  std::string longer = "a";
  for (int n = 0; n < 19; ++n) longer += " film";
  const std::string most = "the model's maximum is 16";
  for (const char* name : {"attend", "lens", "attribute"}) {
    expect_failure(with_model({name, longer}), 2, {"the text has 22 tokens", most});
    expect_failure(with_model({name, longer + "\tdull"}), 2, {"the text has 24 tokens", most});
  }
  expect_failure(with_model({"patch", longer, longer + " dull"}), 2, {"the text has 22 tokens", most});
  expect_failure(with_model({"patch", "dull", longer}), 2, {"the text has 22 tokens", most});
}

TEST_F(CliClassifyTest, ModelsOfOtherTasksAreNamed) {
  expect_failure(with_model({"translate", "a film"}), 2, {"is a classifier (bert)", "heed classify"});
  expect_failure(heed_command({"classify", "a film"}), 2, {"--model"});
  const CommandResult info = with_model({"info"});
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_NE(info.out.find("bad, good, neither"), std::string::npos) << info.out;
}

TEST_F(CliClassifyTest, BundledModelsForTheTaskAreNamed) {
  std::filesystem::create_directory(other_.path("models"));
  std::filesystem::create_directory_symlink(folder_.path(), other_.path("models/kinds"));
  other_.write("models/broken", "");
  const Command::Settings bundled{.environment = {"HEED_MODELS=" + other_.path("models")}};
  const std::string kinds = "--model " + other_.path("models/kinds");
  expect_failure(heed_command({"classify", "x"}, bundled), 2, {"--model DIR", "bundled: " + kinds + "\n"});
  expect_failure(heed_command({"fill", "x"}, bundled), 2, {"--model DIR", "none for its task is bundled"});
  expect_failure(heed_command({"generate", "x"}, bundled), 2, {"heed train --task lm", "none for its task"});
  for (const char* path : {"models/kinds", "nowhere/kinds/", "kinds"}) {
    expect_failure(heed_command({"classify", "x", "--model", path}, bundled), 1,
                   {"does not exist", "the bundled one is " + kinds});
  }
}

TEST_F(CliClassifyTest, LabelsAreEscapedInTheTerminal) {
  // U+009B begins control sequences like ESC, which labels must not contain; U+202E reverses the text
  // direction.
  const std::string label = "b\u009b31m\u202ed", escaped = "b\\u{009b}31m\\u{202e}d";
  std::string config = content_of(folder_.path("config.json"));
  for (size_t at = config.find("\"bad\""); at != std::string::npos; at = config.find("\"bad\"", at)) {
    config.replace(at, 5, '"' + label + '"');
  }
  folder_.write("config.json", config);
  const std::string labelled = other_.write("labelled", "good\ta film\n" + label + "\tdull\n");
  const CommandResult table = with_model({"evaluate", "--task", "classify", "--text", labelled});
  EXPECT_EQ(table.status, 0) << table.err;
  const CommandResult info = with_model({"info"});
  const CommandResult lines = classify(many_lines(100));
  EXPECT_EQ(lines.status, 0) << lines.err;
  for (const std::string& out : {table.out, info.out, lines.out}) {
    EXPECT_EQ(out.find("\u009b"), std::string::npos) << out;
    EXPECT_EQ(out.find("\u202e"), std::string::npos) << out;
  }
  EXPECT_NE(table.out.find(escaped), std::string::npos) << table.out;
  EXPECT_NE(info.out.find(escaped), std::string::npos) << info.out;
}

TEST_F(CliClassifyTest, MismatchedFilesAreRefused) {
  folder_.write("vocab.txt", content_of(folder_.path("vocab.txt")) + "more\n");
  expect_failure(classify("a film\n"), 1, {"vocab.txt has 17 pieces", "vocab_size in config.json is 16"});
  folder_.write("vocab.txt", "[PAD]\n[UNK]\n[SEP]\n");
  expect_failure(classify("a film\n"), 1, {"vocab.txt", "[CLS]"});
  folder_.write("config.json",
                R"({"model_type": "bert", "architectures": ["BertForSequenceClassification"]})");
  expect_failure(classify("a film\n"), 1, {"vocab_size"});
}

}  // namespace
}  // namespace heed
