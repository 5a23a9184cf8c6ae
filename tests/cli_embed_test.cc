// Command tests of heed embed, and of heed attend, fill, info and quantize for encoders of other families.

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "command.h"
#include "models/architecture.h"
#include "models/stacks/encoder_only.h"
#include "models/test_models.h"
#include "text/tokenizers/encoder_tokenizer.h"

namespace heed {
namespace {

using Arguments = std::vector<std::string>;
using Json = nlohmann::json;

/// An MPNet with fixed random weights and a mask token.
class CliEmbedTest : public ::testing::Test {
 protected:
  void SetUp() override { write("MPNetForMaskedLM"); }

  void write(const std::string& architecture) const {
    WordPieceSettings settings;
    settings.max_length = 12;
    settings.start = "<s>", settings.end = "</s>", settings.pad = "<pad>", settings.mask = "<mask>";
    wordpiece_tokenizer({"<s>", "<pad>", "</s>", "[UNK]", "<mask>", "a", "fine", "film", "##s", "dull"},
                        settings)
        .save(folder_.path());
    const Json config{
        {"model_type", "mpnet"},   {"architectures", {architecture}}, {"vocab_size", 10},
        {"hidden_size", 16},       {"num_hidden_layers", 2},          {"num_attention_heads", 2},
        {"intermediate_size", 24}, {"max_position_embeddings", 18},   {"initializer_range", 1}};
    const JsonObject object = JsonObject::parse(config.dump(), "config.json");
    models::write_untrained(folder_.path(), *models::architecture_of(object).read(object), 3);
  }
  void write_modules() const {
    folder_.write("modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
      {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
      {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])");
    std::filesystem::create_directory(folder_.path("1_Pooling"));
    folder_.write("1_Pooling/config.json", R"({"word_embedding_dimension": 16, "pooling_mode_cls_token": true,
      "pooling_mode_mean_tokens": false})");
    folder_.write("config_sentence_transformers.json", R"({"prompts": {"query": "dull ", "document": ""}})");
  }
  CommandResult with_model(Arguments arguments, const Command::Settings& settings = {}) const {
    arguments.insert(arguments.begin() + 1, {"--model", folder_.path()});
    return heed_command(arguments, settings);
  }
  Json embed(const std::string& text, const Arguments& more = {}) const {
    Arguments arguments{"embed", text};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = with_model(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(result.out);
  }

  TestFolder folder_, other_;
};

TEST_F(CliEmbedTest, EveryLineHasAVector) {
  const CommandResult result =
      with_model({"embed"}, {.input = other_.write("input", "a fine film\n\nfilms\na fine film\n")});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], lines[3]);
  for (const std::string& line : lines) EXPECT_EQ(Json::parse(line)["embedding"].size(), 16u);
  EXPECT_EQ(Json::parse(lines[1])["text"], "");
  EXPECT_EQ(embed("films")["embedding"], Json::parse(lines[2])["embedding"]);
}

TEST_F(CliEmbedTest, ArraysHoldTheSameNumbers) {
  const std::string input = other_.write("input", "a fine film\nfilms\n\n"), array = other_.path("a.npy");
  const CommandResult result = with_model({"embed", "--input", input, "--output", array, "--threads", "2"});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string file = content_of(array);
  ASSERT_EQ(file.size(), 128 + 3 * 16 * sizeof(float));
  EXPECT_NE(file.find("'shape': (3, 16, )"), std::string::npos);
  const auto lines = lines_of(with_model({"embed", "--input", input}).out);
  for (size_t n = 0; n < 3; ++n) {
    std::vector<float> row(16);
    std::memcpy(row.data(), file.data() + 128 + n * 16 * sizeof(float), 16 * sizeof(float));
    EXPECT_EQ(Json::parse(lines[n])["embedding"].get<std::vector<float>>(), row);
  }
  std::string parts;
  for (const char* part : {"1/2", "2/2"})
    parts += with_model({"embed", "--input", input, "--part", part}).out;
  EXPECT_EQ(lines_of(parts), lines);
  expect_failure(with_model({"embed", "--input", input, "--output", array, "--resume"}), 2,
                 {"--resume", ".npy"});
  expect_failure(with_model({"embed", "a", "--output", other_.path("a.npy.gz")}), 2, {".npy"});
}

TEST_F(CliEmbedTest, PoolingNormsAndPrompts) {
  const auto numbers = [](const Json& json) { return json["embedding"].get<std::vector<double>>(); };
  const std::vector<double> mean = numbers(embed("a fine film")),
                            cls = numbers(embed("a fine film", {"--pooling", "cls"}));
  EXPECT_NE(mean, cls);
  write_modules();
  const std::vector<double> modules = numbers(embed("a fine film"));
  double squares = 0, cosine = 0, length = 0;
  for (size_t n = 0; n < modules.size(); ++n) {
    squares += modules[n] * modules[n];
    cosine += modules[n] * cls[n];
    length += cls[n] * cls[n];
  }
  EXPECT_NEAR(squares, 1, 1e-6);
  EXPECT_NEAR(cosine, std::sqrt(length), 1e-4);
  EXPECT_EQ(numbers(embed("a fine film", {"--normalize", "off"})), cls);
  EXPECT_EQ(numbers(embed("a fine film", {"--prompt", "query"})), numbers(embed("dull a fine film")));
  expect_failure(with_model({"embed", "a", "--prompt", "passage"}), 2,
                 {"no prompt 'passage'", "document, query"});
  expect_failure(with_model({"embed", "a", "--pooling", "median"}), 2, {"--pooling", "mean"});
}

TEST_F(CliEmbedTest, ResumingNoticesAnotherPooling) {
  write_modules();
  const Arguments command{
      "embed",   "--input", other_.write("input", "a fine film\nfilms\n"), "--output", other_.path("output"),
      "--resume"};
  ASSERT_EQ(with_model(command).status, 0);
  folder_.write("README.md", "Not read.");
  EXPECT_EQ(with_model(command).status, 0);
  folder_.write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens": true})");
  expect_failure(with_model(command), 2, {"was begun by another job", "model checksum"});
}

