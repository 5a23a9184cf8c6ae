// Hashes in the metadata of a safetensors file that detect damage: XXH64 (base/files/fingerprint.h) of the
// header and of each tensor's data. Other readers ignore them.
//
//   {"__metadata__": {"format": "pt", "heed_hashes": "xxh64 0123456789abcdef ..."}, ...}
// The first hash covers the content of the header independent of its formatting: the other metadata, and each
// tensor's name, type and shape. One hash per tensor follows, in data order. They detect accidental damage,
// not forgery.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/safetensors/safetensors_header.h"

namespace heed {

struct SafetensorsHashes {
  static constexpr const char* kKey = "heed_hashes";

  uint64_t header = 0;
  std::vector<uint64_t> tensors;  ///< in data order
};

/// The hash of the header's content, excluding stored hashes.
uint64_t hash_of(const SafetensorsHeader& header);

/// The metadata value.
std::string format_hashes(const SafetensorsHashes& hashes);

/// The hashes stored in a header; empty if there are none or their algorithm is unknown. Throws kFormat if
/// they are malformed or do not match the header.
std::optional<SafetensorsHashes> read_hashes(const SafetensorsHeader& header, const std::string& path);

}  // namespace heed
