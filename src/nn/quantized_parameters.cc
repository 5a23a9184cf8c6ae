#include "nn/quantized_parameters.h"

#include "base/check.h"
#include "kernels/gemm/packed_int8.h"

namespace heed::nn {

QuantizedParameters::QuantizedParameters(const ParameterTable& table)
    : table_(&table),
      values_(Tensor::empty({table.elements()}, DType::kInt8)),
      filled_(std::make_unique<std::once_flag[]>(static_cast<size_t>(table.size()))) {
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

bool QuantizedParameters::holds(ParamRef ref) const {
  for (int row = ref.first; row < ref.first + ref.count; ++row) {
    if (scale_offsets_[row] < 0) return false;
  }
  return true;
}

QuantizedParameters::Matrix QuantizedParameters::matrix(ParamRef ref) const {
  HEED_CHECK(holds(ref));
  const Shape shape = table_->shape(ref);
  Tensor values = values_, scales = scales_;  // handles
  return {values.data<int8_t>() + table_->offset(ref.first), scales.data<float>() + scale_offsets_[ref.first],
          shape[0], shape[1]};
}

void QuantizedParameters::quantize(int row, const float* weight) {
  const Matrix to = matrix({row, 1});
  quantize_weights({.rows = to.out, .columns = to.in, .x = weight, .values = to.values, .scales = to.scales});
}

void QuantizedParameters::dequantize(ParamRef ref, int64_t begin, int64_t count, float* out) const {
  const Matrix from = matrix(ref);
  for (int64_t row = begin; row < begin + count; ++row, out += from.in) {
    const int8_t* values = from.values + row * from.in;
    const float scale = from.scales[row];
    for (int64_t i = 0; i < from.in; ++i) out[i] = static_cast<float>(values[i]) * scale;
  }
}

void QuantizedParameters::fill(ParamRef ref, const ParameterArray& values) const {
  for (int row = ref.first; row < ref.first + ref.count; ++row) {
    if (scale_offsets_[row] < 0) continue;
    std::call_once(filled_[row], [&] {
      Tensor view = values.view(*table_, {row, 1});
      dequantize({row, 1}, 0, view.dim(0), view.data<float>());
    });
  }
}

}  // namespace heed::nn
