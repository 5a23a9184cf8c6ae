// heed heads, and heed evaluate --ablate.

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/file.h"
#include "cli/evaluation/head_importance.h"
#include "tiny_model.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class HeadsCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    pairs_ = tiny_pairs(12, 91);
    path_ = folder_.write("test.tsv", to_tsv(pairs_));
  }
  static Json run_json(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--model", tiny_model(), "--json", "--quiet"});
    const CommandResult result = heed_command(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(result.out);
  }

  TestFolder folder_;
  std::vector<SentencePair> pairs_;
  std::string path_;
};

TEST_F(HeadsCommand, ScoresWithEachHeadOff) {
  const std::string picture = folder_.path("heads.svg");
  const Json heads = run_json({"heads", "--pairs", path_, "--beam", "1", "--output", picture});
  EXPECT_EQ(heads["pairs"], 12);
  EXPECT_NEAR(heads["bleu"],
              run_json({"evaluate", "--pairs", path_, "--beam", "1", "--metrics", "bleu"})["bleu"], 1e-9);
  // One of each stack, against the commands that switch it off.
  double largest = 0;
  for (const Json& each : heads["heads"]) {
    largest =
        std::max(largest, heads["log_probability"].get<double>() - each["log_probability"].get<double>());
    if (each["layer"] != 1 || each["head"] != 2) continue;
    const std::string name = each["stack"].get<std::string>() + ":1:2";
    EXPECT_NEAR(each["bleu"],
                run_json({"evaluate", "--pairs", path_, "--beam", "1", "--metrics", "bleu", "--ablate",
                          name})["bleu"],
                1e-9)
        << name;
    double sum = 0;
    size_t tokens = 0;
    for (const SentencePair& pair : pairs_) {
      const Json trace = run_json({"attend", pair.source, "--target", pair.target, "--ablate", name});
      for (const double value : trace["log_probabilities"]) sum += value;
      tokens += trace["log_probabilities"].size();
    }
    EXPECT_EQ(heads["tokens"], tokens);
    // Only scores, as searches, leave out the padding token.
    EXPECT_NEAR(each["log_probability"], sum / static_cast<double>(tokens), 1e-3) << name;
  }
  EXPECT_GT(largest, 0.01);  // some head matters
  EXPECT_NE(read_file(picture).find("<title>Loss of log-probability"), std::string::npos);
}

TEST_F(HeadsCommand, ListsTheMostImportantFirst) {
  const CommandResult result =
      heed_command({"heads", "--model", tiny_model(), "--pairs", path_, "--max-pairs", "5", "--no-bleu"});
  ASSERT_EQ(result.status, 0) << result.err;
  std::istringstream lines(result.out);
  std::string line, name;
  std::getline(lines, line);
  EXPECT_THAT(line, testing::Not(HasSubstr("BLEU")));
  std::getline(lines, line);
  EXPECT_TRUE(line.starts_with("none")) << line;
  double before = -std::numeric_limits<double>::infinity();
  size_t count = 0;
  for (double value = 0; lines >> name >> value && std::getline(lines, line); ++count) {
    EXPECT_GE(value, before);
    EXPECT_THAT(name, testing::MatchesRegex("(encoder|cross|decoder):[0-9]+:[0-9]+"));
    before = value;
  }
  const Json heads = run_json({"heads", "--pairs", path_, "--max-pairs", "5", "--no-bleu"});
  EXPECT_EQ(count, heads["heads"].size());
  EXPECT_EQ(heads["pairs"], 5);
  EXPECT_FALSE(heads.contains("bleu"));
}

// Heads without which the model is better have negative losses, which the scale includes.
TEST(HeadImportance, PicturesHaveAllLosses) {
  cli::HeadImportance importance;
  importance.whole = {.log_probability = -0.5, .bleu = 30};
  for (int head = 0; head < 4; ++head) {
    importance.heads.push_back({{.layer_id = {.stack = Stack::kEncoder, .layer = 0}, .head = head},
                                {.log_probability = -0.63 + 0.112 * head, .bleu = 30.04}});
  }
  const Picture picture = cli::head_importance_picture(importance);
  std::set<std::string> words;
  for (const Text& text : picture.texts()) {
    words.insert(text.label.text);
    EXPECT_LE(text.bounds.right(), picture.width) << text.label.text;
  }
  EXPECT_TRUE(words.contains("130") && words.contains("-206") && words.contains("-250")) << "of the scale";
  EXPECT_FALSE(words.contains("-0.0"));
}

TEST_F(HeadsCommand, RefusesWhatItCannotDo) {
  const std::string model = tiny_model();
  expect_failure(heed_command({"heads", "--model", model}), 2, {"--pairs"});
  expect_failure(heed_command({"heads", "--model", model, "--pairs", path_, "--output", "heads.gif"}), 2,
                 {"heads.gif"});
  expect_failure(heed_command({"heads", "--model", model, "--pairs", folder_.write("empty.tsv", "")}), 1,
                 {"empty.tsv"});
  expect_failure(heed_command({"evaluate", "--model", model, "--pairs", path_, "--ablate", "cross:9:1"}), 2,
                 {"layers 1 to"});
  expect_failure(
      heed_command({"evaluate", "--hypothesis", path_, "--reference", path_, "--ablate", "cross:1:1"}), 2,
      {"--ablate", "--hypothesis"});
}

}  // namespace
}  // namespace heed
