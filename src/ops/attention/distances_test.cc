#include "ops/attention/distances.h"

#include "compare.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

TEST(Distances, ClippedCountsFurtherOnesAsTheLast) {
  const Distances distances = Distances::clipped(2);
  EXPECT_EQ(distances.count(), 5);
  const std::vector<int32_t> expected{0, 0, 1, 2, 3, 4, 4};
  for (int64_t d = -3; d <= 3; ++d) EXPECT_EQ(distances.row(d), expected[static_cast<size_t>(d + 3)]) << d;
}

// Eight buckets of a side: 0 to 3 alone, then 4 and 5, 6 to 7, 8 to 11, 12 and more: by hand from
// 4 + floor(ln(d / 4) / ln(16 / 4) * 4).
TEST(Distances, BucketsGrowWithTheLogarithm) {
  const Distances causal = Distances::buckets({.buckets = 8, .reach = 16, .bidirectional = false});
  const std::vector<int32_t> expected{0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 7};
  for (int64_t d = 0; d < 17; ++d) {
    if (d == 8) continue;  // the logarithm is an integer: either side of rounding is right
    EXPECT_EQ(causal.row(-d), expected[static_cast<size_t>(d)]) << d;
    EXPECT_EQ(causal.row(d), 0) << "the look-ahead mask hides it";
  }
  EXPECT_EQ(causal.row(-100000), 7);
  const Distances both = Distances::buckets({.buckets = 16, .reach = 16});
  for (int64_t d = 1; d < 17; ++d) {
    EXPECT_EQ(both.row(-d), causal.row(-d)) << d;
    EXPECT_EQ(both.row(d), 8 + causal.row(-d)) << d;
  }
  EXPECT_EQ(both.row(0), 0);
}

TEST(Distances, Errors) {
  expect_error(ErrorKind::kUsage, "the maximum distance must be at least 1, not 0",
               [] { Distances::clipped(0); });
  expect_error(ErrorKind::kUsage, "2 buckets for distances up to 128",
               [] { Distances::buckets({.buckets = 2}); });
  expect_error(ErrorKind::kUsage, "distances beyond 8", [] { Distances::buckets({.reach = 8}); });
  const AttentionLayout layout = AttentionLayout::padded(1, 2, 3);
  const Tensor scores = Tensor::zeros({12}, DType::kFloat64), table = Tensor::zeros({5, 3}, DType::kFloat64);
  expect_error(ErrorKind::kShape, "add_distance_bias: the table must be (5, 2), not (5, 3)",
               [&] { add_distance_bias(scores, table, Distances::clipped(2), layout, 2); });
  expect_error(ErrorKind::kShape, "scores of (12) are not 3 heads times 6 pairs",
               [&] { add_distance_bias(scores, table, Distances::clipped(2), layout, 3); });
}

/// Two sequences of 3 and 1 queries and 3 and 4 keys; two heads of 4 columns, queries behind one more column.
struct Ragged {
  AttentionLayout layout = AttentionLayout::packed({0, 3, 4}, {0, 3, 7});
  Distances distances = Distances::clipped(1);

  AttentionOperands operands(const Var& query, const Var& key) const {
    return {{query, 1, 8}, {key, 0, 8}, {key, 0, 8}, 2, 0.7};
  }
};

// The formula, pair by pair; the query of the second sequence stands where its last key does.
TEST(Distances, BiasesStandWhereTheFormulaSays) {
  const Ragged x;
  TensorSource source(1);
  const Tensor scores = source.normal({26}), table = source.normal({3, 2});
  const Tensor biased = add_distance_bias(scores, table, x.distances, x.layout, 2).value();
  const auto bias = [&](int64_t row, int64_t head) { return table.data<double>()[row * 2 + head]; };
  const auto added = [&](int64_t at) { return biased.data<double>()[at] - scores.data<double>()[at]; };
  EXPECT_NEAR(added(1 * 3 + 0), bias(0, 0), 1e-15);      // sequence 0, head 0, query 1, key 0: one before
  EXPECT_NEAR(added(9 + 0 * 3 + 2), bias(2, 1), 1e-15);  // head 1, query 0, key 2: two behind, clipped
  EXPECT_NEAR(added(18 + 3), bias(1, 0), 1e-15);         // sequence 1, head 0, its query, key 3: the same
  EXPECT_NEAR(added(18 + 4 + 0), bias(0, 1), 1e-15);     // head 1, key 0: three before, clipped
}

GRADIENT_CHECK(add_distance_bias, RaggedSequences) {
  const Ragged x;
  TensorSource source(2);
  expect_gradients([&](const auto& v) { return add_distance_bias(v[0], v[1], x.distances, x.layout, 2); },
                   {source.normal({26}), source.normal({3, 2})});
}

GRADIENT_CHECK(add_distance_keys, RaggedSequences) {
  const Ragged x;
  TensorSource source(3);
  const Tensor key = source.normal({7, 8});
  expect_gradients(
      [&](const auto& v) {
        return add_distance_keys(v[0], v[1], x.distances, x.operands(v[2], key), x.layout);
      },
      {source.normal({26}), source.normal({3, 4}), source.normal({4, 9})});
}

GRADIENT_CHECK(add_distance_values, RaggedSequences) {
  const Ragged x;
  TensorSource source(4);
  expect_gradients(
      [&](const auto& v) {
        return add_distance_values({v[0], v[1]}, v[2], x.distances, x.layout, 2);
      },
      {source.normal({26}), source.normal({4, 8}), source.normal({3, 4})});
}

// A table of one row for all distances is no position: the same score for all keys, which no softmax sees,
// and the same value for all, which any weights mix to itself.
TEST(Distances, ATableOfEqualRowsChangesNoWeightAndAddsItsRow) {
  const Ragged x;
  TensorSource source(5);
  const Tensor query = source.normal({4, 9}), key = source.normal({7, 8}), row = source.normal({1, 4});
  Tensor table = Tensor::empty({3, 4}, DType::kFloat64);
  for (int64_t i = 0; i < 12; ++i) table.data<double>()[i] = row.data<double>()[i % 4];
  const AttentionOperands operands = x.operands(query, key);
  const auto attend = [&](const Tensor& keys) {
    const Var plain = attention_scores(operands, x.layout);
    const Var scores =
        keys.defined() ? add_distance_keys(plain, keys, x.distances, operands, x.layout) : plain;
    return attention_softmax(scores, x.layout, 2, {});
  };
  const Var weights = attend({});
  expect_close(attend(table).value(), weights.value(), 1e-14, "weights");
  const Var mixed = attention_mix(weights, operands, x.layout);
  const Tensor all = add_distance_values({weights, mixed}, table, x.distances, x.layout, 2).value();
  for (int64_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR(all.data<double>()[i], mixed.value().data<double>()[i] + row.data<double>()[i % 4], 1e-14);
  }
  // The control: a table of other rows changes the weights.
  table.data<double>()[0] += 1;
  EXPECT_GT(largest_difference(attend(table).value(), weights.value()), 1e-3);
}

}  // namespace
}  // namespace heed::ops
