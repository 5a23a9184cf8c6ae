// Tensors in files: the safetensors format, read as hostile input and written whole or not at all.
//
// A file is 8 bytes with the length of the header, the header (safetensors_header.h), and the data of all
// tensors. Read, not mapped: a file that changes underneath can give wrong numbers, never a crash.
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

/// An open file. May be read from several threads at once. Where a file holds hashes (safetensors_hashes.h),
/// whatever is read of it is compared with them: opening and reading throw kFormat for a damaged file.
class SafetensorsReader {
 public:
  /// Reads and checks the header; the data stay in the file. Throws kNotFound, kFile or kFormat.
  static SafetensorsReader open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  /// All tensors, in the order of their data.
  const std::vector<TensorInfo>& infos() const { return header_.tensors; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  bool has(const std::string& name) const { return positions_.count(name) > 0; }
  /// Throws kNotFound, naming the file and the nearest name.
  const TensorInfo& info(const std::string& name) const;

  /// The tensor in the type of the file; BOOL becomes kUInt8. Throws kNotFound, and kFormat for unsupported
  /// types.
  Tensor read(const std::string& name) const;
  /// Fills `destination`, which has room for `expected`, from a tensor of F32, F16, BF16 or F64, converted.
  /// Type and shape are checked before anything is read. Throws kNotFound, kFormat, or kShape with both
  /// shapes.
  void read_into(const std::string& name, float* destination, const Shape& expected) const;
  /// The same for I8, not converted.
  void read_into(const std::string& name, int8_t* destination, const Shape& expected) const;
  /// Rows [begin, begin + count) along the first axis, in the type of the file, not compared with any hash.
  Tensor read_rows(const std::string& name, int64_t begin, int64_t count) const;

  bool has_hashes() const { return hashes_.has_value(); }
  /// Reads all data. Throws kFormat, naming the first tensor that does not match its hash.
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

/// Writes tensors, contiguous or not, in the order of the reference implementation: wide types first, so that
/// all are aligned, then by name. Readers of the Hugging Face libraries need the metadata {"format": "pt"}.
/// Throws kFile, kUsage for a repeated or reserved name, kText for one that is not UTF-8.
void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                       const std::map<std::string, std::string>& metadata = {});
/// The same with hashes, as weights are written.
void write_safetensors_with_hashes(const std::string& path,
                                   const std::vector<std::pair<std::string, Tensor>>& tensors,
                                   const std::map<std::string, std::string>& metadata = {});

}  // namespace heed
