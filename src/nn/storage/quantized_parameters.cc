#include "nn/storage/quantized_parameters.h"

#include "base/check.h"
#include "kernels/gemm/packed/packed_int8.h"

namespace heed::nn {

QuantizedParameters::QuantizedParameters(const ParameterTable& table)
    : CompactParameters(table), values_(Tensor::empty({table.elements()}, DType::kInt8)) {
  int64_t scales = 0;
  for (int row = 0; row < table.size(); ++row) {
    scale_offsets_.push_back(wants(table[row]) ? scales : -1);
    if (wants(table[row])) scales += table[row].shape[0];
  }
  scales_ = Tensor::empty({scales});
}

bool QuantizedParameters::wants(const ParamSpec& spec) {
  return spec.quantizable && spec.shape.rank() == 2 && spec.shape[1] <= kLongestInt8Sum;
}

QuantizedParameters::Matrix QuantizedParameters::matrix(ParamRef ref) const {
  HEED_CHECK(holds(ref));
  const Shape shape = table().shape(ref);
  Tensor values = values_, scales = scales_;  // handles
  return {values.data<int8_t>() + table().offset(ref.first), scales.data<float>() + scale_offsets_[ref.first],
          shape[0], shape[1]};
}

void QuantizedParameters::quantize(int row, const float* weight) {
  quantize_rows(row, 0, matrix({row, 1}).out, weight);
}

void QuantizedParameters::quantize_rows(int row, int64_t begin, int64_t count, const float* weight) {
  const Matrix to = matrix({row, 1});
  HEED_CHECK(begin >= 0 && count >= 0 && begin + count <= to.out);
  quantize_weights({.rows = count,
                    .columns = to.in,
                    .x = weight,
                    .values = to.values + begin * to.in,
                    .scales = to.scales + begin});
}

void QuantizedParameters::widen(ParamRef ref, int64_t begin, int64_t count, float* out) const {
  const Matrix from = matrix(ref);
  for (int64_t row = begin; row < begin + count; ++row, out += from.in) {
    const int8_t* values = from.values + row * from.in;
    const float scale = from.scales[row];
    for (int64_t i = 0; i < from.in; ++i) out[i] = static_cast<float>(values[i]) * scale;
  }
}

PackedMatrix QuantizedParameters::pack(ParamRef ref, const float* bias) const {
  const auto [values, scales, out, in] = matrix(ref);
  return {values, scales, out, in, bias};
}

void QuantizedParameters::multiply_selected(ParamRef ref, const SelectedProductArguments& arguments) const {
  const Matrix weight = matrix(ref);
  selected_product(Int8SelectedProductArguments{.rows = arguments.rows,
                                                .in = arguments.in,
                                                .count = arguments.count,
                                                .x = arguments.x,
                                                .outputs = arguments.outputs,
                                                .weight = weight.values,
                                                .scales = weight.scales,
                                                .bias = arguments.bias,
                                                .y = arguments.y});
}

}  // namespace heed::nn
