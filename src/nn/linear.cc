#include "nn/linear.h"

#include "base/check.h"
#include "kernels/gemm/selected_product.h"
#include "nn/differentiable_weights.h"
#include "ops/linear.h"

namespace heed::nn {

Linear::Linear(ParameterTable& table, const std::string& name, int64_t in, int64_t out, bool bias)
    : Linear(join_outputs(table, {{name, out}}, in, bias)) {}

Linear::Linear(ParameterTable& table, ParamRef weight, ParamRef bias)
    : product_(table.add_product(weight, bias)) {}

Linear Linear::join(ParameterTable& table, const std::vector<std::string>& names, int64_t in, int64_t out,
                    bool bias) {
  std::vector<Output> outputs;
  for (const std::string& name : names) outputs.push_back({name, out});
  return join_outputs(table, outputs, in, bias);
}

Linear Linear::join_outputs(ParameterTable& table, const std::vector<Output>& outputs, int64_t in,
                            bool bias) {
  const int count = static_cast<int>(outputs.size());
  ParamRef weights, biases;
  for (const auto& [name, out] : outputs) {
    const ParamRef weight = table.add({name + ".weight", {out, in}, {Initialization::Kind::kXavier}, {}});
    table.set_fewest_bits(weight.first, 4);
    if (!weights.defined()) weights = {weight.first, count};
  }
  for (const auto& [name, out] : outputs) {
    if (!bias) break;
    const ParamRef row = table.add({name + ".bias", {out}, {Initialization::Kind::kZeros}, {}});
    if (!biases.defined()) biases = {row.first, count};
  }
  return {table, weights, biases};
}

Linear Linear::slice(ParameterTable& table, int begin, int count) const {
  return {table, weight().slice(begin, count), bias().defined() ? bias().slice(begin, count) : ParamRef()};
}

Var Linear::forward(Context& context, const Var& x) const {
  const PackedMatrix* weights = packed(context);
  if (weights != nullptr && !x.wants_gradient()) return ops::linear(x.value(), *weights);
  if (context.differentiable != nullptr && x.dtype() == DType::kFloat32) {
    const DifferentiableWeights::Product& both = (*context.differentiable)[product_];
    return ops::linear(x, both.forward, both.backward);
  }
  return ops::linear(x, context.parameter(weight()), bias().defined() ? context.parameter(bias()) : Var(),
                     context.precision);
}

ops::VocabularyLoss Linear::vocabulary_loss(Context& context, const Var& x, const Tensor& targets,
                                            ops::CrossEntropyOptions options) const {
  options.precision = context.precision;
  return ops::vocabulary_cross_entropy(
      x, context.parameter(weight()), bias().defined() ? context.parameter(bias()) : Var(), targets, options);
}

Tensor Linear::forward_selected(Context& context, const Tensor& x,
                                std::span<const std::span<const int32_t>> selected) const {
  HEED_CHECK(x.dtype() == DType::kFloat32 && x.dim(0) == static_cast<int64_t>(selected.size()));
  const Tensor b = bias().defined() ? context.values->view(*context.table, bias()) : Tensor();
  int64_t outputs = 0;
  for (const auto& row : selected) outputs += static_cast<int64_t>(row.size());
  Tensor y = Tensor::empty({outputs});
  const bool compact = context.compact != nullptr && context.compact->holds(weight());
  const Tensor matrix = compact ? Tensor() : context.values->view(*context.table, weight());
  SelectedProductArguments arguments{.in = x.dim(1),
                                     .x = x.data<float>(),
                                     .weight = compact ? nullptr : matrix.data<float>(),
                                     .bias = b.defined() ? b.data<float>() : nullptr,
                                     .y = y.data<float>()};
  for (size_t row = 0; row < selected.size();) {
    const std::span<const int32_t> list = selected[row];
    arguments.outputs = list.data();
    arguments.count = static_cast<int64_t>(list.size());
    for (arguments.rows = 0; row < selected.size() && selected[row].data() == list.data(); ++row)
      ++arguments.rows;
    if (compact) {
      context.compact->multiply_selected(weight(), arguments);
    } else {
      selected_product(arguments);
    }
    arguments.x += arguments.rows * arguments.in;
    arguments.y += arguments.rows * arguments.count;
  }
  return y;
}

}  // namespace heed::nn
