#include "decode/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "decode/test_models.h"
#include "models/model_directory.h"
#include "reference.h"

namespace heed::decode {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Alignment, LinksEachTargetWordToWhatItLooksAtMost) {
  // Three target tokens, two words: the second and third token are one. Four source tokens, two words and the
  // end.
  const SoftAlignment soft{3,
                           4,
                           {0.2F, 0.1F, 0.1F, 0.6F,  //
                            0.1F, 0.1F, 0.5F, 0.3F,  //
                            0.3F, 0.3F, 0.3F, 0.1F}};
  // Word 0 is looked at by 0.3, word 1 by 0.1; then 0.2 + 0.6 and 0.5 + 0.3, of which the first is the first.
  EXPECT_THAT(word_alignment(soft, {0, 0, 1, -1}, {0, 1, 1}), ElementsAre(Pair(0, 0), Pair(0, 1)));
  EXPECT_THAT(word_alignment(soft, {0, 1, 2, -1}, {0, 1, 1}), ElementsAre(Pair(0, 0), Pair(2, 1)));
  EXPECT_THAT(word_alignment(soft, {0, 1, 2, -1}, {0, -1, -1}), ElementsAre(Pair(0, 0)));
  EXPECT_EQ(to_pharaoh({{0, 0}, {2, 1}}), "0-0 2-1");
}

TEST(Alignment, WordsOfSpans) {
  const std::string text = " One two  three";
  const std::vector<std::pair<size_t, size_t>> spans{{0, 3}, {3, 4}, {4, 8}, {8, 9}, {9, 15}, {15, 15}};
  EXPECT_THAT(words_of_spans(text, spans), ElementsAre(0, 0, 1, 2, 2, -1));
  EXPECT_THAT(words_of_spans("", {{0, 0}}), ElementsAre(-1));
}

TEST(Alignment, WordsOfPieces) {
  const std::vector<std::string> pieces{"▁He", "llo", "▁", ",", "▁you", "<unk>", ".", "▁", "</s>"};
  const std::vector<bool> special{false, false, false, false, false, true, false, false, true};
  EXPECT_THAT(words_of_pieces(pieces, special), ElementsAre(0, 0, 1, 1, 2, -1, 2, -1, -1));
  EXPECT_THAT(words_of_pieces({"a", "▁b"}, {false, false}), ElementsAre(0, 1));
}

TEST(Alignment, RowsAreDistributionsAndLayersDiffer) {
  const TinyTransformer tiny;
  const std::vector<int32_t> source{5, 6, 7, 0}, target{9, 8, 7, 6, 0};
  const auto last = soft_alignment(tiny.model, tiny.context(), source, target);
  ASSERT_EQ(last.targets, 5);
  ASSERT_EQ(last.sources, 4);
  for (int64_t t = 0; t < 5; ++t) {
    float sum = 0;
    for (int64_t s = 0; s < 4; ++s) sum += last.at(t, s);
    EXPECT_NEAR(sum, 1, 1e-6);
  }
  EXPECT_EQ(soft_alignment(tiny.model, tiny.context(), source, target, {.layer = 1}).weights, last.weights);
  EXPECT_NE(soft_alignment(tiny.model, tiny.context(), source, target, {.layer = -2}).weights, last.weights);
  EXPECT_THROW(soft_alignment(tiny.model, tiny.context(), source, target, {.layer = 2}), Error);
  EXPECT_THROW(soft_alignment(tiny.model, tiny.context(), source, target, {.layer = -3}), Error);
}

TEST(Alignment, IsTheMeanOfTheReferencesHeads) {
  if (fixture_cases("").empty()) GTEST_SKIP() << missing_fixtures();
  for (const std::string& name : fixture_cases("")) {
    const ReferenceCase reference(name);
    if (!reference.has("expected.cross_attention.0") || !reference.json().contains("search")) continue;
    const auto loaded = models::load_model((reference.folder() / "model").string());
    const Tensor source = reference.tensor("input.source"), target = reference.tensor("input.target");
    const Tensor expected =
        reference.tensor("expected.cross_attention.0", DType::kFloat32);  // (B, H, Tt, Ts)
    const auto row_of = [&](const Tensor& ids, int64_t b) {
      std::vector<int32_t> row;
      const int64_t* first = ids.data<int64_t>() + b * ids.dim(1);
      for (int64_t t = 0; t < ids.dim(1) && first[t] != loaded.seq2seq().padding_id(); ++t) {
        row.push_back(static_cast<int32_t>(first[t]));
      }
      return row;
    };
    const int64_t heads = expected.dim(1), targets = expected.dim(2), sources = expected.dim(3);
    for (int64_t b = 0; b < source.dim(0); ++b) {
      const auto soft = soft_alignment(loaded.seq2seq(), loaded.context(), row_of(source, b),
                                       row_of(target, b), {.layer = 0});
      for (int64_t t = 0; t < soft.targets; ++t) {
        for (int64_t s = 0; s < soft.sources; ++s) {
          double mean = 0;
          for (int64_t h = 0; h < heads; ++h) {
            mean += expected.data<float>()[((b * heads + h) * targets + t) * sources + s] /
                    static_cast<double>(heads);
          }
          ASSERT_NEAR(soft.at(t, s), mean, reference.tolerance("expected.cross_attention.0", "float32"));
        }
      }
    }
  }
}

}  // namespace
}  // namespace heed::decode
