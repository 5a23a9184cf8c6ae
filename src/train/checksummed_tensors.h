// Tensors and texts in a safetensors file with a checksum of them all: for what a training resumes from,
// where a flipped bit would otherwise go on as if nothing had happened.
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

/// Writes a file whole or not at all. Throws kFile.
void write_checksummed(const std::string& path, const ChecksummedTensors& content);

/// Reads the whole file and compares what was read with its checksum (XXH64 of all names, texts, types,
/// shapes and values). Throws kNotFound, kFile, and kFormat for a file that is damaged or of another format.
ChecksummedTensors read_checksummed(const std::string& path, const std::string& format);

}  // namespace heed::train
