// The weights of a model in 16 bits, the numbers that its files hold. Results are those of float32, bit for
// bit. Float32 weights are kept twice, in rows and packed, 8 bytes each; these take 2
// (HalfPacking::kEachCall) or 6.
#pragma once

#include <vector>

#include "nn/storage/compact_parameters.h"

namespace heed::nn {

class HalfParameters final : public CompactParameters {
 public:
  /// Uninitialized, for all matrices that may be kept in fewer bits; `dtype` is kFloat16 or kBFloat16.
  HalfParameters(const ParameterTable& table, DType dtype, HalfPacking packing);

  DType dtype() const { return values_.dtype(); }
  /// The elements of a row of the table, to be written row-major.
  uint16_t* elements(int row);
  /// Puts them into the order that suits products, once they are written.
  void arrange(int row);

  bool holds_row(int row) const override { return is_compressible(table()[row]); }
  bool is_exact() const override { return true; }
  void widen(ParamRef ref, int64_t begin, int64_t count, float* out) const override;
  PackedMatrix pack(ParamRef ref, const float* bias) const override;
  void multiply_selected(ParamRef ref, const SelectedProductArguments& arguments) const override;

 private:
  HalfMatrix matrix(ParamRef ref) const;

  HalfPacking packing_;
  std::vector<bool> paired_;  // for each row of the table, once it is arranged
  Tensor values_;             // with the offsets of a ParameterArray
};

}  // namespace heed::nn
