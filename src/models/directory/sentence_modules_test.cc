#include "models/directory/sentence_modules.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "test_folder.h"

namespace heed::models {
namespace {

constexpr const char* kModules =
    R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])";

class SentenceModulesTest : public testing::Test {
 protected:
  SentenceModulesTest() {
    std::filesystem::create_directory(folder_.path("1_Pooling"));
    folder_.write("modules.json", kModules);
    pooling(R"({"word_embedding_dimension": 8, "pooling_mode_cls_token": true,
                "pooling_mode_mean_tokens": false})");
  }
  void pooling(const std::string& json) { folder_.write("1_Pooling/config.json", json); }
  SentenceModules read() const { return read_sentence_modules(ModelInventory(folder_.path()), 8); }
  void expect_refused(const std::string& part) const {
    expect_error(ErrorKind::kFormat, part, [&] { read(); });
  }
  TestFolder folder_;
};

using Poolings = std::vector<Pooling>;

TEST_F(SentenceModulesTest, TheMeanWithoutFiles) {
  const TestFolder empty;
  const SentenceModules modules = read_sentence_modules(ModelInventory(empty.path()), 8);
  EXPECT_EQ(modules.pooling, Poolings{Pooling::kMean});
  EXPECT_FALSE(modules.normalize);
  EXPECT_EQ(modules.max_length, 0);
}

TEST_F(SentenceModulesTest, ReadsEveryFile) {
  EXPECT_EQ(read().pooling, Poolings{Pooling::kCls});
  EXPECT_FALSE(read().normalize);
  std::string more = kModules;
  more.back() = ',';
  folder_.write("modules.json", more + R"({"path": "2_Normalize",
    "type": "sentence_transformers.base.modules.normalize.Normalize"}])");
  folder_.write("sentence_roberta_config.json", R"({"max_seq_length": 24, "do_lower_case": true})");
  folder_.write("config_sentence_transformers.json", R"({"__version__": {"pytorch": "2"},
    "prompts": {"query": "query: ", "document": ""}, "default_prompt_name": "query",
    "similarity_fn_name": "cosine"})");
  const SentenceModules modules = read();
  EXPECT_TRUE(modules.normalize && modules.lowercase);
  EXPECT_EQ(modules.max_length, 24);
  EXPECT_EQ(modules.prompt, "query");
  EXPECT_EQ(modules.prompts.at("query"), "query: ");
}

TEST_F(SentenceModulesTest, Poolings) {
  pooling(R"({"pooling_mode": "mean_sqrt_len_tokens", "embedding_dimension": 8})");
  EXPECT_EQ(read().pooling, (std::vector<Pooling>{Pooling::kMeanSqrt}));
  pooling(R"({"pooling_mode_max_tokens": true, "pooling_mode_cls_token": true,
              "pooling_mode_mean_tokens": false, "include_prompt": false})");
  EXPECT_EQ(read().pooling, (std::vector<Pooling>{Pooling::kCls, Pooling::kMax}));
  EXPECT_FALSE(read().pools_prompts);
  // Without the key of the mean: every version of sentence-transformers takes the mean if there is no other.
  for (const char* none : {"{}", R"({"pooling_mode_cls_token": false, "pooling_mode_max_tokens": false})"}) {
    pooling(none);
    EXPECT_EQ(read().pooling, Poolings{Pooling::kMean}) << none;
  }
}

TEST_F(SentenceModulesTest, RefusesByName) {
  pooling(R"({"pooling_mode_lasttoken": true})");
  expect_refused("'pooling_mode_lasttoken'");
  pooling(R"({"word_embedding_dimension": 9})");
  expect_refused("'word_embedding_dimension' is 9");
  pooling(R"({"pooling_mode": "median"})");
  expect_refused("'pooling_mode'");
  pooling(R"({"pooling_mode": []})");
  expect_refused("'pooling_mode'");
  pooling(R"({"pooling_mode_mean_tokens": false})");
  expect_refused("one of the other poolings");
  // Versions of sentence-transformers differ in whether the mean follows.
  pooling(R"({"word_embedding_dimension": 8, "pooling_mode_cls_token": true})");
  expect_refused("'pooling_mode_mean_tokens' is missing, expected true or false");
  pooling("{}");
  folder_.write("sentence_bert_config.json", R"({"tokenizer_args": {"use_fast": false}})");
  expect_refused("'tokenizer_args'");
  folder_.write("sentence_bert_config.json", "{}");
  folder_.write("config_sentence_transformers.json", R"({"default_prompt_name": "query"})");
  expect_refused("'default_prompt_name'");
  folder_.write("config_sentence_transformers.json", R"({"model_type": "SparseEncoder"})");
  expect_refused("'model_type'");
  folder_.write("config_sentence_transformers.json", "{}");
  std::string more = kModules;
  more.back() = ',';
  folder_.write("modules.json",
                more + R"({"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])");
  expect_refused("the modules are Transformer, Pooling, Dense");
  folder_.write("modules.json", R"([{"path": "../x", "type": "sentence_transformers.models.Pooling"}])");
  expect_refused("'modules[0].path'");
}

TEST_F(SentenceModulesTest, ListsTheFilesOfModules) {
  folder_.write("config.json", "{}");
  folder_.write("1_Pooling/note", "");
  std::filesystem::create_directories(folder_.path("1_Pooling/deeper"));
  std::filesystem::create_directory(folder_.path("training"));
  folder_.write("training/state", "");
  using Names = std::vector<std::string>;
  EXPECT_EQ(model_files(ModelInventory(folder_.path())),
            (Names{"config.json", "modules.json", "1_Pooling/config.json", "1_Pooling/note"}));
  std::filesystem::remove_all(folder_.path("1_Pooling"));  // a module without settings
  EXPECT_EQ(model_files(ModelInventory(folder_.path())), (Names{"config.json", "modules.json"}));
  std::filesystem::remove(folder_.path("modules.json"));
  EXPECT_EQ(model_files(ModelInventory(folder_.path())), Names{"config.json"});
}

}  // namespace
}  // namespace heed::models
