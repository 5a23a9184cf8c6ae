#include "nn/storage/quantized_parameters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare.h"
#include "heed/error.h"
#include "kernels/gemm/packed/packed_int8.h"
#include "nn/context.h"
#include "nn/linear.h"
#include "nn/positions/embedding.h"
#include "test_folder.h"

namespace heed::nn {
namespace {

/// Two joined layers, and a table of words that may not be quantized.
struct Layers {
  Layers() : joined(Linear::join(table, {"first", "second"}, 6, 4)) {
    words = table.add({"words", {5, 6}, {}, {}});
    values = ParameterArray(table, DType::kFloat32);
    initialize(table, values, RandomKey::from_seed(1));
    quantized = std::make_unique<QuantizedParameters>(table);
    for (int row = 0; row < table.size(); ++row) {
      if (quantized->holds({row, 1})) quantized->quantize(row, values.view(table, {row, 1}).data<float>());
    }
  }
  Context context(const ParameterArray& floats) {
    packed = std::make_unique<PackedWeights>(table, floats, quantized.get());
    return packed->context();
  }
  /// Floats as a quantized model has them: no elements where weights are int8.
  ParameterArray without_matrices() const {
    ParameterArray others = ParameterArray::unset(table, [&](int row) { return quantized->holds_row(row); });
    for (int row = 0; row < table.size(); ++row) {
      if (quantized->holds({row, 1})) continue;
      Tensor to = others.view(table, {row, 1});
      const Tensor from = values.view(table, {row, 1});
      std::copy_n(from.data<float>(), from.size(), to.data<float>());
    }
    return others;
  }

  ParameterTable table;
  Linear joined;
  ParamRef words;
  ParameterArray values;
  std::unique_ptr<QuantizedParameters> quantized;
  std::unique_ptr<PackedWeights> packed;
};

TEST(QuantizedParameters, HoldsMatricesThatMayBeQuantized) {
  const Layers layers;
  EXPECT_TRUE(layers.quantized->holds(layers.joined.weight()));
  EXPECT_FALSE(layers.quantized->holds(layers.joined.bias()));
  EXPECT_FALSE(layers.quantized->holds(layers.words));
  EXPECT_FALSE(layers.quantized->holds({layers.joined.weight().first, 3}));
  ParamSpec spec{"long", {2, kLongestInt8Sum + 1}, {}, {}};
  spec.fewest_bits = 8;
  EXPECT_EQ(QuantizedParameters::bits_of(spec, 8), 0) << "sums would not fit";
}

TEST(QuantizedParameters, AreWithinHalfAStepOfTheFloats) {
  const Layers layers;
  const auto matrix = layers.quantized->matrix(layers.joined.weight());
  ASSERT_EQ(matrix.out, 8);
  ASSERT_EQ(matrix.in, 6);
  const Tensor weight = layers.values.view(layers.table, layers.joined.weight());
  std::vector<float> floats(48);
  layers.quantized->widen(layers.joined.weight(), 0, 8, floats.data());
  for (int64_t i = 0; i < 48; ++i) {
    EXPECT_LE(std::abs(floats[i] - weight.data<float>()[i]), matrix.scales[i / 6] * 0.50001f);
  }
  std::vector<float> row(6);
  layers.quantized->widen(layers.joined.weight(), 5, 1, row.data());
  EXPECT_TRUE(std::equal(row.begin(), row.end(), floats.begin() + 30));
}

TEST(QuantizedParameters, LayersMultiplyThem) {
  Layers layers;
  const ParameterArray others = layers.without_matrices();
  Context context = layers.context(others);
  const Tensor x = layers.values.view(layers.table, layers.words);
  const Tensor y = layers.joined.forward(context, x).value();
  // Each weight and each number of x is off by half a step at most; steps are a 127th of the largest.
  Context floats = context;
  floats.values = &layers.values;
  floats.compact = nullptr;
  floats.packed = nullptr;
  expect_close(y, layers.joined.forward(floats, x).value(), 6 * 2.0 / 127, "int8 and float");
  EXPECT_EQ(others.flat().size(), 8 + 30) << "biases and words";
}

TEST(QuantizedParameters, BecomeFloatsWhereSomebodyAsks) {
  Layers layers;
  const ParameterArray others = layers.without_matrices();
  Context context = layers.context(others);
  std::vector<float> floats(48);
  layers.quantized->widen(layers.joined.weight(), 0, 8, floats.data());
  EXPECT_EQ(context.parameter(layers.joined.weight()).value().to_vector<float>(), floats);
  expect_equal(context.parameter(layers.words).value(), layers.values.view(layers.table, layers.words),
               "what is not quantized");
}

TEST(QuantizedParameters, GiveRowsOfATable) {
  Layers layers;
  const ParameterArray others = layers.without_matrices();
  Context context = layers.context(others);
  const ParamRef table = layers.joined.weight();
  ops::EmbeddingOptions options;
  options.scale = 3;
  const Tensor rows = embedding(context, table, {7, 0, 7}, options).value();
  std::vector<float> expected(18);
  for (const int64_t layer : {0, 1, 2}) {
    layers.quantized->widen(table, layer == 1 ? 0 : 7, 1, &expected[layer * 6]);
  }
  for (float& value : expected) value *= 3;
  EXPECT_EQ(rows.to_vector<float>(), expected);
  expect_error(ErrorKind::kUsage, "id 8 at index 1 is outside the table of 8 rows", [&] {
    embedding(context, table, {1, 8});
  });
}

}  // namespace
}  // namespace heed::nn
