// Weight matrices of a loaded model in fewer than 32 bits: int8 (quantized_parameters.h), or float16 and
// bfloat16 as they are stored (half_parameters.h).
//
// Products use them directly. A ParameterArray need not have elements for them: where floats are needed (an
// embedding lookup, an op without a form for them), these rows or the whole parameter are widened on demand.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "kernels/gemm/packed/packed_matrix.h"
#include "kernels/gemm/selected_product.h"
#include "nn/storage/parameters.h"

namespace heed::nn {

class CompactParameters {
 public:
  explicit CompactParameters(const ParameterTable& table) : table_(&table) {}
  virtual ~CompactParameters() = default;
  CompactParameters(const CompactParameters&) = delete;
  CompactParameters& operator=(const CompactParameters&) = delete;

  /// Whether a row of the table is held here.
  virtual bool holds_row(int row) const = 0;
  /// Whether all rows of a reference are.
  bool holds(ParamRef ref) const;
  /// Whether products are those of the same weights in float32.
  virtual bool is_exact() const = 0;

  /// Rows [begin, begin + count) of a matrix as floats, (count, in).
  virtual void widen(ParamRef ref, int64_t begin, int64_t count, float* out) const = 0;
  /// A whole parameter as floats: made at the first call, and kept. Thread-safe.
  Tensor floats(ParamRef ref) const;

  /// For products with a matrix, which this must outlive.
  virtual PackedMatrix pack(ParamRef ref, const float* bias) const = 0;
  /// Selected outputs of a product; `arguments.weight` is not used.
  virtual void multiply_selected(ParamRef ref, const SelectedProductArguments& arguments) const = 0;

 protected:
  const ParameterTable& table() const { return *table_; }

 private:
  const ParameterTable* table_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<int, int>, Tensor> floats_;  // by first row and number of rows
};

}  // namespace heed::nn
