// Command tests of heed shortlist and --shortlist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "heed/translator.h"
#include "test_folder.h"
#include "tiny_model.h"

namespace heed {
namespace {

using testing::HasSubstr;

class CliShortlistTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy(tiny_model(), model_, std::filesystem::copy_options::recursive);
    pairs_ = folder_.write("pairs.tsv", to_tsv(tiny_pairs(1000, 1)));
    std::string lines;
    for (const SentencePair& pair : tiny_pairs(60, 9)) lines += pair.source + "\n";
    input_ = folder_.write("input", lines);
  }
  CommandResult make_list(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments{"shortlist", model_, "--pairs", pairs_};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return heed_command(arguments);
  }
  std::string translate(std::vector<std::string> options) const {
    options.insert(options.begin(), {"translate", "--model", model_, "--input", input_, "--scores"});
    if (std::find(options.begin(), options.end(), "--beam") == options.end()) {
      options.insert(options.end(), {"--beam", "1"});
    }
    const CommandResult result = heed_command(options);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
  TestFolder folder_;
  std::string model_ = folder_.path("model"), pairs_, input_;
};

TEST_F(CliShortlistTest, TranslatorsHaveTheOption) {
  expect_error(ErrorKind::kUsage, "has no shortlist", [&] { Translator(model_, 1, {}, "", true); });
  ASSERT_EQ(make_list({"--common", "10"}).status, 0);
  const std::string line = tiny_pairs(60, 9)[0].source;
  const auto score = [&](const std::string& precision, std::optional<bool> shortlist, int beam) {
    const Translator translator(model_, 1, {}, precision, shortlist);
    return translator.alternatives(line, {.beam = beam})[0].score;
  };
  const auto command = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"translate", line, "--model", model_, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return nlohmann::json::parse(heed_command(arguments).out).at("score").get<double>();
  };
  EXPECT_EQ(score("float32", true, 1), command({"--shortlist", "on", "--beam", "1"}));
  EXPECT_EQ(score("int8", true, 3), command({"--precision", "int8", "--shortlist", "on", "--beam", "3"}));
  EXPECT_EQ(score("int8", {}, 1), command({"--precision", "int8", "--beam", "1"}));
  EXPECT_EQ(score("int8", false, 1), command({"--precision", "int8", "--shortlist", "off", "--beam", "1"}));
  EXPECT_NE(score("int8", {}, 1), score("int8", false, 1));
  EXPECT_NE(score("float32", true, 1), score("float32", false, 1));
}

TEST_F(CliShortlistTest, UsedInInt8AndOnRequest) {
  const std::string floats = translate({}), whole_numbers = translate({"--precision", "int8"});
  const CommandResult made = make_list({"--common", "10"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("from 1000 pairs"));
  // Scores are normalized over the shortlist, so they show whether it is used.
  EXPECT_EQ(translate({}), floats);
  EXPECT_EQ(translate({"--precision", "int8", "--shortlist", "off"}), whole_numbers);
  EXPECT_NE(translate({"--shortlist", "on"}), floats);
  const std::string listed = translate({"--precision", "int8"});
  EXPECT_NE(listed, whole_numbers);
  EXPECT_EQ(listed, translate({"--precision", "int8", "--shortlist", "on"}));
  EXPECT_EQ(listed, translate({"--precision", "int8", "--threads", "1", "--batch-tokens", "30"}));
  const std::string beams = translate({"--precision", "int8", "--beam", "3"});
  EXPECT_EQ(beams, translate({"--precision", "int8", "--beam", "3", "--shortlist", "off"}));
  EXPECT_NE(beams, translate({"--precision", "int8", "--beam", "3", "--shortlist", "on"}));
}

TEST_F(CliShortlistTest, SimilarTranslationQuality) {
  ASSERT_EQ(make_list().status, 0);
  const std::string pairs = folder_.write("test.tsv", to_tsv(tiny_pairs(100, 9)));
  const auto bleu = [&](const std::string& shortlist) {
    const CommandResult result =
        heed_command({"evaluate", "--model", model_, "--pairs", pairs, "--json", "--shortlist", shortlist});
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out)["bleu"].get<double>();
  };
  EXPECT_NEAR(bleu("on"), bleu("off"), 1);
}

TEST_F(CliShortlistTest, WorksWithAQuantizedModel) {
  ASSERT_EQ(make_list().status, 0);
  const std::string listed = translate({"--precision", "int8"}), quantized = folder_.path("int8");
  ASSERT_EQ(heed_command({"quantize", model_, quantized}).status, 0);
  EXPECT_EQ(
      heed_command({"translate", "--model", quantized, "--input", input_, "--scores", "--beam", "1"}).out,
      listed);
}

TEST_F(CliShortlistTest, RefusesInvalidOptions) {
  expect_failure(heed_command({"translate", "--model", model_, "--shortlist", "on", "Der"}), 2,
                 {"has no shortlist", "heed shortlist"});
  expect_failure(heed_command({"translate", "--model", model_, "--shortlist=perhaps", "Der"}), 2,
                 {"--shortlist takes on or off, not 'perhaps'"});
  expect_failure(heed_command({"shortlist", model_}), 2, {"give either --pairs"});
  expect_failure(heed_command({"shortlist", folder_.path("none"), "--pairs", pairs_}), 1, {"does not exist"});
  expect_failure(make_list({"--least", "2"}), 2, {"--least"});
  EXPECT_FALSE(std::filesystem::exists(model_ + "/shortlist.safetensors"));
  folder_.write("model/shortlist.safetensors", "no list");
  expect_failure(heed_command({"translate", "--model", model_, "--precision", "int8", "Der"}), 1,
                 {"shortlist.safetensors"});
  EXPECT_EQ(heed_command({"translate", "--model", model_, "--precision", "int8", "--shortlist", "off", "Der"})
                .status,
            0);
}

}  // namespace
}  // namespace heed
