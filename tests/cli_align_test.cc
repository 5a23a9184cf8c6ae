// heed align, and heed evaluate --alignments, as a person meets them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "paths.h"
#include "test_folder.h"
#include "tiny_model.h"

namespace heed {
namespace {

class CliAlignTest : public testing::Test {
 protected:
  CommandResult evaluate(std::vector<std::string> options) const {
    options.insert(options.begin(), {"evaluate", "--alignments"});
    return heed_command(options);
  }
  const TestFolder folder_;
};

// The example of AlignmentScore.MatchesAnExampleWorkedOutByHand.
TEST_F(CliAlignTest, ScoresAlignmentsOfAFile) {
  const std::string gold = folder_.write("gold", "0-0 1-1 2-2 2?1 1p2\n0-1\n"),
                    links = folder_.write("links", "3-3 1-1 0-0 2-1 0-0\n0-1\n"),
                    pairs = folder_.write("pairs.tsv", "a b c d\tA B C D\na\tB A\n");
  const CommandResult result = evaluate({gold, "--hypothesis", links, "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto scores = nlohmann::json::parse(result.out);
  EXPECT_DOUBLE_EQ(scores.at("aer"), 1 - 7.0 / 9);
  EXPECT_DOUBLE_EQ(scores.at("precision"), 0.8);
  EXPECT_DOUBLE_EQ(scores.at("recall"), 0.75);
  EXPECT_DOUBLE_EQ(scores.at("f1"), 1.2 / 1.55);
  EXPECT_EQ(evaluate({gold, "--hypothesis", links, "--pairs", pairs}).out,
            "AER        22.22\nprecision  80.00\nrecall     75.00\nF1         77.42\n");
  const std::string turned = folder_.write("turned", "3-3 1-1 0-0 1-2\n1-0\n");
  EXPECT_EQ(evaluate({gold, "--hypothesis", turned, "--pairs", pairs, "--swap", "--json"}).out, result.out);
}

TEST_F(CliAlignTest, SaysWhatDoesNotFit) {
  const std::string gold = folder_.write("gold", "0-0\n0-1\n"),
                    pairs = folder_.write("p.tsv", "a\tA\nb\tB b\n"), one = folder_.write("one", "0-0\n"),
                    bad = folder_.write("bad", "0-0\n0:1\n"),
                    outside = folder_.write("outside", "0-0\n1-1\n");
  expect_failure(evaluate({gold}), 2, {"--pairs", "--hypothesis"});
  expect_failure(evaluate({gold, "--hypothesis", one}), 1, {"one' has 1 line", "have 2"});
  expect_failure(evaluate({gold, "--hypothesis", bad}), 1, {"bad', line 2", "0:1"});
  expect_failure(evaluate({gold, "--hypothesis", outside, "--pairs", pairs}), 1,
                 {"outside', line 2", "1-1", "1 source and 2 target words"});
  expect_failure(evaluate({gold, "--hypothesis", one, "--reference", one}), 2, {"--alignments"});
  expect_failure(evaluate({folder_.write("empty", ""), "--pairs", pairs}), 1, {"no lines"});
}

/// The AER of the bundled German-English model on pairs of tests/data, in per cent.
double bundled_error_rate(const std::string& name) {
  const std::string path = source_folder() + "/tests/data/" + name;
  const CommandResult result =
      heed_command({"evaluate", "--alignments", path + ".gold", "--pairs", path + ".tsv", "--json", "--model",
                    source_folder() + "/models/de-en", "--threads", "2"});
  EXPECT_EQ(result.status, 0) << result.err;
  return 100 * nlohmann::json::parse(result.out).at("aer").get<double>();
}

TEST_F(CliAlignTest, TheBundledModelAlignsBetterThanADiagonal) {
  EXPECT_LT(bundled_error_rate("alignment-dev.de-en"), 30);       // a diagonal: 49.2
  EXPECT_LT(bundled_error_rate("alignment-long-dev.de-en"), 58);  // a diagonal: 74
}

}  // namespace
}  // namespace heed
