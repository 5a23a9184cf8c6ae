// The weights of a quantized model: int8, with a float32 scale for each row, or in 4 bits, with a scale and a
// minimum for each group of a row.
//
//   8 bits: W_oi = scale_o w_oi              w in -127 .. 127, exactly: see kernels/gemm/packed/packed_int8.h
//   4 bits: W_oi = scale_og q_oi + min_og  q in 0 .. 15: see kernels/gemm/packed/packed_int4.h
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/computed_later.h"
#include "kernels/gemm/packed/packed_int4.h"
#include "nn/storage/compact_parameters.h"

namespace heed::nn {

class QuantizedParameters final : public CompactParameters {
 public:
  /// Uninitialized, for all parameters that are quantized with `bits`, 8 or 4.
  explicit QuantizedParameters(const ParameterTable& table, int bits = 8);

  int bits() const { return bits_; }
  /// The bits in which a parameter is stored in a model of 8 or 4 bits; 0 where it is not quantized. In a
  /// model of 4 bits that is 8 for vocabularies, and for rows that are not whole groups.
  static int bits_of(const ParamSpec& spec, int bits);
  int bits_of(int row) const { return bits_of(table()[row], bits_); }

  /// (out, in), row-major, and (out). For parameters in 8 bits.
  struct Matrix {
    int8_t* values = nullptr;
    float* scales = nullptr;
    int64_t out = 0, in = 0;
  };
  Matrix matrix(ParamRef ref) const;
  /// For parameters in 4 bits.
  Int4Rows int4_rows(ParamRef ref) const;

  /// Quantizes `weight`, which has the shape of a row of the table and is finite, to nearest. Throws kFormat
  /// for a weight that is too large for 4 bits.
  void quantize(int row, const float* weight);
  /// Rows [begin, begin + count) of the matrix alone.
  void quantize_rows(int row, int64_t begin, int64_t count, const float* weight);
  /// The same for rows in 16 bits.
  void quantize_rows(int row, int64_t begin, const HalfMatrix& weight);

  bool holds_row(int row) const override { return bits_of(row) != 0; }
  bool is_exact() const override { return false; }
  void widen(ParamRef ref, int64_t begin, int64_t count, float* out) const override;
  PackedMatrix pack(ParamRef ref, const float* bias) const override;
  void multiply_selected(ParamRef ref, const SelectedProductArguments& arguments) const override;

 private:
  /// Where a row of the table begins in each tensor.
  struct Offsets {
    int64_t values = 0, scales = 0, groups = 0;
  };
  /// Of a matrix whose outputs are selected: one sentence needs a part of them.
  using RowSums = ComputedLater<std::vector<int32_t>, 100>;
  /// Null until then.
  const int32_t* row_sums(ParamRef ref) const;
  const Offsets& offsets(ParamRef ref) const { return offsets_[static_cast<size_t>(ref.first)]; }

  int bits_;
  std::vector<Offsets> offsets_;
  std::unique_ptr<RowSums[]> row_sums_;  // of each row of the table
  Tensor values_;                        // bytes: int8, or two numbers of 4 bits
  Tensor scales_;                        // float32, of rows in 8 bits
  Tensor group_scales_;                  // float16, of groups in 4 bits
  Tensor group_minima_;                  // likewise
};

}  // namespace heed::nn
