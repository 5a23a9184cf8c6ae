#include "ops/embedding.h"

#include "compare.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

Tensor ids_of(const std::vector<int32_t>& ids) {
  return Tensor::from(ids, {static_cast<int64_t>(ids.size())});
}

TEST(Embedding, LooksUpScalesAndAddsPositions) {
  const Tensor table = Tensor::from<double>({1, 2, 3, 4, 5, 6}, {3, 2});
  expect_equal(embedding(table, ids_of({2, 0, 2})).value(), Tensor::from<double>({5, 6, 1, 2, 5, 6}, {3, 2}),
               "rows");
  EmbeddingOptions options;
  options.scale = 10;
  options.positions = Tensor::from<double>({0.1, 0.2, 0.3, 0.4}, {2, 2});
  options.position_ids = ids_of({1, 0, 1});
  expect_close(embedding(table, ids_of({2, 0, 2}), options).value(),
               Tensor::from<double>({50.3, 60.4, 10.1, 20.2, 50.3, 60.4}, {3, 2}), 1e-14, "with positions");
}

TEST(Embedding, KeepsTheAxesOfTheIds) {
  const Tensor table = TensorSource(1).normal({5, 3});
  EXPECT_EQ(embedding(table, TensorSource(2).ids({2, 4}, 5)).shape().to_string(), "(2, 4, 3)");
  EXPECT_EQ(embedding(table, TensorSource(2).ids({0}, 5)).shape().to_string(), "(0, 3)");
}

TEST(Embedding, ErrorsSayWhichIdIsOutside) {
  const Tensor table = Tensor::zeros({5, 3});
  expect_error(ErrorKind::kUsage, "id 5 at index 1 is outside the table of 5 rows", [&] {
    embedding(table, ids_of({4, 5}));
  });
  expect_error(ErrorKind::kUsage, "id -1 at index 0", [&] { embedding(table, ids_of({-1})); });
  expect_error(ErrorKind::kShape, "must be (V, D), not (5)",
               [&] { embedding(Tensor::zeros({5}), ids_of({1})); });
  EmbeddingOptions options;
  options.positions = Tensor::zeros({2, 3});
  expect_error(ErrorKind::kShape, "position table (2, 3) and positions ()",
               [&] { embedding(table, ids_of({1}), options); });
  options.position_ids = ids_of({2});
  expect_error(ErrorKind::kUsage, "position 2 at index 0", [&] { embedding(table, ids_of({1}), options); });
  options.position_ids = ids_of({0, 0});
  expect_error(ErrorKind::kShape,
               "ids (1) and table (5, 3) do not fit a position table (2, 3) and positions (2)",
               [&] { embedding(table, ids_of({1}), options); });
}

TEST(Embedding, PaddingGetsNoGradient) {
  const auto gradient = [](int64_t padding_id) {
    Tape tape;
    const Var table = tape.leaf(Tensor::from<double>({1, 2, 3}, {3, 1}));
    EmbeddingOptions options;
    options.padding_id = padding_id;
    tape.backward(embedding(table, ids_of({0, 1, 1, 2}), options));
    return tape.gradient(table);
  };
  expect_equal(gradient(1), Tensor::from<double>({1, 0, 1}, {3, 1}), "padding 1");
  expect_equal(gradient(-1), Tensor::from<double>({1, 2, 1}, {3, 1}), "no padding");
}

GRADIENT_CHECK(embedding, RepeatedIdsAndPositions) {
  TensorSource source(3);
  EmbeddingOptions options;
  options.scale = 2.5;
  options.positions = source.normal({4, 5});
  options.position_ids = source.ids({7}, 4);
  const Tensor ids = source.ids({7}, 3);
  expect_gradients([&](const auto& x) { return embedding(x[0], ids, options); }, {source.normal({3, 5})});
  expect_gradients([&](const auto& x) { return embedding(x[0], ids); }, {source.normal({4, 1})});
}

}  // namespace
}  // namespace heed::ops
