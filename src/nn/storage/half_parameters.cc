#include "nn/storage/half_parameters.h"

#include <numeric>
#include <vector>

#include "base/check.h"

namespace heed::nn {
namespace {

/// Rows of the table that pair_panels() takes. Several may be one matrix of a product, so consecutive ones of
/// the same width are all among them, or none. Those of a vocabulary are looked up, which needs rows.
std::vector<bool> paired_rows(const ParameterTable& table) {
  std::vector<bool> paired(static_cast<size_t>(table.size()));
  for (int begin = 0, end = 0; begin < table.size(); begin = end) {
    const auto joins = [&](int row) {
      return is_compressible(table[row]) && table[row].shape[1] == table[begin].shape[1] &&
             table[row].fewest_bits == table[begin].fewest_bits;
    };
    end = begin + 1;
    if (!is_compressible(table[begin])) continue;
    while (end < table.size() && joins(end)) ++end;
    bool all = true;
    for (int row = begin; row < end; ++row) {
      const ParamSpec& spec = table[row];
      all = all && spec.fewest_bits < 8 && pairing_pays(spec.shape[0], spec.shape[1]);
    }
    for (int row = begin; row < end; ++row) paired[static_cast<size_t>(row)] = all;
  }
  return paired;
}

}  // namespace

HalfParameters::HalfParameters(const ParameterTable& table, DType dtype, HalfPacking packing)
    : CompactParameters(table), packing_(packing), values_(Tensor::empty({table.elements()}, dtype)) {
  HEED_CHECK(dtype == DType::kFloat16 || dtype == DType::kBFloat16);
  paired_ = packing == HalfPacking::kEachCall ? paired_rows(table)
                                              : std::vector<bool>(static_cast<size_t>(table.size()));
}

uint16_t* HalfParameters::elements(int row) {
  HEED_CHECK(holds_row(row));
  return static_cast<uint16_t*>(values_.bytes()) + table().offset(row);
}

void HalfParameters::arrange(int row) {
  const Shape& shape = table()[row].shape;
  if (paired_[static_cast<size_t>(row)]) pair_panels(elements(row), shape[0], shape[1]);
}

HalfMatrix HalfParameters::matrix(ParamRef ref) const {
  HEED_CHECK(holds(ref));
  const Shape shape = table().shape(ref);
  return {static_cast<const uint16_t*>(values_.bytes()) + table().offset(ref.first), shape[0], shape[1],
          dtype() == DType::kBFloat16, paired_[static_cast<size_t>(ref.first)]};
}

void HalfParameters::widen(ParamRef ref, int64_t begin, int64_t count, float* out) const {
  widen_rows(matrix(ref), begin, count, out);
}

PackedMatrix HalfParameters::pack(ParamRef ref, const float* bias) const {
  return {matrix(ref), bias, packing_};
}

void HalfParameters::multiply_selected(ParamRef ref, const SelectedProductArguments& arguments) const {
  const HalfMatrix all = matrix(ref);
  SelectedProductArguments product = arguments;
  std::vector<float> weight(static_cast<size_t>(product.count * all.in)), bias;
  for (int64_t n = 0; n < product.count; ++n) {
    widen_rows(all, arguments.outputs[n], 1, weight.data() + n * all.in);
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