TEST_F(CliEmbedTest, ReportsTruncatedTexts) {
  std::string longer;
  for (int n = 0; n < 30; ++n) longer += "fine ";
  const CommandResult result = with_model({"embed", longer, "a film"});
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(Json::parse(lines[0])["truncated"], true);
  EXPECT_FALSE(Json::parse(lines[1]).contains("truncated"));
  EXPECT_NE(result.err.find("1 text truncated to the model's maximum of 12 tokens"), std::string::npos)
      << result.err;
}

TEST_F(CliEmbedTest, FillReportsTruncatedTexts) {
  std::string longer = "a <mask> ";
  for (int n = 0; n < 30; ++n) longer += "fine ";
  const CommandResult result = with_model({"fill", longer + "<mask>", "a <mask>", "--json"});
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 2u) << result.err;
  EXPECT_EQ(Json::parse(lines[0])["truncated"], true);
  EXPECT_EQ(Json::parse(lines[0])["gaps"].size(), 1u);
  EXPECT_FALSE(Json::parse(lines[1]).contains("truncated"));
  EXPECT_NE(result.err.find("1 text truncated to the model's maximum of 16 tokens"), std::string::npos)
      << result.err;
  EXPECT_EQ(with_model({"fill", longer, "--quiet"}).err, "");
}

