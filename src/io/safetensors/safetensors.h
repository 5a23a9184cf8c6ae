// The safetensors format. Files are read as untrusted input and written atomically.
//
// A file consists of the header length (8 bytes), the header (safetensors_header.h) and the data of all
// tensors. Files are read, not mapped: a file that changes while it is open is an error when tensors are
// read, and nothing crashes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files/input_file.h"
#include "heed/tensor.h"
#include "io/safetensors/safetensors_hashes.h"
#include "io/safetensors/safetensors_header.h"
#include "io/tensor_reader.h"

namespace heed {

/// An open file; thread-safe. If the file contains hashes (safetensors_hashes.h), opening and reading verify
/// them and throw kFormat for a damaged file.
class SafetensorsReader final : public TensorReader {
 public:
  /// Reads and checks only the header. Throws kNotFound, kFile or kFormat.
  static SafetensorsReader open(const std::string& path);

  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  bool has_hashes() const override { return hashes_.has_value(); }
  void verify() const override;

 protected:
  void read_elements(size_t index, int64_t begin, int64_t count, void* destination) const override;
  std::optional<uint64_t> stored_hash(size_t index) const override;

 private:
  SafetensorsReader(InputFile file, uint64_t data_begin, SafetensorsHeader header,
                    std::optional<SafetensorsHashes> hashes);

  InputFile file_;
  uint64_t data_begin_;
  std::map<std::string, std::string> metadata_;
  std::optional<SafetensorsHashes> hashes_;
};

/// Writes tensors, contiguous or not, in the order of the reference implementation: by element size, largest
/// first, which aligns all data, then by name. Hugging Face's libraries require the metadata {"format":
/// "pt"}. Throws kFile, kUsage for a duplicate or reserved name, kText for a name that is not UTF-8.
void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                       const std::map<std::string, std::string>& metadata = {});
/// Writes tensors with hashes (safetensors_hashes.h), as all weights.
void write_safetensors_with_hashes(const std::string& path,
                                   const std::vector<std::pair<std::string, Tensor>>& tensors,
                                   const std::map<std::string, std::string>& metadata = {});

}  // namespace heed
