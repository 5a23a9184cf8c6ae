#include "models/directory/model_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "models/test_models.h"
#include "test_folder.h"

namespace heed::models {
namespace {

using Json = nlohmann::json;

Json bert(const std::string& model_class) {
  return {{"model_type", "bert"},    {"architectures", {model_class}}, {"vocab_size", 20},
          {"hidden_size", 8},        {"num_hidden_layers", 1},         {"num_attention_heads", 2},
          {"intermediate_size", 12}, {"max_position_embeddings", 16}};
}

class ModelDirectoryTest : public ::testing::Test {
 protected:
  void write(const Json& config) const { write_untrained(folder_.path(), *model_of(config), 1); }
  ModelDirectory open() const { return ModelDirectory::open(folder_.path()); }

  const TestFolder folder_;
};

TEST_F(ModelDirectoryTest, OpensConfigAndWeightsOnce) {
  write(bert("BertForMaskedLM"));
  const ModelDirectory directory = open();
  EXPECT_EQ(directory.path(), folder_.path());
  EXPECT_EQ(directory.architecture().name, "bert");
  EXPECT_EQ(directory.format(), "safetensors");
  EXPECT_FALSE(directory.quantized_bits() != 0 || directory.is_ctranslate2());
  const auto weights = directory.weights();
  std::filesystem::remove_all(folder_.path());
  EXPECT_EQ(directory.weights(), weights);
  EXPECT_TRUE(directory.weights()->has("bert.embeddings.word_embeddings.weight"));
}

TEST_F(ModelDirectoryTest, SentenceModulesNameTheEncoder) {
  write(bert("BertForMaskedLM"));
  EXPECT_EQ(open().create_model()->task(), Task::kMaskedLanguageModel);
  EXPECT_EQ(open().create_encoder()->task(), Task::kEmbedding);
  folder_.write(model_file::kModules, "[]");
  EXPECT_EQ(open().create_model()->task(), Task::kEmbedding);
  folder_.write(model_file::kConfig, bert("BertForSequenceClassification").dump());
  EXPECT_EQ(open().create_model()->task(), Task::kClassification);
}

TEST_F(ModelDirectoryTest, OtherModelsHaveNoEncoder) {
  folder_.write(model_file::kConfig, R"({"model_type": "gpt2"})");
  expect_error(ErrorKind::kUsage, "is a language model (gpt2): use heed generate",
               [&] { open().create_encoder(); });
  folder_.write(model_file::kModules, "[]");
  expect_error(ErrorKind::kFormat, "'model_type' is \"gpt2\", expected the type of an encoder",
               [&] { open().create_model(); });
}

TEST_F(ModelDirectoryTest, Formats) {
  folder_.write(model_file::kConfig, bert("BertForMaskedLM").dump());
  folder_.write("pytorch_model.bin.index.json", "{}");
  EXPECT_EQ(open().format(), "PyTorch");
  folder_.write("model.safetensors.index.json", "{}");
  EXPECT_EQ(open().format(), "safetensors") << "which is preferred";
  folder_.write(model_file::kCtranslate2, "not read, since the config has a model_type");
  EXPECT_FALSE(open().is_ctranslate2());
  folder_.write(model_file::kConfig, "{}");
  expect_error(ErrorKind::kFormat, model_file::kCtranslate2, [&] { open(); });
}

TEST_F(ModelDirectoryTest, MissingFiles) {
  expect_error(ErrorKind::kNotFound, model_file::kConfig, [&] { open(); });
  expect_error(ErrorKind::kNotFound, model_file::kConfig,
               [&] { ModelDirectory::open(folder_.path("none")); });
  folder_.write(model_file::kConfig, bert("BertForMaskedLM").dump());
  const ModelDirectory without_weights = open();
  expect_error(ErrorKind::kNotFound, "contains no weights", [&] { without_weights.weights(); });
}

}  // namespace
}  // namespace heed::models
