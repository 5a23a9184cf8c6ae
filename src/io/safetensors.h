// The safetensors format. Files are read as untrusted input and written atomically.
//
// A file consists of the header length (8 bytes), the header (safetensors_header.h) and the data of all
// tensors. Files are read, not mapped: if a file changes while it is open, numbers may be wrong, but nothing
// crashes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/input_file.h"
#include "heed/tensor.h"
#include "io/safetensors_hashes.h"
#include "io/safetensors_header.h"

namespace heed {

/// An open file; thread-safe. If the file contains hashes (safetensors_hashes.h), opening and reading verify
/// them and throw kFormat for a damaged file.
class SafetensorsReader {
 public:
  /// Reads and checks only the header. Throws kNotFound, kFile or kFormat.
  static SafetensorsReader open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  /// All tensors in data order.
  const std::vector<TensorInfo>& infos() const { return header_.tensors; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  bool has(const std::string& name) const { return positions_.count(name) > 0; }
  /// Throws kNotFound, naming the file and the nearest name.
  const TensorInfo& info(const std::string& name) const;

  /// The tensor in its stored type; BOOL becomes kUInt8. Throws kNotFound, or kFormat for unsupported
  /// types.
  Tensor read(const std::string& name) const;
  /// Reads a tensor of F32, F16, BF16 or F64 as float32 into `destination`, which has the shape `expected`.
  /// Type and shape are checked before reading. Throws kNotFound, kFormat, or kShape with both shapes.
  void read_into(const std::string& name, float* destination, const Shape& expected) const;
  /// Reads a tensor of I8.
  void read_into(const std::string& name, int8_t* destination, const Shape& expected) const;
  /// Rows [begin, begin + count) along the first axis, in the stored type. Does not verify hashes.
  Tensor read_rows(const std::string& name, int64_t begin, int64_t count) const;

  bool has_hashes() const { return hashes_.has_value(); }
  /// Reads all data and verifies the hashes. Throws kFormat, naming the first tensor that does not match.
  void verify() const;

 private:
  void read_data(const TensorInfo& tensor, void* destination) const;
  void require_hash(const TensorInfo& tensor, uint64_t hash) const;
  const TensorInfo& info_of_shape(const std::string& name, const Shape& expected) const;
  SafetensorsReader(InputFile file, uint64_t data_begin, SafetensorsHeader header);

  InputFile file_;
  uint64_t data_begin_;
  SafetensorsHeader header_;
  std::optional<SafetensorsHashes> hashes_;
  std::unordered_map<std::string, size_t> positions_;
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
