#include "nn/linear.h"

#include "base/check.h"
#include "kernels/gemm/selected_product.h"
#include "ops/linear.h"

namespace heed::nn {

Linear::Linear(ParameterTable& table, const std::string& name, int64_t in, int64_t out, bool bias)
    : Linear(join(table, {name}, in, out, bias)) {}

Linear Linear::join(ParameterTable& table, const std::vector<std::string>& names, int64_t in, int64_t out,
                    bool bias) {
  std::vector<Part> parts;
  for (const std::string& name : names) parts.push_back({name, out});
  return join_parts(table, parts, in, bias);
}

Linear Linear::join_parts(ParameterTable& table, const std::vector<Part>& parts, int64_t in, bool bias) {
  Linear joined;
  const int count = static_cast<int>(parts.size());
  for (const auto& [name, out] : parts) {
    const ParamRef weight = table.add({name + ".weight", {out, in}, {Initialisation::Kind::kXavier}, {}});
    table.let_quantize(weight.first);
    if (!joined.weight_.defined()) joined.weight_ = {weight.first, count};
  }
  for (const auto& [name, out] : parts) {
    if (!bias) break;
    const ParamRef row = table.add({name + ".bias", {out}, {Initialisation::Kind::kZeros}, {}});
    if (!joined.bias_.defined()) joined.bias_ = {row.first, count};
  }
  return joined;
}

Linear Linear::part(int begin, int count) const {
  Linear part;
  part.weight_ = weight_.part(begin, count);
  if (bias_.defined()) part.bias_ = bias_.part(begin, count);
  return part;
}

Var Linear::forward(Context& context, const Var& x) const {
  return linear(context, x, weight_, bias_);
}

Var linear(Context& context, const Var& x, ParamRef weight, ParamRef bias) {
  const PackedMatrix* packed = context.packed_matrix(weight, bias);
  if (packed != nullptr && !x.wants_gradient()) return ops::linear(x.value(), *packed);
  return ops::linear(x, context.parameter(weight), bias.defined() ? context.parameter(bias) : Var());
}

Tensor selected_linear(Context& context, const Tensor& x, ParamRef weight, ParamRef bias,
                       std::span<const std::span<const int32_t>> wanted) {
  HEED_CHECK(x.dtype() == DType::kFloat32 && x.dim(0) == static_cast<int64_t>(wanted.size()));
  const Tensor b = bias.defined() ? context.values->view(*context.table, bias) : Tensor();
  int64_t outputs = 0;
  for (const auto& row : wanted) outputs += static_cast<int64_t>(row.size());
  Tensor y = Tensor::empty({outputs});
  const auto multiply = [&](auto arguments) {
    arguments.in = x.dim(1);
    arguments.bias = b.defined() ? b.data<float>() : nullptr;
    arguments.x = x.data<float>();
    arguments.y = y.data<float>();
    for (size_t row = 0; row < wanted.size();) {
      const std::span<const int32_t> list = wanted[row];
      arguments.outputs = list.data();
      arguments.count = static_cast<int64_t>(list.size());
      for (arguments.rows = 0; row < wanted.size() && wanted[row].data() == list.data(); ++row)
        ++arguments.rows;
      selected_product(arguments);
      arguments.x += arguments.rows * arguments.in;
      arguments.y += arguments.rows * arguments.count;
    }
  };
  if (context.quantized != nullptr && context.quantized->holds(weight)) {
    const QuantizedParameters::Matrix matrix = context.quantized->matrix(weight);
    multiply(Int8SelectedProductArguments{.weight = matrix.values, .scales = matrix.scales});
  } else {
    const Tensor matrix = context.values->view(*context.table, weight);
    multiply(SelectedProductArguments{.weight = matrix.data<float>()});
  }
  return y;
}

}  // namespace heed::nn
