// The weights of some steps on disk, for averaging.kind = last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/storage/parameters.h"

namespace heed::train {

class Snapshots {
 public:
  /// `folder` is where the files are; `table` must outlive this.
  Snapshots(std::string folder, const nn::ParameterTable& table)
      : folder_(std::move(folder)), table_(table) {}

  /// Throws kFile.
  void write(int64_t step, const nn::ParameterArray& values) const;
  /// The mean of the weights of these steps, one at least. Throws kNotFound for a missing one, kFormat for a
  /// damaged one.
  nn::ParameterArray mean(const std::vector<int64_t>& steps) const;
  /// Removes the files of all other steps. Call this after writing a checkpoint that names these steps; until
  /// then, a resumed training may need those of the previous checkpoint.
  void remove_all_but(const std::vector<int64_t>& steps) const;

 private:
  std::string path(int64_t step) const;

  std::string folder_;
  const nn::ParameterTable& table_;
};

}  // namespace heed::train
