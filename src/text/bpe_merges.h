// Byte pair encoding (Sennrich, Haddow and Birch, "Neural machine translation of rare words with subword
// units", 2016): learnt merges join neighbouring symbols, the earliest in the list first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heed {

/// Joins the pieces left and right, of which the earliest merge in the list goes first.
struct BpeMerge {
  int32_t left = 0, right = 0, joined = 0;
};

/// A piece and the bytes [begin, end) of a text that it stands for.
struct BpeSymbol {
  int32_t id = 0;
  size_t begin = 0, end = 0;
};

class BpeMerges {
 public:
  /// Of a merge that is listed twice, the last place counts, as in other implementations.
  explicit BpeMerges(std::vector<BpeMerge> merges);

  const std::vector<BpeMerge>& list() const { return merges_; }
  /// Joins the neighbours with the earliest merge, from left to right, until there is no merge for any. Time
  /// n log n.
  void apply(std::vector<BpeSymbol>& symbols) const;

 private:
  std::vector<BpeMerge> merges_;
  std::unordered_map<uint64_t, int32_t> ranks_;  // by left and right
};

}  // namespace heed
