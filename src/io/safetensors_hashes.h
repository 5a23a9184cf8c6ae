// Hashes in the metadata of a safetensors file, by which damage is noticed: XXH64 (base/fingerprint.h) of the
// header and of each tensor's data. Other readers pass them over.
//
//   {"__metadata__": {"format": "pt", "heed_hashes": "xxh64 0123456789abcdef ..."}, ...}
//
// The first is that of the header's content, whatever its spelling: the other metadata, and each tensor's
// name, type and shape. One for each tensor follows, in the order of their data. They protect against
// accidents, not against somebody who forges them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/safetensors_header.h"

namespace heed {

struct SafetensorsHashes {
  static constexpr const char* kKey = "heed_hashes";

  uint64_t header = 0;
  std::vector<uint64_t> tensors;  ///< in the order of their data
};

/// Of the header's content, without the hashes in it.
uint64_t hash_of(const SafetensorsHeader& header);

/// As it stands in the metadata.
std::string format_hashes(const SafetensorsHashes& hashes);

/// Those of a header; none where it holds none, or of a kind that this version does not know. Throws kFormat
/// where they are damaged or the header is not the one that they were made for.
std::optional<SafetensorsHashes> read_hashes(const SafetensorsHeader& header, const std::string& path);

}  // namespace heed
