// Commands with directories of CTranslate2 that `heed convert` wrote from models of many families: the same
// translations and continuations as from the originals, with any of their tokenizer files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/text/json_file.h"
#include "command.h"
#include "reference.h"
#include "test_folder.h"

namespace heed {
namespace {

using testing::HasSubstr;

class CliCtranslate2 : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(families_folder())) GTEST_SKIP() << missing_families();
  }
  static std::string model_of(const std::string& kind, const std::string& family) {
    return (families_folder() / kind / family / "model").string();
  }
  static std::string output_of(std::vector<std::string> arguments) {
    const CommandResult result = heed_command(std::move(arguments));
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
  /// The model, converted for CTranslate2 or back.
  std::string converted(const std::string& model, const std::string& name, const std::string& to) const {
    std::string output = folder_.path(name);
    output_of({"convert", model, output, "--to", to, "--quiet"});
    return output;
  }
  static std::string translations(const std::string& model, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"translate", "The dog is in the garden.", "--model", model, "--beam", "3",
                               "--json", "--max-length", "40"});
    return output_of(std::move(more));
  }
  TestFolder folder_;
};

TEST_F(CliCtranslate2, TranslationsAreThoseOfTheOriginal) {
  for (const std::string family : {"nllb", "m2m100", "mbart50", "bart", "t5", "t5_gated"}) {
    SCOPED_TRACE(family);
    const std::string original = model_of("seq2seq_families", family);
    const std::string expected = translations(original), there = converted(original, family, "ctranslate2");
    EXPECT_THAT(output_of({"info", "--model", there}), HasSubstr("(CTranslate2)"));
    EXPECT_EQ(translations(there), expected);
    EXPECT_EQ(translations(converted(there, family + "-back", "huggingface")), expected);
  }
}

TEST_F(CliCtranslate2, ContinuationsAreThoseOfTheOriginal) {
  for (const std::string family : {"smollm2", "qwen2", "qwen3", "mistral", "gemma3"}) {
    SCOPED_TRACE(family);
    const std::string original = model_of("decoder_families", family);
    const auto text = [](const std::string& model) {
      return output_of(
          {"generate", "The dog is", "--model", model, "--greedy", "--max-tokens", "20", "--ignore-end"});
    };
    const std::string expected = text(original), there = converted(original, family, "ctranslate2");
    EXPECT_EQ(text(there), expected);
    EXPECT_EQ(text(converted(there, family + "-back", "huggingface")), expected);
  }
}

TEST_F(CliCtranslate2, SentencePieceModelsSuffice) {
  for (const std::string family : {"nllb", "m2m100", "mbart50"}) {
    SCOPED_TRACE(family);
    const std::string original = model_of("seq2seq_families", family),
                      there = converted(original, family, "ctranslate2");
    const auto config = JsonObject::read(original + "/tokenizer_config.json");
    const std::vector<std::string> languages{"--source-language", config.string("src_lang"),
                                             "--target-language", config.string("tgt_lang")};
    const std::string expected = translations(original, languages);
    for (const char* file : {"tokenizer.json", "vocab.json", "tokenizer_config.json"})
      std::filesystem::remove(there + "/" + file);
    EXPECT_EQ(translations(there, languages), expected);
    // Back in Heed's layout, the list of pieces stays with the model.
    const std::string back = folder_.path(family + "-back");
    output_of({"convert", there, back, "--quiet"});
    EXPECT_EQ(translations(back, languages), expected);
    expect_failure(
        heed_command({"convert", there, folder_.path(family + "-not"), "--to", "huggingface", "--quiet"}), 2,
        {"has no tokenizer.json", "the original model"});
    expect_failure(heed_command({"translate", "A dog.", "--model", there}), 2, {"choose one with"});
    std::filesystem::remove(there + "/sentencepiece.bpe.model");
    expect_failure(heed_command({"translate", "A dog.", "--model", there}), 1,
                   {"tokenizer.json or sentencepiece.bpe.model"});
  }
}

TEST_F(CliCtranslate2, TokenizersOfOtherModelsAreRefused) {
  const std::string there = converted(model_of("seq2seq_families", "nllb"), "nllb", "ctranslate2"),
                    list = there + "/shared_vocabulary.json";
  auto pieces = JsonObject::parse("{\"pieces\": " + read_file(list) + "}", list).json().at("pieces");
  std::swap(pieces.at(7), pieces.at(9));
  write_json(list, pieces);
  const CommandResult result = heed_command({"translate", "A dog.", "--model", there});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("token 7 is"));
  EXPECT_THAT(result.err, HasSubstr("use the tokenizer of this model"));
}

TEST_F(CliCtranslate2, Gemma2IsNotWritten) {
  const std::string output = folder_.path("gemma");
  expect_failure(
      heed_command({"convert", model_of("decoder_families", "gemma2"), output, "--to", "ctranslate2"}), 2,
      {"cannot be converted for CTranslate2", "of Gemma 2"});
  EXPECT_FALSE(std::filesystem::exists(output));
}

}  // namespace
}  // namespace heed
