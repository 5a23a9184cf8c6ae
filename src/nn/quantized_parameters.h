// The weights of a quantized model: int8, with a float32 scale for each row.
//
//   W_oi = scale_o w_oi        w in -127 .. 127, exactly: see kernels/gemm/packed_int8.h
//
// Products use them directly. Where floats are needed (an embedding lookup, an op without an int8 form),
// these rows or the whole parameter are dequantized on demand.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "nn/parameters.h"

namespace heed::nn {

class QuantizedParameters {
 public:
  /// Uninitialized, for all parameters that the table marks as quantizable.
  explicit QuantizedParameters(const ParameterTable& table);

  /// Whether a row of the table is quantized.
  static bool wants(const ParamSpec& spec);
  /// Whether all rows of a reference are.
  bool holds(ParamRef ref) const;

  /// (out, in), row-major, and (out).
  struct Matrix {
    int8_t* values = nullptr;
    float* scales = nullptr;
    int64_t out = 0, in = 0;
  };
  Matrix matrix(ParamRef ref) const;

  /// Quantizes `weight`, which has the shape of a row of the table and is finite, to nearest.
  void quantize(int row, const float* weight);
  /// Rows [begin, begin + count) of a matrix as floats, (count, in).
  void dequantize(ParamRef ref, int64_t begin, int64_t count, float* out) const;
  /// Dequantizes `ref` into `values` at the first call. Thread-safe.
  void fill(ParamRef ref, const ParameterArray& values) const;

 private:
  const ParameterTable* table_;
  Tensor values_;                       // int8, with the offsets of a ParameterArray
  Tensor scales_;                       // float32
  std::vector<int64_t> scale_offsets_;  // of each row of the table; -1 where it is not quantized
  std::unique_ptr<std::once_flag[]> filled_;
};

}  // namespace heed::nn
