// The options of heed::Translator against the options of `heed translate` of the same names.

#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "heed/translator.h"
#include "tiny_model.h"

namespace heed {
namespace {

struct Case {
  const char* name;
  TranslateOptions options;
  std::vector<std::string> arguments;
};

std::ostream& operator<<(std::ostream& out, const Case& each) {
  return out << each.name;
}

const std::vector<std::string> kSourceLines{"Der alte Hund sieht den Baum. Der rote Fisch sucht den Vogel.",
                                            "", "Der junge Mann kennt den kleinen König."};

std::vector<nlohmann::json> command_lines(std::vector<std::string> arguments,
                                          const std::vector<std::string>& texts) {
  arguments.insert(arguments.begin(), {"translate", "--json", "--model", tiny_model()});
  arguments.insert(arguments.end(), texts.begin(), texts.end());
  const CommandResult result = heed_command(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  std::vector<nlohmann::json> lines;
  std::istringstream stream(result.out);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

void expect_equal(const TranslatedText& found, const nlohmann::json& expected) {
  EXPECT_EQ(found.text, expected.at("translation").get<std::string>());
  EXPECT_EQ(found.log_probability, expected.at("log_probability").get<double>());
  EXPECT_EQ(found.score, expected.at("score").get<double>());
  EXPECT_EQ(found.pieces, expected.at("pieces").get<std::vector<std::string>>());
  if (!expected.contains("alignment")) {
    EXPECT_TRUE(found.alignment.empty());
  } else {
    EXPECT_EQ(nlohmann::json(found.alignment), expected.at("alignment"));
  }
  if (!expected.contains("confidence")) {
    EXPECT_TRUE(found.word_confidence.empty());
  } else {
    EXPECT_EQ(found.confidence, expected.at("confidence").get<double>());
    EXPECT_EQ(nlohmann::json(found.word_confidence), expected.at("word_confidence"));
  }
}

class TranslatorOptions : public testing::TestWithParam<Case> {};

TEST_P(TranslatorOptions, GiveWhatTheCommandGives) {
  const Translator translator(tiny_model(), 2);
  const auto found = translator.alternatives(kSourceLines, GetParam().options);
  const auto expected = command_lines(GetParam().arguments, kSourceLines);
  ASSERT_EQ(found.size(), expected.size());
  bool same_as_default = true;
  const auto usual = translator.alternatives(kSourceLines);
  for (size_t n = 0; n < found.size(); ++n) {
    SCOPED_TRACE(n);
    const nlohmann::json& others = expected[n].at("alternatives");
    ASSERT_EQ(found[n].size(), others.size() + 1);
    expect_equal(found[n][0], expected[n]);
    for (size_t rank = 0; rank < others.size(); ++rank) expect_equal(found[n][rank + 1], others[rank]);
    const TranslatedText &first = found[n][0], &before = usual[n][0];
    same_as_default = same_as_default && first.text == before.text && first.score == before.score &&
                      first.alignment == before.alignment && first.word_confidence == before.word_confidence;
  }
  EXPECT_FALSE(same_as_default) << "the option changes nothing here, so this test shows nothing";
}

INSTANTIATE_TEST_SUITE_P(
    Each, TranslatorOptions,
    testing::Values(
        Case{"beam_and_penalty",
             {.beam = 5, .nbest = 3, .length_penalty = 0.3},
             {"--nbest", "3", "--beam", "5", "--length-penalty", "0.3"}},
        Case{"max_length", {.max_length = 6}, {"--max-length", "6"}},
        Case{"no_repeat_ngram", {.no_repeat_ngram = 1}, {"--no-repeat-ngram", "1"}},
        Case{"prefix", {.prefix = "A"}, {"--prefix", "A"}},
        Case{"require_and_forbid",
             {.require = {"tree", "big"}, .forbid = {"the dog", "k*"}},
             {"--require", "tree", "--require", "big", "--forbid", "the dog", "--forbid", "k*"}},
        Case{"split_sentences", {.split_sentences = false}, {"--no-split-sentences"}},
        Case{"ablate",
             {.ablate = {"cross:1:all", "encoder:1:1"}},
             {"--ablate", "cross:1:all", "--ablate", "encoder:1:1"}},
        Case{"alignment", {.beam = 1, .alignment = true}, {"--alignment", "--beam", "1"}},
        Case{"confidence", {.beam = 1, .confidence = true}, {"--confidence", "--beam", "1"}},
        Case{"sample",
             {.nbest = 2, .sample = true, .temperature = 1.5, .top_k = 30, .top_p = 0.9, .seed = 9},
             {"--sample", "--nbest", "2", "--temperature", "1.5", "--top-k", "30", "--top-p", "0.9", "--seed",
              "9"}}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(TranslatorPrecision, GivesWhatTheCommandGives) {
  const std::vector<std::string> texts{kSourceLines[0]};
  const Translator int8(tiny_model(), 1, {}, "int8");
  expect_equal(int8.alternatives(texts[0])[0], command_lines({"--precision", "int8"}, texts)[0]);
  EXPECT_NE(int8.alternatives(texts[0])[0].score,
            Translator(tiny_model(), 1).alternatives(texts[0])[0].score);
}

TEST(TranslatorDocuments, GiveWhatTheCommandGives) {
  const Translator translator(tiny_model(), 1);
  for (const auto& [format, document] : std::vector<std::pair<std::string, std::string>>{
           {"html", "<p class=a>Der <b>alte</b> Hund sieht den Baum.</p><pre>Hund</pre>"},
           {"markdown", "# Der Hund\n\nDer *alte* Hund sieht den Baum.\n\n    Hund\n"}}) {
    const CommandResult result =
        heed_command({"translate", "--model", tiny_model(), "--format", format, "--beam", "2", document});
    EXPECT_EQ(translator.translate_document(document, format, {.beam = 2}) + "\n", result.out);
    EXPECT_NE(result.out, document + "\n");
  }
}

}  // namespace
}  // namespace heed
