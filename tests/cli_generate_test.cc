// Command tests of language models: heed generate, score, attend and info.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text/json_file.h"
#include "command.h"
#include "models/config/decoder_only_config.h"
#include "models/test_models.h"
#include "test_folder.h"
#include "test_json_lines.h"
#include "text/tokenizers/language_tokenizer.h"

namespace heed {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Arguments = std::vector<std::string>;

class CliGenerateTest : public testing::Test {
 protected:
  void SetUp() override {
    models::DecoderOnlyConfig config;
    config.family = &models::gpt2_family();
    config.vocabulary = 256;
    config.width = 16;
    config.layers = 2;
    config.heads = 2;
    config.inner_width = 32;
    config.max_length = 48;
    models::write_untrained(folder_.path(), models::DecoderOnly(config), 7);
    byte_tokenizer().save(folder_.path());
  }
  CommandResult run(Arguments arguments, const Command::Settings& settings = {}) const {
    arguments.insert(arguments.begin() + 1, {"--model", folder_.path()});
    return heed_command(arguments, settings);
  }
  TestFolder folder_;
};

TEST_F(CliGenerateTest, TextAndJsonAgree) {
  const Arguments base{"generate", "Once", "--max-tokens", "12", "--seed", "3"};
  const CommandResult shown = run(base);
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, StartsWith("Once"));
  Arguments json = base;
  json.push_back("--json");
  const auto objects = objects_of(run(json).out);
  ASSERT_EQ(objects.size(), 1U);
  EXPECT_EQ("Once" + objects[0].at("text").get<std::string>() + "\n", shown.out);
  EXPECT_EQ(objects[0].at("ids").size(), 12U);
  EXPECT_EQ(objects[0].at("tokens").size(), 12U);
  EXPECT_EQ(objects[0].at("log_probabilities").size(), 12U);
  EXPECT_EQ(objects[0].at("ending"), "length");
  Arguments other = base;
  other.back() = "4";
  EXPECT_NE(run(other).out, shown.out);
}

