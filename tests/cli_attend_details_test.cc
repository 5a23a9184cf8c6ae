// `heed attend --json --details` with models of every family: from queries and keys to the weights by scale,
// soft cap, bias and mask, as docs/looking-inside.md says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "reference.h"

namespace heed {
namespace {

using Rows = std::vector<std::vector<double>>;

Rows rows_of(const nlohmann::json& json) {
  return json.get<Rows>();
}

/// One head of the JSON.
struct DetailedHead {
  DetailedHead(const nlohmann::json& detail, const nlohmann::json& matrix)
      : scale(detail.at("scale")),
        cap(detail.at("cap")),
        query(rows_of(detail.at("query"))),
        key(rows_of(detail.at("key"))),
        scores(rows_of(detail.at("scores"))),
        weights(rows_of(matrix)) {
    if (detail.contains("bias")) bias = rows_of(detail.at("bias"));
    if (detail.contains("visible")) visible = rows_of(detail.at("visible"));
  }

  /// Whether the mask leaves the keys of which `sees` is true, and no others.
  bool shows(const std::function<bool(int query, int key)>& sees) const {
    bool same = true;
    for (size_t q = 0; q < query.size(); ++q) {
      for (size_t k = 0; k < key.size(); ++k) {
        const bool seen = visible.empty() || visible[q][k] == 1;
        same = same && seen == sees(static_cast<int>(q), static_cast<int>(k));
      }
    }
    return same;
  }

  /// The scores are those of queries and keys, and their softmax over the visible keys is the weights.
  void expect_consistent() const {
    for (size_t q = 0; q < query.size(); ++q) {
      std::vector<double> shares;
      double sum = 0;
      const double largest = *std::ranges::max_element(scores[q]);
      for (size_t k = 0; k < key.size(); ++k) {
        double product = 0, size = 0;
        for (size_t n = 0; n < query[q].size(); ++n) {
          product += query[q][n] * key[k][n];
          size += std::abs(query[q][n] * key[k][n]);
        }
        double score = scale * product;
        if (cap != 0) score = cap * std::tanh(score / cap);
        if (!bias.empty()) score += bias[q][k];
        // Sums of some ten products in float32.
        ASSERT_NEAR(scores[q][k], score, 16 * 0x1p-23 * (1 + scale * size + std::abs(score)));
        const bool hidden = !visible.empty() && visible[q][k] == 0;
        ASSERT_TRUE(!hidden || weights[q][k] == 0);
        shares.push_back(hidden ? 0 : std::exp(score - largest));
        sum += shares.back();
      }
      for (size_t k = 0; k < key.size(); ++k) ASSERT_NEAR(weights[q][k], shares[k] / sum, 1e-4);
    }
  }

  double scale, cap;
  Rows query, key, scores, weights, bias, visible;
};

/// test(stack, layer, head) of what `heed attend` tells of a text.
void for_each_head_of(
    const std::string& family,
    const std::function<void(const std::string& stack, int layer, const DetailedHead&)>& test) {
  SCOPED_TRACE(family);
  const std::string model = (families_folder() / family / "model").string();
  std::vector<std::string> command{
      "attend", "Tom asks me when the old dog sleeps.", "--model", model, "--json", "--details"};
  if (family.starts_with("seq2seq")) {
    command.insert(command.end(), {"--target", "Tom fragt mich, wann der Hund schwimmt."});
  }
  const CommandResult result = heed_command(command);
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  int heads = 0;
  for (const auto& [stack, layers] : json.at("details").items()) {
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      for (size_t head = 0; head < layers[layer].size(); ++head) {
        SCOPED_TRACE(stack + " " + std::to_string(layer) + " " + std::to_string(head));
        test(stack, static_cast<int>(layer), {layers[layer][head], json.at("attention")[stack][layer][head]});
        ++heads;
      }
    }
  }
  EXPECT_GT(heads, 0);
}

class CliAttendDetails : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(families_folder())) GTEST_SKIP() << missing_families();
  }
};

TEST_F(CliAttendDetails, ExplainTheWeightsOfEveryFamily) {
  for (const char* kind : {"decoder_families", "encoder_families", "seq2seq_families"}) {
    for (const std::string& name : fixture_cases(kind, families_folder())) {
      for_each_head_of(name, [](const std::string& stack, int, const DetailedHead& head) {
        head.expect_consistent();
        EXPECT_TRUE(stack != "cross" || (head.visible.empty() && head.bias.empty()));
      });
    }
  }
}

TEST_F(CliAttendDetails, SlidingWindows) {
  const auto causal = [](int query, int key) { return key <= query; };
  const auto window = [](int query, int key) { return key <= query && key > query - 8; };
  for_each_head_of("decoder_families/mistral", [&](const std::string&, int, const DetailedHead& head) {
    ASSERT_GT(head.key.size(), 8U);
    EXPECT_TRUE(head.shows(window));
    EXPECT_FALSE(head.shows(causal));
  });
  for_each_head_of("decoder_families/gemma2", [&](const std::string&, int layer, const DetailedHead& head) {
    EXPECT_TRUE(layer == 0 ? head.shows(window) : head.shows(causal));
  });
  for_each_head_of("decoder_families/qwen3", [&](const std::string&, int, const DetailedHead& head) {
    EXPECT_TRUE(head.shows(causal));
  });
  for_each_head_of(
      "encoder_families/modernbert", [&](const std::string&, int layer, const DetailedHead& head) {
        const bool local = layer == 1 || layer == 2;
        EXPECT_TRUE(head.shows([&](int query, int key) { return !local || std::abs(query - key) <= 4; }));
        EXPECT_EQ(head.visible.empty(), !local);
      });
}

TEST_F(CliAttendDetails, SoftCapsAndBiases) {
  for_each_head_of("decoder_families/gemma2", [](const std::string&, int, const DetailedHead& head) {
    EXPECT_EQ(head.cap, 4);
    EXPECT_TRUE(head.bias.empty());
  });
  for_each_head_of("seq2seq_families/t5", [](const std::string& stack, int, const DetailedHead& head) {
    EXPECT_EQ(head.cap, 0);
    EXPECT_EQ(head.scale, 1);
    EXPECT_EQ(head.bias.empty(), stack == "cross");
  });
  for_each_head_of("encoder_families/mpnet", [](const std::string&, int, const DetailedHead& head) {
    ASSERT_FALSE(head.bias.empty());
    EXPECT_EQ(head.bias[0][1], head.bias[1][2]) << "a bias of distances";
    EXPECT_NE(head.bias[0][1], head.bias[1][0]);
  });
}

}  // namespace
}  // namespace heed
