#include "nn/storage/quantized_parameters.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "kernels/gemm/packed/packed_int8.h"

namespace heed::nn {

QuantizedParameters::QuantizedParameters(const ParameterTable& table, int bits)
    : CompactParameters(table), bits_(bits), row_sums_(new RowSums[static_cast<size_t>(table.size())]) {
  HEED_CHECK(bits == 8 || bits == 4);
  Offsets end;
  for (int row = 0; row < table.size(); ++row) {
    offsets_.push_back(end);
    const Shape& shape = table[row].shape;
    switch (bits_of(row)) {
      case 8:
        end.values += shape.size();
        end.scales += shape[0];
        break;
      case 4:
        end.values += shape.size() / 2;
        end.groups += shape.size() / kInt4Group;
        break;
      default:
        break;
    }
  }
  values_ = Tensor::empty({end.values}, DType::kInt8);
  scales_ = Tensor::empty({end.scales});
  group_scales_ = Tensor::empty({end.groups}, DType::kFloat16);
  group_minima_ = Tensor::empty({end.groups}, DType::kFloat16);
}

int QuantizedParameters::bits_of(const ParamSpec& spec, int bits) {
  if (!is_compressible(spec) || spec.shape[1] > kLongestInt8Sum) return 0;
  return std::max(bits, spec.fewest_bits) == 4 && spec.shape[1] % kInt4Group == 0 ? 4 : 8;
}

QuantizedParameters::Matrix QuantizedParameters::matrix(ParamRef ref) const {
  HEED_CHECK(holds(ref) && bits_of(ref.first) == 8);
  const Shape shape = table().shape(ref);
  Tensor values = values_, scales = scales_;  // handles
  return {values.data<int8_t>() + offsets(ref).values, scales.data<float>() + offsets(ref).scales, shape[0],
          shape[1]};
}

Int4Rows QuantizedParameters::int4_rows(ParamRef ref) const {
  HEED_CHECK(holds(ref) && bits_of(ref.first) == 4);
  Tensor values = values_, scales = group_scales_, minima = group_minima_;  // handles
  return {static_cast<uint8_t*>(values.bytes()) + offsets(ref).values,
          static_cast<uint16_t*>(scales.bytes()) + offsets(ref).groups,
          static_cast<uint16_t*>(minima.bytes()) + offsets(ref).groups};
}

void QuantizedParameters::quantize(int row, const float* weight) {
  quantize_rows(row, 0, table()[row].shape[0], weight);
}

namespace {

/// Of rows of 4-bit weights, those from `begin` on.
Int4Rows rows_from(const Int4Rows& rows, int64_t begin, int64_t in) {
  const int64_t groups = begin * in / kInt4Group;
  return {rows.values + begin * in / 2, rows.scales + groups, rows.minima + groups};
}

}  // namespace

void QuantizedParameters::quantize_rows(int row, int64_t begin, int64_t count, const float* weight) {
  const Shape& shape = table()[row].shape;
  const int64_t in = shape[1];
  HEED_CHECK(begin >= 0 && count >= 0 && begin + count <= shape[0]);
  if (bits_of(row) == 8) {
    const Matrix to = matrix({row, 1});
    return quantize_weights({.rows = count,
                             .columns = in,
                             .x = weight,
                             .values = to.values + begin * in,
                             .scales = to.scales + begin});
  }
  const auto too_large = [](float w) { return std::abs(w) > kLargestInt4Weight; };
  const float* const at = std::find_if(weight, weight + count * in, too_large);
  if (at != weight + count * in) {
    fail(ErrorKind::kFormat,
         "the parameter '{}' contains {}: 4 bits are for weights up to {} (quantize to 8 bits)",
         table()[row].name, *at, kLargestInt4Weight);
  }
  quantize_weights_int4(weight, count, in, rows_from(int4_rows({row, 1}), begin, in));
}

void QuantizedParameters::quantize_rows(int row, int64_t begin, const HalfMatrix& weight) {
  constexpr int64_t kFloats = 4096;  // they stay in L1
  const int64_t together = std::max<int64_t>(1, kFloats / std::max<int64_t>(1, weight.in));
  std::vector<float> floats(static_cast<size_t>(std::min(together, weight.out) * weight.in));
  for (int64_t done = 0; done < weight.out; done += together) {
    const int64_t count = std::min(together, weight.out - done);
    heed::widen(weight.rows(done, count), floats.data());
    quantize_rows(row, begin + done, count, floats.data());
  }
}

void QuantizedParameters::widen(ParamRef ref, int64_t begin, int64_t count, float* out) const {
  if (bits_of(ref.first) == 4) {
    const int64_t in = table().shape(ref)[1];
    return dequantize_int4(rows_from(int4_rows(ref), begin, in), count, in, out);
  }
  const Matrix from = matrix(ref);
  for (int64_t row = begin; row < begin + count; ++row, out += from.in) {
    const int8_t* values = from.values + row * from.in;
    const float scale = from.scales[row];
    for (int64_t i = 0; i < from.in; ++i) out[i] = static_cast<float>(values[i]) * scale;
  }
}

PackedMatrix QuantizedParameters::pack(ParamRef ref, const float* bias) const {
  if (bits_of(ref.first) == 4) {
    const Shape shape = table().shape(ref);
    return PackedMatrix::in_int4(int4_rows(ref), shape[0], shape[1], bias);
  }
  const auto [values, scales, out, in] = matrix(ref);
  return {values, scales, out, in, bias};
}

const int32_t* QuantizedParameters::row_sums(ParamRef ref) const {
  const RowSums& later = row_sums_[static_cast<size_t>(ref.first)];
  if (later.is_early()) return nullptr;
  const std::vector<int32_t>& sums = later.value([&] {
    const Matrix weight = matrix(ref);
    std::vector<int32_t> computed(static_cast<size_t>(weight.out));
    sum_rows_int8(weight.values, weight.out, weight.in, computed.data());
    return computed;
  });
  return sums.data();
}

void QuantizedParameters::multiply_selected(ParamRef ref, const SelectedProductArguments& arguments) const {
  const Matrix weight = matrix(ref);  // of a vocabulary: in 8 bits
  selected_product(Int8SelectedProductArguments{.rows = arguments.rows,
                                                .in = arguments.in,
                                                .count = arguments.count,
                                                .x = arguments.x,
                                                .outputs = arguments.outputs,
                                                .weight = weight.values,
                                                .scales = weight.scales,
                                                .sums = row_sums(ref),
                                                .bias = arguments.bias,
                                                .y = arguments.y});
}

}  // namespace heed::nn
