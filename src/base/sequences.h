// Concatenated sequences of token ids without padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heed {

/// Sequence b is ids[offsets[b]] .. ids[offsets[b + 1]] (B sequences, B + 1 offsets, ids of all N tokens).
struct Sequences {
  std::vector<int32_t> ids;
  std::vector<int32_t> offsets{0};

  int count() const { return static_cast<int>(offsets.size()) - 1; }
  std::span<const int32_t> operator[](int sequence) const;
  void append(std::span<const int32_t> sequence);
  /// Ends the current sequence at the end of `ids`.
  void close();
};

}  // namespace heed
