#include "translate/words/confidence.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "search/test_seq2seq.h"
#include "search/test_tokenizer.h"
#include "translate/translator.h"
#include "translate/words/word_alignment.h"

namespace heed::translate {
namespace {

TEST(WordConfidence, GrowsWithTheProbability) {
  EXPECT_NEAR(word_confidence(0), 0.9, 0.005);
  EXPECT_NEAR(word_confidence(-1e9), 0.16, 0.005);
  EXPECT_LT(word_confidence(std::log(0.4)), kDoubtfulWord);
  EXPECT_GT(word_confidence(std::log(0.5)), kDoubtfulWord);
}

TEST(WordConfidences, AreOfTheTokensOfEachWord) {
  const std::vector<double> found =
      word_confidences({0, 0, kMark, 2, kNoWord}, std::array<float, 5>{-0.1F, -0.2F, -9.0F, -0.5F, -9.0F}, 3);
  ASSERT_EQ(found.size(), 3);
  EXPECT_NEAR(found[0], word_confidence(-0.3), 1e-6);
  EXPECT_NEAR(found[1], word_confidence(0), 1e-6);  // a word of no token
  EXPECT_NEAR(found[2], word_confidence(-0.5), 1e-6);
}

TEST(TextConfidence, IsTheMeanOfItsWords) {
  EXPECT_DOUBLE_EQ(text_confidence(std::array{0.2, 0.6}), 0.4);
  EXPECT_DOUBLE_EQ(text_confidence({}), 1);
}

/// A model that says one translation, and is unsure from its token `unsure` on for `tokens`.
search::FunctionModel model_that_says(const std::vector<int32_t>& said, size_t unsure, size_t tokens) {
  const auto size = static_cast<int64_t>(search::small_tokenizer().size());
  return {size, 64, [=](const std::vector<int32_t>&, const std::vector<int32_t>& ids) {
            std::vector<float> logits(static_cast<size_t>(size), 0);
            const size_t at = ids.size();
            const bool doubts = at >= unsure && at < unsure + tokens;
            logits[static_cast<size_t>(at < said.size() ? said[at] : 0)] = doubts ? 1 : 40;
            return logits;
          }};
}

class Confidence : public ::testing::Test {
 protected:
  Translation translate(const std::string& text, size_t unsure, size_t tokens) {
    said_ = search::small_tokenizer().encode_target(text).ids;
    const search::FunctionModel model = model_that_says(said_, unsure, tokens);
    TranslatorOptions options;
    options.confidence = true;
    options.split_sentences = options.protect_spans = true;
    options.search.beam_size = 1;
    ThreadPool pool(1);
    const Translator translator(model, nn::Context(), search::small_tokenizer(), pool, options);
    return translator.translate("The teacher sees windows.");
  }
  std::vector<int32_t> said_;
};

TEST_F(Confidence, IsThatOfTheTokensOfAWord) {
  const std::string text = "The teacher finds windows.";
  const std::vector<double> sure = translate(text, 0, 0).best().word_confidence;
  ASSERT_EQ(sure.size(), 4u);
  for (const double each : sure) EXPECT_NEAR(each, word_confidence(0), 1e-6);
  // A token of the first word.
  const auto first = static_cast<size_t>(translate(text, 0, 0).best().pieces[0] == "\u2581" ? 1 : 0);
  const Translation doubted = translate(text, first, 1);
  ASSERT_EQ(doubted.best().text, text);
  const std::vector<double>& words = doubted.best().word_confidence;
  EXPECT_LT(words[0], 0.85);
  EXPECT_NEAR(words[0], word_confidence(doubted.best().log_probabilities[first]), 1e-6);
  for (size_t n = 1; n < words.size(); ++n) EXPECT_NEAR(words[n], word_confidence(0), 1e-6);
}

TEST_F(Confidence, LeavesOutPunctuation) {
  const std::string text = "The teacher finds windows.";
  translate(text, 0, 0);
  const size_t full_stop = said_.size() - 2;  // in front of the end token
  const Translation doubted = translate(text, full_stop, 1);
  ASSERT_EQ(doubted.best().text, text);
  EXPECT_LT(doubted.best().log_probabilities[full_stop], -1);
  EXPECT_NEAR(doubted.best().word_confidence.back(), word_confidence(0), 1e-6);
}

}  // namespace
}  // namespace heed::translate
