// Byte pair encoding (Sennrich, Haddow and Birch, "Neural machine translation of rare words with subword
// units", 2016): merges adjacent symbols by a list of learnt merges, earlier merges first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heed {

/// Merges the pieces `left` and `right` into the piece `joined`.
struct BpeMerge {
  int32_t left = 0, right = 0, joined = 0;
};

/// A piece and its bytes [begin, end) of the text.
struct BpeSymbol {
  int32_t id = 0;
  size_t begin = 0, end = 0;
};

class BpeMerges {
 public:
  /// If a merge is listed twice, the last position counts, as in other implementations.
  explicit BpeMerges(std::vector<BpeMerge> merges);

  const std::vector<BpeMerge>& list() const { return merges_; }
  /// Repeatedly applies the earliest applicable merge, the leftmost of ties. O(n log n).
  void apply(std::vector<BpeSymbol>& symbols) const;

 private:
  std::vector<BpeMerge> merges_;
  std::unordered_map<uint64_t, int32_t> ranks_;  // by left and right
};

}  // namespace heed
