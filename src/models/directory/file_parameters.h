// The matrices of a large float32 model, left in its files. A matrix is read when it is packed for products,
// the rows of an embedding whenever they are looked up, so each weight is in memory once (packed) instead of
// twice. Values are those of the files, so results have the same bits.
//
// Files are read, not mapped: one that is truncated or overwritten while the model is in use is an error, not
// a signal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/weight_files.h"
#include "nn/storage/compact_parameters.h"

namespace heed::models {

class FileParameters final : public nn::CompactParameters {
 public:
  /// For all matrices that may be kept in fewer bits; `names` are their names in the files, by row. The
  /// caller has compared shapes and checked that values are finite.
  FileParameters(const nn::ParameterTable& table, std::shared_ptr<const WeightFiles> files,
                 std::vector<std::string> names);

  bool holds_row(int row) const override { return nn::is_compressible(table()[row]); }
  bool is_exact() const override { return true; }
  /// These throw kFile if a file cannot be read any more, or was changed.
  void widen(nn::ParamRef ref, int64_t begin, int64_t count, float* out) const override;
  PackedMatrix pack(nn::ParamRef ref, const float* bias) const override;
  void multiply_selected(nn::ParamRef ref, const SelectedProductArguments& arguments) const override;

 private:
  void read_rows(int row, int64_t begin, int64_t count, float* out) const;

  std::shared_ptr<const WeightFiles> files_;
  std::vector<std::string> names_;
};

}  // namespace heed::models
