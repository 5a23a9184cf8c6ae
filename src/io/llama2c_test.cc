#include "io/llama2c.h"

#include <gtest/gtest.h>

#include <map>

#include "test_folder.h"

namespace heed {
namespace {

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// D 8, F 3, one layer, 2 heads, 1 of keys and values, V 5, 4 positions; the weights are 0, 1, 2, ...
std::string small_model(int32_t vocabulary = 5) {
  std::string bytes;
  for (const int32_t each : {8, 3, 1, 2, 1, vocabulary, 4}) append(bytes, each);
  const int count = 5 * 8 + 8 + 64 + 32 + 32 + 64 + 8 + 24 + 24 + 24 + 8 + 4 * 4;
  for (int n = 0; n < count; ++n) append(bytes, static_cast<float>(n));
  return bytes;
}

TEST(Llama2c, ConvertsEveryMatrixAndRotaryPairs) {
  const TestFolder folder;
  const Llama2cModel model = read_llama2c(folder.write("model.bin", small_model()));
  EXPECT_EQ(model.width, 8);
  EXPECT_EQ(model.key_value_heads, 1);
  EXPECT_TRUE(model.tied_output);
  std::map<std::string, Tensor> tensors(model.tensors.begin(), model.tensors.end());
  EXPECT_EQ(tensors.size(), 11U);
  const auto first = [&](const std::string& name) { return tensors.at(name).data<float>()[0]; };
  EXPECT_EQ(first("model.embed_tokens.weight"), 0);
  EXPECT_EQ(first("model.layers.0.input_layernorm.weight"), 40);
  EXPECT_EQ(first("model.layers.0.self_attn.v_proj.weight"), 144);
  EXPECT_EQ(first("model.layers.0.mlp.down_proj.weight"), 272);
  EXPECT_EQ(first("model.layers.0.mlp.up_proj.weight"), 296);
  EXPECT_EQ(first("model.norm.weight"), 320);
  // Rows 0, 1, 2, 3 of a head of four features: the pairs (0, 1) and (2, 3) become (0, 2) and (1, 3).
  const float* query = tensors.at("model.layers.0.self_attn.q_proj.weight").data<float>();
  const std::vector<float> rows{query[0], query[8], query[16], query[24], query[32]};
  EXPECT_EQ(rows, (std::vector<float>{48, 48 + 16, 48 + 8, 48 + 24, 48 + 32}));
}

TEST(Llama2c, RefusesOtherFiles) {
  const TestFolder folder;
  const auto refused = [&](const std::string& content, const std::string& message) {
    expect_error(ErrorKind::kFormat, message, [&] { read_llama2c(folder.write("model.bin", content)); });
  };
  const std::string good = small_model();
  refused("", "it has 0 bytes");
  refused(good.substr(0, good.size() - 1), "its header requires");
  refused(good + "more", "its header requires");
  refused(small_model(-5), "its header requires");  // the output matrix is missing
  refused(small_model(0), "vocabulary");
  std::string infinite = good;
  const float bad = 1e30F * 1e30F;
  infinite.replace(28 + 4 * 7, sizeof bad, reinterpret_cast<const char*>(&bad), sizeof bad);
  refused(infinite, "contains inf at index 7");
  std::string huge = good;
  const int32_t many = 1 << 30;
  huge.replace(0, sizeof many, reinterpret_cast<const char*>(&many), sizeof many);
  refused(huge, "width");
}

TEST(Llama2c, ReadsTokens) {
  const TestFolder folder;
  std::string bytes;
  append(bytes, int32_t{5});
  for (const auto& [text, score] : {std::pair{"<unk>", 0.0F}, std::pair{" the", -3.5F}}) {
    append(bytes, score);
    append(bytes, static_cast<int32_t>(std::string(text).size()));
    bytes += text;
  }
  const std::string path = folder.write("tok.bin", bytes);
  const auto tokens = read_llama2c_tokens(path, 2);
  EXPECT_EQ(tokens[1].text, " the");
  EXPECT_EQ(tokens[1].score, -3.5F);
  expect_error(ErrorKind::kFormat, "of 3 tokens", [&] { read_llama2c_tokens(path, 3); });
  expect_error(ErrorKind::kFormat, "of 1 token", [&] { read_llama2c_tokens(path, 1); });
  folder.write("cut.bin", bytes.substr(0, bytes.size() - 1));
  expect_error(ErrorKind::kFormat, "of 2 tokens", [&] { read_llama2c_tokens(folder.path("cut.bin"), 2); });
}

}  // namespace
}  // namespace heed
