#include "nn/storage/half_parameters.h"

#include <numeric>
#include <vector>

#include "base/check.h"

namespace heed::nn {

HalfParameters::HalfParameters(const ParameterTable& table, DType dtype, HalfPacking packing)
    : CompactParameters(table), packing_(packing), values_(Tensor::empty({table.elements()}, dtype)) {
  HEED_CHECK(dtype == DType::kFloat16 || dtype == DType::kBFloat16);
}

uint16_t* HalfParameters::elements(int row) {
  HEED_CHECK(holds_row(row));
  return static_cast<uint16_t*>(values_.bytes()) + table().offset(row);
}

HalfMatrix HalfParameters::matrix(ParamRef ref) const {
  HEED_CHECK(holds(ref));
  const Shape shape = table().shape(ref);
  return {static_cast<const uint16_t*>(values_.bytes()) + table().offset(ref.first), shape[0], shape[1],
          dtype() == DType::kBFloat16};
}

void HalfParameters::widen(ParamRef ref, int64_t begin, int64_t count, float* out) const {
  heed::widen(matrix(ref).rows(begin, count), out);
}

PackedMatrix HalfParameters::pack(ParamRef ref, const float* bias) const {
  return {matrix(ref), bias, packing_};
}

void HalfParameters::multiply_selected(ParamRef ref, const SelectedProductArguments& arguments) const {
  const HalfMatrix all = matrix(ref);
  SelectedProductArguments product = arguments;
  std::vector<float> weight(static_cast<size_t>(product.count * all.in)), bias;
  for (int64_t n = 0; n < product.count; ++n) {
    heed::widen(all.rows(arguments.outputs[n], 1), weight.data() + n * all.in);
    if (arguments.bias != nullptr) bias.push_back(arguments.bias[arguments.outputs[n]]);
  }
  std::vector<int32_t> outputs(static_cast<size_t>(product.count));
  std::iota(outputs.begin(), outputs.end(), 0);
  product.weight = weight.data();
  product.bias = arguments.bias == nullptr ? nullptr : bias.data();
  product.outputs = outputs.data();
  selected_product(product);
}

}  // namespace heed::nn
