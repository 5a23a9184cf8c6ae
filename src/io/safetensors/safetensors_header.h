// Parses and formats the header of a safetensors file: JSON with type, shape and offsets of each tensor.
//
//   {"__metadata__": {"format": "pt"},
//    "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//
// The format: https://huggingface.co/docs/safetensors. Headers are untrusted input. An accepted header has
// consistent types, shapes and offsets, and its tensors cover the data exactly, without gaps or overlap.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tensor.h"
#include "io/tensor_reader.h"

namespace heed {

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  ///< in data order
  std::map<std::string, std::string> metadata;
};

/// Parses and validates a header. `data_size` is the number of bytes after the header, `path` is for
/// messages. Throws kFormat.
SafetensorsHeader parse_safetensors_header(std::string_view text, uint64_t data_size,
                                           const std::string& path);

/// The header as JSON in the given order, padded with spaces so that the data is aligned to 8 bytes. Throws
/// kText for names and metadata that are not UTF-8.
std::string format_safetensors_header(const SafetensorsHeader& header, const std::string& path);

/// The name of a type in the file.
const char* safetensors_type_of(DType dtype);
/// The type that a type of the file is read as; empty if it is unknown or unsupported.
std::optional<DType> dtype_of_safetensors_type(std::string_view type);

}  // namespace heed
