// Commands with models of other encoder-decoder families than Marian: heed translate, score, attend,
// quantize, convert, and fine-tuning, whose result is a directory of the same family.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "command.h"
#include "reference.h"
#include "test_folder.h"

namespace heed {
namespace {

using testing::HasSubstr;

std::string model_of(const std::string& family) {
  return (families_folder() / "seq2seq_families" / family / "model").string();
}

class CliSeq2SeqFamilies : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(families_folder())) GTEST_SKIP() << missing_families();
  }
  static std::string output_of(std::vector<std::string> arguments) {
    const CommandResult result = heed_command(std::move(arguments));
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
  TestFolder folder_;
};

TEST_F(CliSeq2SeqFamilies, LanguagesAreOptions) {
  const std::string model = model_of("nllb"), text = "Tom asks me.";
  const nlohmann::json config = JsonObject::read(model + "/tokenizer_config.json").json();
  const auto languages = config.at("additional_special_tokens").get<std::vector<std::string>>();
  const std::string usual = output_of({"translate", text, "--model", model, "--beam", "1"});
  const std::string target = config.at("tgt_lang"), other = languages.front();
  const std::vector<std::string> named{"translate", text, "--model", model, "--beam", "1", "--json"};
  const auto pieces_for = [&](const std::string& language) {
    std::vector<std::string> arguments = named;
    arguments.insert(arguments.end(), {"--target-language", language});
    return nlohmann::json::parse(output_of(arguments)).at("pieces");
  };
  EXPECT_EQ(pieces_for(target).at(0), target);
  EXPECT_EQ(pieces_for(other).at(0), other);
  EXPECT_EQ(output_of({"translate", text, "--model", model, "--beam", "1", "--target-language", target}),
            usual);
  for (const char* name : {"deu", "de"}) EXPECT_EQ(pieces_for(name), pieces_for("deu_Latn"));
  expect_failure(heed_command({"translate", text, "--model", model, "--target-language", "deu_Latm"}), 2,
                 {"no language 'deu_Latm'", "did you mean 'deu_Latn'", target});
  expect_failure(heed_command({"translate", text, "--model", model_of("t5"), "--target-language", "de"}), 2,
                 {"no language tokens"});
}

TEST_F(CliSeq2SeqFamilies, ScoresAndAttention) {
  for (const char* family : {"t5", "mbart50"}) {
    const std::string model = model_of(family);
    const std::string pairs = folder_.write("pairs", "Tom asks me.\tTom fragt mich.\n");
    EXPECT_THAT(output_of({"score", "--model", model, "--pairs", pairs}), HasSubstr("-"));
    const auto trace = nlohmann::json::parse(
        output_of({"attend", "Tom asks me.", "--model", model, "--target", "Tom.", "--json"}));
    EXPECT_EQ(trace.at("target_tokens").back(), "</s>");
  }
}

TEST_F(CliSeq2SeqFamilies, FineTunedModelsAreOfTheSameFamily) {
  const std::string pairs = folder_.write("pairs", "Tom asks me.\tTom fragt mich.\nI swim.\tIch schwimme.\n");
  for (const char* family : {"t5_gated", "m2m100", "bart"}) {
    const std::string output = folder_.path(family);
    output_of({"train", "--from", model_of(family), "--pairs", pairs, "--output", output, "--max-steps", "3",
               "--batch-tokens", "200", "--quiet"});
    const auto config = JsonObject::read(output + "/config.json"),
               before = JsonObject::read(model_of(family) + "/config.json");
    EXPECT_EQ(config.string("model_type"), before.string("model_type"));
    const auto made = JsonObject::read(output + "/generation_config.json"),
               given = JsonObject::read(model_of(family) + "/generation_config.json");
    EXPECT_EQ(made.has("forced_bos_token_id"), family != std::string("t5_gated"));
    EXPECT_EQ(made.integer("decoder_start_token_id"), given.integer("decoder_start_token_id"));
    EXPECT_EQ(made.integer("max_length"), given.integer("max_length"));
    EXPECT_NE(output_of({"translate", "Tom asks me.", "--model", output}), "");
    const std::string quantized = output + "-int8";
    output_of({"quantize", output, quantized, "--quiet"});
    EXPECT_NE(output_of({"translate", "Tom asks me.", "--model", quantized}), "");
    EXPECT_THAT(output_of({"info", "--model", quantized}), HasSubstr(config.string("model_type")));
  }
}

}  // namespace
}  // namespace heed
