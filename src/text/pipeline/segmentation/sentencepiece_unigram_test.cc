#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "text/pipeline/segmentation/sentencepiece_vocabulary.h"

namespace heed {
namespace {

/// <unk> has the id 0, the pieces follow.
std::unique_ptr<SentencePieceUnigram> model_of(std::vector<SentencePieceEntry> pieces) {
  pieces.insert(pieces.begin(), {"<unk>", 0, SentencePieceType::kUnknown});
  return sentencepiece_unigram_model(
      std::make_shared<const SentencePieceVocabulary>("test", std::move(pieces), /*byte_fallback=*/false));
}

std::string spell(const std::vector<ModelToken>& tokens, std::string_view text) {
  std::string spelt;
  for (const ModelToken& token : tokens) {
    if (!spelt.empty()) spelt += '|';
    spelt += text.substr(token.begin, token.end - token.begin);
  }
  return spelt;
}

TEST(SentencePieceUnigram, SamplesByProbability) {
  const auto model = model_of({{"b", std::log(0.2f)},
                               {"a", std::log(0.4f)},
                               {"ab", std::log(0.1f)},
                               {"ba", std::log(0.2f)},
                               {"aba", 0, SentencePieceType::kSymbol},  // not drawn
                               {"c", std::log(0.1f)}});
  for (const double alpha : {1.0, 0.5, 0.0}) {
    // The segments of "aba" and their probabilities.
    std::map<std::string, double> weights{
        {"a|b|a", 0.4 * 0.2 * 0.4}, {"ab|a", 0.1 * 0.4}, {"a|ba", 0.4 * 0.2}};
    double sum = 0;
    for (auto& [cut, weight] : weights) sum += weight = std::pow(weight, alpha);
    Random random(RandomKey::from_seed(7));
    std::map<std::string, int> seen;
    constexpr int kDraws = 4000;
    for (int n = 0; n < kDraws; ++n) ++seen[spell(model->draw("aba", alpha, random), "aba")];
    ASSERT_EQ(seen.size(), weights.size());
    for (const auto& [cut, weight] : weights) {
      const double p = weight / sum;
      EXPECT_NEAR(seen[cut], kDraws * p, 5 * std::sqrt(kDraws * p * (1 - p))) << cut << " alpha " << alpha;
    }
  }
}

TEST(SentencePieceUnigram, SamplesPiecesOfSeveralBytes) {
  const auto model = model_of({{"ä", -1}, {"äö", -1}});
  Random random(RandomKey::from_seed(1));
  const std::vector<ModelToken> tokens = model->draw("äöä", 1, random);
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[0].id, 2);
  EXPECT_EQ(tokens[1].id, 1);
  EXPECT_EQ(tokens[1].begin, 4u);
  EXPECT_TRUE(model->draw("äx", 1, random).empty()) << "no piece spells x";
  EXPECT_TRUE(model->draw("", 1, random).empty());
}

}  // namespace
}  // namespace heed
