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
  std::string format;                        ///< what the file is: "heed training checkpoint 2"
  std::map<std::string, std::string> texts;  ///< kept in the metadata of the file
  std::vector<std::pair<std::string, Tensor>> tensors;

  /// Null where there is no tensor of this name.
  const Tensor* find(const std::string& name) const;
};

/// Writes a file atomically. Throws kFile.
void write_checksummed(const std::string& path, const ChecksummedTensors& content);

/// Reads the whole file and compares what was read with its checksum (XXH64 of all names, texts, types,
/// shapes and values). Throws kNotFound, kFile, and kFormat for a file that is damaged or of another format.
ChecksummedTensors read_checksummed(const std::string& path, const std::string& format);

}  // namespace heed::train
