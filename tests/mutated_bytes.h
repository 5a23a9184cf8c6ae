// Damaged copies of a file, for tests that a reader refuses them or reads something sound.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/rng.h"

namespace heed {

/// One to three changes: a byte or a bit changed, bytes removed or duplicated, the end cut off, another digit
/// (text stays valid, so that later checks are reached), or bytes replaced by one of `hazards`, values that a
/// parser of this format may stumble over.
inline std::string mutated_bytes(std::string bytes, Random& random,
                                 std::span<const std::string_view> hazards) {
  for (uint64_t change = random.below(3) + 1; change > 0 && !bytes.empty(); --change) {
    const size_t at = random.below(bytes.size());
    const size_t count = random.below(std::min<size_t>(bytes.size() - at, 24) + 1);
    switch (random.below(7)) {
      case 0:
        bytes[at] = static_cast<char>(random.next());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 2:
        bytes.erase(at, count);
        break;
      case 3:
        bytes.insert(at, bytes.substr(random.below(bytes.size()), count));
        break;
      case 4:
        if (random.below(8) == 0) bytes.resize(at);  // rarely: most of such a file is refused at once
        break;
      case 5:
        if (!hazards.empty()) {
          bytes.replace(at, std::min<size_t>(count, 8), hazards[random.below(hazards.size())]);
        }
        break;
      default: {
        const auto digit = std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(),
                                        [](char c) { return c >= '0' && c <= '9'; });
        if (digit != bytes.end()) *digit = static_cast<char>('0' + random.below(10));
      }
    }
  }
  return bytes;
}

}  // namespace heed
