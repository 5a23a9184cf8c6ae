#include "translate/words/alignment.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "models/directory/loaded_model.h"
#include "reference.h"
#include "search/test_seq2seq.h"
#include "test_folder.h"

namespace heed::translate {
namespace {

TEST(Alignment, RowsAreDistributionsAndLayersDiffer) {
  const search::TinyTransformer tiny;
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

// The row of a token is that of the step whose input the token is: one later than the step that writes it.
TEST(Alignment, UsesTheStepWithTheTokenAsInput) {
  const search::TinyTransformer tiny;
  const std::vector<int32_t> source{5, 6, 7, 0}, target{9, 8, 7, 6, 0};
  std::vector<int32_t> longer = target;
  longer.push_back(5);
  const auto heads_of = [&](int layer) {
    std::vector<models::AlignmentHead> heads;
    for (int head = 0; head < tiny.model.config().decoder_heads; ++head) heads.push_back({layer, head});
    return heads;
  };
  const auto read = soft_alignment(tiny.model, tiny.context(), source, target, {.heads = heads_of(1)});
  const auto written = soft_alignment(tiny.model, tiny.context(), source, longer, {.layer = 1});
  ASSERT_EQ(read.targets, 5);
  for (int64_t t = 0; t < 5; ++t) {
    for (int64_t s = 0; s < 4; ++s) EXPECT_NEAR(read.at(t, s), written.at(t + 1, s), 1e-6);
  }
  EXPECT_NE(read.weights, soft_alignment(tiny.model, tiny.context(), source, target, {.layer = 1}).weights);
  for (const HeadAlignment& each : every_head(tiny.model, tiny.context(), source, target)) {
    EXPECT_EQ(each.soft.weights,
              soft_alignment(tiny.model, tiny.context(), source, target, {.heads = {each.head}}).weights);
  }
  expect_error(ErrorKind::kUsage, "no head 9 in decoder layer 2", [&] {
    soft_alignment(tiny.model, tiny.context(), source, target, {.heads = {{1, 8}}});
  });
  expect_error(ErrorKind::kUsage, "no decoder layer 3", [&] {
    soft_alignment(tiny.model, tiny.context(), source, target, {.heads = {{2, 0}}});
  });
}

TEST(Alignment, TargetOfMaximumLengthIsAligned) {
  const search::TinyTransformer tiny;
  std::vector<int32_t> target(static_cast<size_t>(tiny.model.max_length()), 7);
  const auto soft = soft_alignment(tiny.model, tiny.context(), {5, 6, 0}, target, {.heads = {{0, 0}}});
  EXPECT_EQ(soft.targets, tiny.model.max_length());
  EXPECT_EQ(std::ssize(soft.weights), soft.targets * soft.sources);
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
}  // namespace heed::translate
