// Command tests of heed align and heed evaluate --alignments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "command.h"
#include "metrics/symmetrization.h"
#include "paths.h"
#include "reference.h"
#include "test_coded_model.h"
#include "test_folder.h"
#include "tiny_model.h"

namespace heed {
namespace {

using Arguments = std::vector<std::string>;

class CliAlignTest : public testing::Test {
 protected:
  CommandResult evaluate(std::vector<std::string> options) const {
    options.insert(options.begin(), {"evaluate", "--alignments"});
    return heed_command(options);
  }
  const TestFolder folder_;
};

// The example of AlignmentScore.MatchesManualExample.
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

TEST_F(CliAlignTest, RefusesInvalidOptions) {
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
  expect_failure(evaluate({folder_.write("empty", ""), "--pairs", pairs}), 1, {"is empty"});
}

std::string gold_path(const std::string& name) {
  return source_folder() + "/tests/data/alignment-" + name + ".de-en";
}

/// The AER of a German-English model on pairs of tests/data, in per cent.
double error_rate(const std::string& model, const std::string& name) {
  const std::string path = gold_path(name);
  const CommandResult result = heed_command({"evaluate", "--alignments", path + ".gold", "--pairs",
                                             path + ".tsv", "--json", "--model", model, "--threads", "2"});
  EXPECT_EQ(result.status, 0) << result.err;
  return 100 * nlohmann::json::parse(result.out).at("aer").get<double>();
}

TEST_F(CliAlignTest, TheBundledModelAlignsWell) {
  EXPECT_LT(error_rate(source_folder() + "/models/de-en", "dev"), 8);        // a diagonal: 49
  EXPECT_LT(error_rate(source_folder() + "/models/de-en", "long-dev"), 15);  // a diagonal: 74
}

TEST_F(CliAlignTest, ADashIsStandardInput) {
  const std::string pairs = folder_.write("pairs.tsv", "Ein Haus.\tA house.\nHallo\tHello\n");
  const std::string model = source_folder() + "/models/de-en";
  const CommandResult named = heed_command({"align", "--model", model, pairs}),
                      piped = heed_command({"align", "--model", model, "-"}, {.input = pairs});
  ASSERT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.out, named.out);
  EXPECT_THAT(piped.out, testing::HasSubstr("0-0"));
}

// Even an aligner trained on few pairs selects heads that align better than the last layer.
TEST_F(CliAlignTest, ChoosesHeadsByStatisticalAlignments) {
  std::string text;
  for (const char* name : {"dev", "test", "long-dev", "long-test"})
    text += content_of(gold_path(name) + ".tsv");
  const std::string pairs = folder_.write("pairs.tsv", text), model = folder_.path("model");
  std::filesystem::copy(source_folder() + "/models/de-en", model);
  auto config = nlohmann::json::parse(content_of(model + "/generation_config.json"));
  config.erase("alignment_heads");
  folder_.write("model/generation_config.json", config.dump());
  const double before = error_rate(model, "long-dev");
  const auto choose = [&](const std::string& threads) {
    return heed_command(
        {"align", "--choose-heads", "--model", model, "--pairs", pairs, "--threads", threads});
  };
  const CommandResult chosen = choose("2");
  ASSERT_EQ(chosen.status, 0) << chosen.err;
  EXPECT_NE(chosen.out.find("decoder layer"), std::string::npos) << chosen.out;
  const std::string noted = content_of(model + "/generation_config.json");
  EXPECT_FALSE(nlohmann::json::parse(noted).at("alignment_heads").empty());
  EXPECT_EQ(nlohmann::json::parse(noted).at("num_beams"), 4);
  EXPECT_LT(error_rate(model, "long-dev"), before);
  EXPECT_EQ(choose("1").out, chosen.out);
  EXPECT_EQ(content_of(model + "/generation_config.json"), noted);
  expect_failure(
      heed_command({"align", "--choose-heads", "--model", model, "--pairs", pairs, "--output", "x"}), 2,
      {"--output"});
}

// Where there is no generation_config.json, settings are in config.json, and only hold without one.
TEST_F(CliAlignTest, ChoosingHeadsKeepsTheSettingsOfConfigJson) {
  std::string text;
  for (const char* name : {"dev", "test", "long-dev", "long-test"})
    text += content_of(gold_path(name) + ".tsv");
  const std::string pairs = folder_.write("pairs.tsv", text), model = folder_.path("model");
  std::filesystem::copy(source_folder() + "/models/de-en", model);
  std::filesystem::remove(model + "/generation_config.json");
  auto config = nlohmann::json::parse(content_of(model + "/config.json"));
  config.update({{"num_beams", 3}, {"length_penalty", 0.5}, {"bad_words_ids", {{11999}}}});
  folder_.write("model/config.json", config.dump());
  const Arguments translate{"translate", "Der Hund schläft.", "--json", "--model", model};
  const CommandResult before = heed_command(translate),
                      chosen = heed_command({"align", "--choose-heads", "--model", model, "--pairs", pairs});
  ASSERT_EQ(chosen.status, 0) << chosen.err;
  auto settings = nlohmann::json::parse(content_of(model + "/generation_config.json"));
  EXPECT_FALSE(settings.at("alignment_heads").empty());
  settings.erase("alignment_heads");
  const nlohmann::json expected{{"bad_words_ids", {{11999}}},
                                {"bos_token_id", 0},
                                {"decoder_start_token_id", 11999},
                                {"eos_token_id", 0},
                                {"forced_eos_token_id", 0},
                                {"length_penalty", 0.5},
                                {"num_beams", 3},
                                {"pad_token_id", 11999}};
  EXPECT_EQ(settings, expected);
  EXPECT_EQ(heed_command(translate).out, before.out);
}

// A model that needs no other heads keeps those that it has, and no bundled model is changed by mistake.
TEST_F(CliAlignTest, ChoosingHeadsLosesNone) {
  const std::string pairs = folder_.write("pairs.tsv", "Der Hund\tThe dog\n"), model = folder_.path("model");
  std::filesystem::copy(source_folder() + "/models/de-en", model);
  const std::string before = content_of(model + "/generation_config.json");
  const CommandResult chosen = heed_command({"align", "--choose-heads", "--model", model, "--pairs", pairs});
  ASSERT_EQ(chosen.status, 0) << chosen.err;
  EXPECT_THAT(chosen.out, testing::HasSubstr("no head selected"));
  EXPECT_EQ(content_of(model + "/generation_config.json"), before);
  for (const Arguments& each : {Arguments{}, Arguments{"--pair", "de-en"}}) {
    Arguments options{"align", "--choose-heads", "--pairs", pairs};
    options.insert(options.end(), each.begin(), each.end());
    expect_failure(heed_command(options), 2, {"--choose-heads writes to the model directory"});
  }
}

TEST_F(CliAlignTest, HeadsMustBeThoseOfTheModel) {
  std::filesystem::copy(tiny_model(), folder_.path("model"), std::filesystem::copy_options::recursive);
  const std::string pairs = folder_.write("pairs.tsv", to_tsv(tiny_pairs(2, 5))),
                    path = folder_.path("model") + "/generation_config.json";
  const Arguments align{"align", "--model", folder_.path("model"), "--pairs", pairs};
  auto config = nlohmann::json::parse(content_of(path));
  config["alignment_heads"] = {{7, 0}};
  folder_.write("model/generation_config.json", config.dump());
  expect_failure(heed_command(align), 2, {"no decoder layer 8"});
  config["alignment_heads"] = {{0, "first"}};
  folder_.write("model/generation_config.json", config.dump());
  expect_failure(heed_command(align), 1, {"alignment_heads", "[layer, head]"});
}

// With the same model in both directions, the reverse links are those of the swapped pairs, swapped back.
TEST_F(CliAlignTest, BothDirectionsAreCombined) {
  const std::string pairs = folder_.write("pairs.tsv", to_tsv(tiny_pairs(20, 79)));
  const auto links_of = [&](const Arguments& more) {
    Arguments arguments{"align", "--model", tiny_model(), "--pairs", pairs};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = heed_command(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    std::vector<std::vector<WordLink>> links;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) links.push_back(parse_alignment(line, "output"));
    EXPECT_EQ(links.size(), 20u);
    return links;
  };
  const auto forward = links_of({}), turned = links_of({"--swap"});
  for (const char* method : {"intersection", "union", "grow-diag-final-and"}) {
    const auto combined = links_of({"--reverse", tiny_model(), "--symmetrize", method});
    for (size_t n = 0; n < combined.size(); ++n) {
      std::vector<WordLink> backward;
      for (const auto& [source, target] : turned[n]) backward.emplace_back(target, source);
      EXPECT_EQ(combined[n], symmetrize(forward[n], backward, parse_symmetrization(method)));
    }
  }
  EXPECT_EQ(links_of({"--reverse", tiny_model()}),
            links_of({"--reverse", tiny_model(), "--symmetrize", "grow-diag-final-and"}));
  expect_failure(heed_command({"align", "--model", tiny_model(), "--pairs", pairs, "--symmetrize", "union"}),
                 2, {"--reverse"});
  expect_failure(heed_command({"align", "--model", tiny_model(), "--pairs", pairs, "--reverse", tiny_model(),
                               "--symmetrize", "both"}),
                 2, {"grow-diag"});
}

std::string links_of_one_pair(const Arguments& more) {
  Arguments arguments{"align"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const CommandResult result = heed_command(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.out;
}

std::vector<WordLink> swapped(const std::string& links) {
  std::vector<WordLink> turned;
  for (const auto& [source, target] : parse_alignment(lines_of(links).at(0), "output"))
    turned.emplace_back(target, source);
  return turned;
}

TEST_F(CliAlignTest, ModelsOfManyLanguagesNeedOne) {
  const std::string model = folder_.path("codes"), text = "The old man", other = "Der Mann";
  write_with_codes(model);
  const std::string missing = "several languages: choose one with --target-language";
  expect_failure(heed_command({"align", "--model", model, text, other}), 2, {missing, text});
  EXPECT_NE(links_of_one_pair({"--model", model, text, other, "--target-language", "fra"}), "");
  EXPECT_NE(links_of_one_pair({"--model", model, ">>fra<< " + text, other}), "");
  const std::string pairs = folder_.write("pairs.tsv", text + "\t" + other + "\n"),
                    gold = folder_.write("gold", "0-0\n");
  expect_failure(evaluate({gold, "--pairs", pairs, "--model", model}), 2, {missing});
  folder_.write("codes/generation_config.json", "{}");
  expect_failure(heed_command({"align", "--choose-heads", "--model", model, "--pairs", pairs}), 2, {missing});
}

// The source of the pairs is the target of the reverse model. A model that cannot choose it has it anyway.
TEST_F(CliAlignTest, TheReverseModelHasTheLanguagesTheOtherWayAround) {
  const std::string model = folder_.path("codes"), text = "Der alte Mann", other = "The old man";
  write_with_codes(model);
  const auto align = [&](const Arguments& more) {
    Arguments arguments{text, other};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return links_of_one_pair(arguments);
  };
  const Arguments into{"--model", tiny_model(), "--reverse", model, "--symmetrize", "union"};
  Arguments with_language = into;
  with_language.insert(with_language.end(), {"--source-language", "spa"});
  std::vector<WordLink> expected =
      swapped(links_of_one_pair({other, text, "--model", model, "--target-language", "spa"}));
  expected = symmetrize(parse_alignment(lines_of(align({"--model", tiny_model()})).at(0), "output"), expected,
                        Symmetrization::kUnion);
  std::vector<WordLink> links = parse_alignment(lines_of(align(with_language)).at(0), "output");
  std::ranges::sort(links);
  EXPECT_EQ(links, expected);
  EXPECT_NE(align({"--model", model, "--reverse", tiny_model(), "--target-language", "spa"}), "");
  Arguments without{"align", text, other};
  without.insert(without.end(), into.begin(), into.end());
  expect_failure(heed_command(without), 2, {"--reverse", "choose one with --source-language"});
  without.insert(without.end(), {"--target-language", "spa"});
  expect_failure(heed_command(without), 2, {"no language tokens"});
}

// The same without options: the languages of the forward model are those of the pairs.
TEST_F(CliAlignTest, LanguagesOfTheReverseModelAreSwapped) {
  const std::filesystem::path family = families_folder() / "seq2seq_families" / "nllb" / "model";
  if (!std::filesystem::is_directory(family)) GTEST_SKIP() << missing_families();
  const std::string text = "I finally finished reading the book last night.",
                    other = "Ich habe das Buch gestern Abend endlich zu Ende gelesen.";
  const auto align = [&](const std::string& source, const std::string& target, const Arguments& more) {
    Arguments arguments{source, target, "--model", family.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return links_of_one_pair(arguments);
  };
  const Arguments both{"--reverse", family.string(), "--symmetrize", "union"},
      languages{"--source-language", "eng_Latn", "--target-language", "deu_Latn"},
      turned{"--source-language", "deu_Latn", "--target-language", "eng_Latn"};
  Arguments given = both;
  given.insert(given.end(), languages.begin(), languages.end());
  const std::vector<WordLink> expected =
      symmetrize(parse_alignment(lines_of(align(text, other, languages)).at(0), "output"),
                 swapped(align(other, text, turned)), Symmetrization::kUnion);
  for (const Arguments& options : {given, both}) {
    std::vector<WordLink> links = parse_alignment(lines_of(align(text, other, options)).at(0), "output");
    std::ranges::sort(links);
    EXPECT_EQ(links, expected);
  }
}

TEST_F(CliAlignTest, RefusesOptionsWithoutEffect) {
  const std::string gold = folder_.write("gold", "0-0\n"), links = folder_.write("links", "0-0\n"),
                    pairs = folder_.write("p.tsv", "a\tA\n");
  for (const Arguments& each :
       {Arguments{"--metrics", "ter"}, Arguments{"--confidence"}, Arguments{"--paired-bs"},
        Arguments{"--tokenize", "none"}, Arguments{"--lowercase"}, Arguments{"--beam", "2"}}) {
    Arguments options{gold, "--pairs", pairs};
    options.insert(options.end(), each.begin(), each.end());
    expect_failure(evaluate(options), 2, {each[0], "--alignments"});
  }
  expect_failure(evaluate({gold, "--hypothesis", links, "--precision", "int8"}), 2, {"--precision"});
  for (const Arguments& each :
       {Arguments{"--layer", "1"}, Arguments{"--reverse", tiny_model()}, Arguments{"--part", "1/2"},
        Arguments{"--resume"}, Arguments{"--output", "x"}}) {
    Arguments options{"align", "--choose-heads", "--model", tiny_model(), "--pairs", pairs};
    options.insert(options.end(), each.begin(), each.end());
    expect_failure(heed_command(options), 2, {each[0], "--choose-heads"});
  }
}

}  // namespace
}  // namespace heed
