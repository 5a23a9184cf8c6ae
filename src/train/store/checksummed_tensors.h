// A safetensors file with a checksum of all tensors and texts, for checkpoints, where a flipped bit would
// otherwise stay unnoticed.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "heed/tensor.h"

namespace heed::train {

struct ChecksummedTensors {
  std::string format;                        ///< identifies the kind of file: "heed training checkpoint 2"
  std::map<std::string, std::string> texts;  ///< stored in the metadata
  std::vector<std::pair<std::string, Tensor>> tensors;

  /// Null if there is no tensor of this name.
  const Tensor* find(const std::string& name) const;
};

/// Writes a file atomically. Throws kFile.
void write_checksummed(const std::string& path, const ChecksummedTensors& content);

/// Reads the whole file and verifies the checksum (XXH64 of all names, texts, types, shapes and values).
/// Throws kNotFound, kFile, and kFormat for a damaged file or another format.
ChecksummedTensors read_checksummed(const std::string& path, const std::string& format);

}  // namespace heed::train
