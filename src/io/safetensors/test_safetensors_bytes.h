// Test helper: handmade safetensors files, valid or not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

/// A file with this header and `data_size` bytes of data: 0, 1, 2, ...
inline std::string safetensors_bytes(std::string_view header, size_t data_size) {
  std::string bytes;
  const uint64_t length = header.size();
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += header;
  for (size_t at = 0; at < data_size; ++at) bytes += static_cast<char>(at);
  return bytes;
}

}  // namespace heed
