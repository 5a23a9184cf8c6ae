// The weights of a quantized model: int8, with a float32 scale for each row.
//
//   W_oi = scale_o w_oi        w in -127 .. 127, exactly: see kernels/gemm/packed/packed_int8.h
#pragma once

#include <cstdint>
#include <vector>

#include "nn/storage/compact_parameters.h"

namespace heed::nn {

class QuantizedParameters final : public CompactParameters {
 public:
  /// Uninitialized, for all parameters that the table marks as quantizable.
  explicit QuantizedParameters(const ParameterTable& table);

  /// Whether a row of the table is quantized.
  static bool wants(const ParamSpec& spec);

  /// (out, in), row-major, and (out).
  struct Matrix {
    int8_t* values = nullptr;
    float* scales = nullptr;
    int64_t out = 0, in = 0;
  };
  Matrix matrix(ParamRef ref) const;

  /// Quantizes `weight`, which has the shape of a row of the table and is finite, to nearest.
  void quantize(int row, const float* weight);
  /// Rows [begin, begin + count) of the matrix alone.
  void quantize_rows(int row, int64_t begin, int64_t count, const float* weight);

  bool holds_row(int row) const override { return scale_offsets_[static_cast<size_t>(row)] >= 0; }
  bool is_exact() const override { return false; }
  void widen(ParamRef ref, int64_t begin, int64_t count, float* out) const override;
  PackedMatrix pack(ParamRef ref, const float* bias) const override;
  void multiply_selected(ParamRef ref, const SelectedProductArguments& arguments) const override;

 private:
  Tensor values_;                       // int8, with the offsets of a ParameterArray
  Tensor scales_;                       // float32
  std::vector<int64_t> scale_offsets_;  // of each row of the table; -1 where it is not quantized
};

}  // namespace heed::nn