TEST_F(CliGenerateTest, ConvertWritesTheTokenizerForHuggingFace) {
  // Older directories have none.
  std::filesystem::remove(folder_.path("tokenizer.json"));
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "HeedByteTokenizer"})");
  const TestFolder out;
  const CommandResult result =
      heed_command({"convert", folder_.path(), out.path("converted"), "--to", "huggingface"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(content_of(out.path("converted/tokenizer.json")), byte_tokenizer().tokenizer_json());
  EXPECT_THAT(content_of(out.path("converted/tokenizer_config.json")), HasSubstr("PreTrainedTokenizerFast"));
  const Arguments prompt{"generate", "Once", "--max-tokens", "8", "--seed", "3", "--model"};
  Arguments before = prompt, after = prompt;
  before.push_back(folder_.path());
  after.push_back(out.path("converted"));
  EXPECT_EQ(heed_command(before).out, heed_command(after).out);
}

TEST_F(CliGenerateTest, ThreadsAndBatchesDoNotChangeResults) {
  const std::string prompts = folder_.write("prompts", "one\ntwo\nthree\nfour\n");
  const Arguments base{"generate", "--input", prompts, "--samples", "2", "--max-tokens", "9", "--json"};
  Arguments one = base, three = base;
  one.insert(one.end(), {"--threads", "1"});
  three.insert(three.end(), {"--threads", "3"});
  const CommandResult result = run(one);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(objects_of(result.out).size(), 8U);
  EXPECT_EQ(run(three).out, result.out);
}

TEST_F(CliGenerateTest, ContinuesWithoutManifestWhereEachPromptHasOneLine) {
  const std::string prompts = folder_.write("prompts", "one\ntwo\nthree\nfour\n");
  const Arguments base{"generate", "--max-tokens", "1", "--json", "--input", prompts, "--beam", "2"};
  const std::string whole = run(base).out;
  const auto resumed = [&](const std::string& written, Arguments more) {
    const Arguments resume{"--resume", "--output", folder_.write("output", written)};
    more.insert(more.begin(), base.begin(), base.end());
    more.insert(more.end(), resume.begin(), resume.end());
    return run(more);
  };
  EXPECT_EQ(resumed(whole.substr(0, whole.find('\n') + 1), {}).status, 0);
  EXPECT_EQ(content_of(folder_.path("output")), whole);
  std::filesystem::remove(folder_.path("output.manifest.json"));
  expect_failure(resumed(whole, {"--samples", "2"}), 2, {"has no manifest, so it cannot be continued"});
}

TEST_F(CliGenerateTest, ReportsTheModelsMaximumLength) {
  const CommandResult result = run({"generate", "Once", "--greedy", "--max-tokens", "500"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("maximum length of 48 tokens"));
}

TEST_F(CliGenerateTest, ScoresTexts) {
  const std::string texts =
      folder_.write("texts", "Once upon\n\na time that is longer than the model has positions\n");
  const CommandResult lines = run({"score", "--input", texts});
  EXPECT_EQ(lines.status, 0) << lines.err;
  EXPECT_EQ(std::count(lines.out.begin(), lines.out.end(), '\n'), 3);
  const auto totals = objects_of(run({"score", "--input", texts, "--summary", "--json"}).out).at(0);
  EXPECT_EQ(totals.at("texts"), 3);
  EXPECT_EQ(totals.at("tokens"), 8 + 49);  // each byte except the first
  EXPECT_EQ(totals.at("bytes"), totals.at("tokens"));
  EXPECT_NEAR(totals.at("perplexity").get<double>(), 256, 60);  // untrained
  EXPECT_EQ(run({"score", "--input", texts, "--whole", "--summary", "--json"}).status, 0);

  const std::string one = folder_.write("one", "Once upon\n");
  const Arguments nothing{"score", "--input", one, "--part", "2/2", "--summary"};
  EXPECT_EQ(run(nothing).out, "0 texts, 0 tokens: nothing to score\n");
  Arguments as_json = nothing;
  as_json.push_back("--json");
  EXPECT_TRUE(objects_of(run(as_json).out).at(0).at("perplexity").is_null());

  EXPECT_EQ(run({"score", texts}).out, lines.out);  // the name of a file
  EXPECT_EQ(run({"score", "Once upon", "a time"}).out,
            run({"score", "--input", folder_.write("two", "Once upon\na time\n")}).out);
}

TEST_F(CliGenerateTest, AttendAndInfo) {
  const auto trace = nlohmann::json::parse(run({"attend", "to be", "--json"}).out);
  EXPECT_EQ(trace.at("attention").at("decoder").size(), 2U);
  EXPECT_TRUE(trace.at("attention").at("cross").empty());
  EXPECT_EQ(trace.at("decoder_tokens"), (Arguments{"t", "o", "▁", "b", "e"}));
  EXPECT_THAT(run({"attend", "to be"}).out, HasSubstr("decoder"));
  EXPECT_THAT(run({"attend", "to be"}).out,
              HasSubstr("rows: text tokens (queries); columns: text tokens (keys)"));
  // A query is named by the token that is read; the text has one "t", its first.
  EXPECT_THAT(run({"attend", "to be", "--query", "t"}).out, HasSubstr("what \u201Ct\u201D attends to"));
  const std::string picture = folder_.path("attention.svg");
  EXPECT_EQ(run({"attend", "to be", "--output", picture}).status, 0);
  EXPECT_THAT(run({"info"}).out, HasSubstr("gpt2"));
}

TEST_F(CliGenerateTest, LossyReplacesWhatIsInvalidInPrompts) {
  const std::string invalid =
                        "a\xF6"
                        "b",
                    replaced =
                        "a\xEF\xBF\xBD"
                        "b";
  expect_failure(run({"generate", invalid, "--greedy"}), 1, {"the prompt is not UTF-8"});
  for (const Arguments& more : {Arguments{}, Arguments{"--json"}, Arguments{"c"}}) {
    const auto output = [&](const std::string& prompt) {
      Arguments arguments{"generate", prompt, "--lossy", "--greedy", "--max-tokens", "4"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const CommandResult result = run(arguments);
      EXPECT_EQ(result.status, 0) << result.err;
      return result.out;
    };
    EXPECT_THAT(output(invalid), HasSubstr(replaced));
    EXPECT_EQ(output(invalid), output(replaced));
  }
}

struct Refused {
  Arguments arguments;
  std::string message;
};

TEST_F(CliGenerateTest, RefusesInvalidOptions) {
  const std::vector<Refused> cases{
      {{"translate", "Guten Tag"}, "language model"},
      {{"generate"}, "has no start token"},
      {{"generate", "x", "--temperature", "-1"}, "--temperature takes a number from 0"},
      {{"generate", "x", "--greedy", "--top-k", "5"}, "--top-k and --greedy exclude each other"},
      {{"generate", "x", "--stop", ""}, "must not be empty"},
      {{"generate", "x", "--greedy", "--samples", "2"}, "--samples is 2, but greedy search gives one text"},
      {{"generate", "x", "--temperature", "0", "--samples", "2"},
       "greedy search, which a temperature of 0 is,"},
      {{"generate", "x", "--beam", "2", "--top-k", "5"}, "--top-k and --beam exclude each other"},
      {{"generate", std::string(49, 'x')}, "the model's maximum is 48"},
      {{"generate", "x", "--input", "y"}, "exclude each other"},
      {{"score", "--pairs", "x.tsv"}, "scores texts, not pairs"},
      {{"score", "--input", "x", "--whole", "--part", "1/2"}, "--part"},
      {{"score", "x", "--swap"}, "--swap is for translation models"},
      {{"score", "x", "--target-language", "de"}, "--target-language are for translation models"},
      {{"attend", "x", "--target", "y"}, "leave out --target"}};
  for (const Refused& each : cases) {
    const CommandResult result = run(each.arguments);
    EXPECT_NE(result.status, 0);
    EXPECT_THAT(result.err, HasSubstr(each.message));
  }
}

TEST_F(CliGenerateTest, ConvertsModelsOfLlama2c) {
  std::string bytes;
  const auto append = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  for (const int32_t each : {8, 4, 1, 2, 1, 20, 16}) append(each);
  const int count = 20 * 8 + 8 + 64 + 32 + 32 + 64 + 8 + 3 * 32 + 8 + 16 * 4;
  for (int n = 0; n < count; ++n) append(static_cast<float>(n % 7) / 10 - 0.3F);
  const std::string file = folder_.write("model.bin", bytes), out = folder_.path("converted");
  const CommandResult converted = heed_command({"convert", file, out, "--from", "llama2c"});
  EXPECT_EQ(converted.status, 0) << converted.err;
  EXPECT_THAT(converted.err, HasSubstr("without a tokenizer"));
  const CommandResult made =
      heed_command({"generate", "1 5 9", "--model", out, "--greedy", "--max-tokens", "3"});
  EXPECT_EQ(made.status, 0);
  EXPECT_THAT(made.out, StartsWith("1 5 9 "));
  EXPECT_THAT(made.err, HasSubstr("no supported tokenizer"));
  EXPECT_NE(heed_command({"generate", "1 x", "--model", out}).status, 0);
  for (const char* weights : {"float32", "int8"}) {
    expect_failure(heed_command({"convert", file, folder_.path("ct2"), "--from", "llama2c", "--to",
                                 "ctranslate2", "--weights", weights}),
                   2, {"is a model of llama2.c: convert it for Heed first"});
  }
}

}  // namespace
}  // namespace heed
