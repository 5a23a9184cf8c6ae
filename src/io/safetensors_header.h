// The header of a safetensors file: JSON that says where in the file each tensor stands. No file is touched
// here.
//
//   {"__metadata__": {"format": "pt"}, "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
//   ...}
//
// The format: https://huggingface.co/docs/safetensors. Read as hostile input: what passes has types and
// offsets that fit the file, and its tensors fill the data from the first byte to the last, each byte
// belonging to one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tensor.h"

namespace heed {

/// One row of the header.
struct TensorInfo {
  std::string name;
  std::string type;               ///< as the file names it: "F32", "BOOL", "F8_E4M3"
  DType dtype = DType::kFloat32;  ///< what it is read as; says nothing where `readable` is false
  bool readable = true;  ///< false for types that Heed has no use for; such a tensor can only be listed
  Shape shape;
  uint64_t begin = 0, end = 0;  ///< its bytes, counted from the end of the header
};

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  ///< in the order of their data
  std::map<std::string, std::string> metadata;
};

/// Checks everything that can be checked. `data_size` is what the file holds behind the header, `path` is for
/// messages. Throws kFormat.
SafetensorsHeader parse_safetensors_header(std::string_view text, uint64_t data_size,
                                           const std::string& path);

/// The header as JSON, in the order given, padded with spaces so that the data begins at a multiple of 8
/// bytes. Throws kText for names and metadata that are not UTF-8.
std::string format_safetensors_header(const SafetensorsHeader& header, const std::string& path);

/// How a type is called in the file.
const char* safetensors_type_of(DType dtype);

}  // namespace heed
