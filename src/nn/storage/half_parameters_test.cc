#include "nn/storage/half_parameters.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compare.h"
#include "nn/differentiable_weights.h"
#include "nn/linear.h"
#include "nn/positions/embedding.h"
#include "tensor/half.h"

namespace heed::nn {
namespace {

Tensor input(int64_t width) {
  std::vector<float> numbers{1, -2, 3, 0.5f, 7, -0.1f, 2, 1e-3f, 4, 6};
  numbers.resize(static_cast<size_t>(width));
  return Tensor::from(numbers, {1, width});
}

/// What the weights are stored as, and the size of each of two matrices. Panels of 64 outputs are reordered.
struct Stored {
  DType type;
  int64_t in, out;
};

/// A layer with a bias, in 16 bits, and the same with float32 values.
class HalfLayer : public testing::TestWithParam<Stored> {
 protected:
  HalfLayer() : layer_(Linear::join(table_, {"first", "second"}, GetParam().in, GetParam().out)) {
    floats_ = ParameterArray(table_, DType::kFloat32);
    initialize(table_, floats_, RandomKey::from_seed(1));
    half_ = std::make_unique<HalfParameters>(table_, GetParam().type, HalfPacking::kEachCall);
    others_ = ParameterArray::unset(table_, [&](int row) { return half_->holds_row(row); });
    for (int row = 0; row < table_.size(); ++row) {
      Tensor values = floats_.view(table_, {row, 1});
      for (int64_t i = 0; i < values.size(); ++i) {
        float& value = values.data<float>()[i];
        if (!half_->holds_row(row)) {
          others_.view(table_, {row, 1}).data<float>()[i] = value;
          continue;
        }
        uint16_t& bits = half_->elements(row)[i];
        bits = GetParam().type == DType::kFloat16 ? float_to_half(value) : float_to_bfloat(value);
        value = GetParam().type == DType::kFloat16 ? half_to_float(bits) : bfloat_to_float(bits);
      }
      if (half_->holds_row(row)) half_->arrange(row);
    }
    packed_ = std::make_unique<PackedWeights>(table_, floats_);
    packed_half_ = std::make_unique<PackedWeights>(table_, others_, half_.get());
    floating_ = packed_->context();
    compact_ = packed_half_->context();
  }

  ParameterTable table_;
  Linear layer_;
  ParameterArray floats_, others_;
  std::unique_ptr<HalfParameters> half_;
  std::unique_ptr<PackedWeights> packed_, packed_half_;
  Context floating_, compact_;
  const Tensor x_ = input(GetParam().in);
};

/// The gradient with respect to x of the sum of all outputs.
std::vector<float> gradient_of(const Linear& layer, const Tensor& input,
                               const DifferentiableWeights& weights) {
  Context context;
  context.differentiable = &weights;
  Tape tape;
  const Var x = tape.leaf(input);
  tape.backward(layer.forward(context, x));
  return tape.gradient(x).to_vector<float>();
}

TEST_P(HalfLayer, MultipliesAsInFloat32) {
  expect_equal(layer_.forward(compact_, x_).value(), layer_.forward(floating_, x_).value(), "both layers");
  const DifferentiableWeights wide(table_, floats_), narrow(table_, others_, half_.get());
  EXPECT_EQ(gradient_of(layer_, x_, wide), gradient_of(layer_, x_, narrow));
  const Linear second = layer_.slice(table_, 1);
  packed_ = std::make_unique<PackedWeights>(table_, floats_);
  packed_half_ = std::make_unique<PackedWeights>(table_, others_, half_.get());
  Context floating = packed_->context(), compact = packed_half_->context();
  expect_equal(second.forward(compact, x_).value(), second.forward(floating, x_).value(), "the second");
}

TEST_P(HalfLayer, GivesRowsAndSelectedOutputsAsInFloat32) {
  const std::vector<int32_t> ids{3, 79, 3};
  expect_equal(embedding(compact_, layer_.weight(), ids).value(),
               embedding(floating_, layer_.weight(), ids).value(), "rows");
  const std::vector<std::span<const int32_t>> selected{ids};
  expect_equal(layer_.forward_selected(compact_, x_, selected),
               layer_.forward_selected(floating_, x_, selected), "selected outputs");
}

TEST_P(HalfLayer, BecomesFloatsWhereTheyAreNeeded) {
  expect_equal(compact_.parameter(layer_.weight()).value(), floats_.view(table_, layer_.weight()), "weight");
  expect_equal(compact_.parameter(layer_.bias()).value(), floats_.view(table_, layer_.bias()), "bias");
  EXPECT_EQ(others_.flat().size(), 2 * GetParam().out) << "only biases are kept as floats";
}

INSTANTIATE_TEST_SUITE_P(Types, HalfLayer,
                         testing::Values(Stored{DType::kFloat16, 9, 40}, Stored{DType::kBFloat16, 9, 40},
                                         Stored{DType::kFloat16, 10, 128}, Stored{DType::kBFloat16, 10, 128}),
                         [](const auto& each) {
                           return std::string(name_of(each.param.type)) + "_" +
                                  std::to_string(each.param.out);
                         });

}  // namespace
}  // namespace heed::nn
