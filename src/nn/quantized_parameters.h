// The weights of a quantised model: 8-bit whole numbers, with a scale for each row, instead of floats.
//
//   W_oi = scale_o w_oi        w in -127 .. 127, exactly: see kernels/gemm/packed_int8.h
//
// Matrices are multiplied as they are. Whoever needs floats (a lookup in a table, an op without an 8-bit
// form) gets those rows, or the whole parameter, when it asks.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "nn/parameters.h"

namespace heed::nn {

class QuantizedParameters {
 public:
  /// Room for all that the table says may be quantised.
  explicit QuantizedParameters(const ParameterTable& table);

  /// Whether a row of the table is kept here.
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

  /// Takes the nearest values to those of `weight`, which has the shape of a row of the table and is finite.
  void quantize(int row, const float* weight);
  /// Rows [begin, begin + count) of a matrix as floats, (count, in).
  void dequantize(ParamRef ref, int64_t begin, int64_t count, float* out) const;
  /// Sets what `values` holds of `ref` to floats, the first time it is called. Thread-safe.
  void fill(ParamRef ref, const ParameterArray& values) const;

 private:
  const ParameterTable* table_;
  Tensor values_;                       // int8, placed as in a ParameterArray
  Tensor scales_;                       // float32
  std::vector<int64_t> scale_offsets_;  // of each row of the table; -1 where it is not kept here
  std::unique_ptr<std::once_flag[]> filled_;
};

}  // namespace heed::nn