TEST_F(CliEmbedTest, OtherCommandsOfAMaskedLanguageModel) {
  const CommandResult filled = with_model({"fill", "a <mask> film", "--top", "2", "--json"});
  ASSERT_EQ(filled.status, 0) << filled.err;
  EXPECT_EQ(Json::parse(filled.out)["gaps"][0].size(), 2u);
  const CommandResult json = with_model({"attend", "a <mask> films", "--json"});
  ASSERT_EQ(json.status, 0) << json.err;
  const Json trace = Json::parse(json.out);
  EXPECT_EQ(trace["source_tokens"], (Arguments{"<s>", "a", "<mask>", "film", "##s", "</s>"}));
  EXPECT_EQ(trace["target"], "");
  ASSERT_EQ(trace["attention"]["encoder"].size(), 2u);
  const CommandResult shown = with_model({"attend", "a fine film", "--columns", "60"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_EQ(shown.out.find("class"), std::string::npos) << shown.out;
  const std::string picture = other_.path("a.svg");
  EXPECT_EQ(with_model({"attend", "a fine film", "--output", picture}).status, 0);
  const CommandResult info = with_model({"info"});
  EXPECT_NE(info.out.find("mpnet"), std::string::npos);
  EXPECT_EQ(info.out.find("cannot open"), std::string::npos) << info.out;
  expect_failure(with_model({"classify", "a"}), 2, {"is a masked language model (mpnet)", "heed embed"});
}

TEST_F(CliEmbedTest, LooksIntoTheTextThatItEmbeds) {
  write("MPNetModel");
  write_modules();
  folder_.write("config_sentence_transformers.json",
                R"({"prompts": {"query": "Dull "}, "default_prompt_name": "query"})");
  folder_.write("sentence_bert_config.json", R"({"max_seq_length": 6, "do_lower_case": true})");
  const Arguments tokens{"<s>", "dull", "a", "film", "##s", "</s>"};
  const CommandResult shown = with_model({"attend", "a films", "--json"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  EXPECT_EQ(Json::parse(shown.out)["source_tokens"], tokens);
  EXPECT_EQ(Json::parse(shown.out)["source"], "a films");
  const CommandResult lens = with_model({"lens", "a films", "--json"});
  ASSERT_EQ(lens.status, 0) << lens.err;
  EXPECT_EQ(Json::parse(lens.out)["tokens"]["encoder"], tokens);
  EXPECT_FALSE(embed("a films").contains("truncated"));
  EXPECT_TRUE(embed("a fine films").contains("truncated"));
  for (const char* name : {"attend", "lens"}) {
    expect_failure(with_model({name, "a fine films"}), 2,
                   {"the text has 7 tokens", "the model's maximum is 6"});
  }
  // What becomes of the vectors does not matter.
  folder_.write("modules.json", R"([{"type": "sentence_transformers.models.Transformer", "path": ""},
                                    {"type": "sentence_transformers.models.Dense", "path": "2_Dense"}])");
  const CommandResult dense = with_model({"attend", "a films", "--json"});
  ASSERT_EQ(dense.status, 0) << dense.err;
  EXPECT_EQ(Json::parse(dense.out)["source_tokens"], tokens);
  expect_failure(with_model({"embed", "a films"}), 1, {"the modules are Transformer, Dense"});
}

TEST_F(CliEmbedTest, ModelsWithoutAHead) {
  write("MPNetModel");
  write_modules();
  expect_failure(with_model({"fill", "a <mask>"}), 2, {"is an encoder without a head (mpnet)"});
  EXPECT_EQ(with_model({"attend", "a film", "--json"}).status, 0);
  const std::string copy = other_.path("int8"), converted = other_.path("half");
  ASSERT_EQ(heed_command({"quantize", folder_.path(), copy}).status, 0);
  ASSERT_EQ(heed_command({"convert", folder_.path(), converted, "--weights", "float16"}).status, 0);
  for (const std::string& directory : {copy, converted}) {
    const CommandResult result = heed_command({"embed", "a film", "--model", directory});
    ASSERT_EQ(result.status, 0) << result.err;
    const auto close = Json::parse(result.out)["embedding"].get<std::vector<double>>();
    const auto exact = embed("a film")["embedding"].get<std::vector<double>>();
    double cosine = 0;
    for (size_t n = 0; n < exact.size(); ++n) cosine += close[n] * exact[n];
    EXPECT_GT(cosine, 0.98) << directory;
    EXPECT_NEAR(cosine, 1, 0.02);
  }
  expect_failure(heed_command({"embed", "a", "--model", source_folder() + "/models/de-en"}), 2,
                 {"is a translation model (marian): use heed translate"});
}

}  // namespace
}  // namespace heed
