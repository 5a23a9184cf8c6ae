// The merging of byte pair encoding, for any representation of the learnt merges.
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace heed {

struct BpeSymbol {
  int32_t id = 0;
  uint32_t length = 0;  ///< bytes of the text
  uint32_t begin = 0;
  uint32_t parts = 1;             ///< symbols that were merged into it; 0: it was merged into another
  int32_t before = 0, after = 0;  ///< the symbols on both sides; set by merge_symbols()
};

/// A merge of two symbols.
struct RankedMerge {
  static constexpr int32_t kNone = INT32_MAX;
  int32_t rank = kNone;  ///< smaller ranks are merged first, the leftmost of ties
  int32_t joined = 0;    ///< the symbol that takes the place of both
};

namespace internal {

/// Finds the best merge again and again: fastest for few symbols.
template <typename FindMerge>
void merge_few_symbols(std::vector<BpeSymbol>& symbols, const FindMerge& find_merge) {
  std::array<RankedMerge, 32> merges{};  // of each symbol with the next
  const auto merge_at = [&](size_t n) { return find_merge(symbols[n], symbols[n + 1]); };
  size_t count = symbols.size();
  for (size_t n = 0; n + 1 < count; ++n) merges[n] = merge_at(n);
  while (count > 1) {
    size_t best = 0;
    for (size_t n = 1; n + 1 < count; ++n) {
      if (merges[n].rank < merges[best].rank) best = n;
    }
    if (merges[best].rank == RankedMerge::kNone) break;
    symbols[best].id = merges[best].joined;
    symbols[best].length += symbols[best + 1].length;
    symbols[best].parts += symbols[best + 1].parts;
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
    --count;
    for (size_t n = best + 1; n + 1 < count; ++n) merges[n] = merges[n + 1];
    if (best > 0) merges[best - 1] = merge_at(best - 1);
    if (best + 1 < count) merges[best] = merge_at(best);
  }
}

/// Keeps the possible merges in a queue: O(n log n).
template <typename FindMerge>
void merge_many_symbols(std::vector<BpeSymbol>& symbols, const FindMerge& find_merge) {
  const auto count = static_cast<int32_t>(symbols.size());
  for (int32_t n = 0; n < count; ++n) {
    symbols[n].before = n - 1;
    symbols[n].after = n + 1 < count ? n + 1 : -1;
  }
  using Candidate = std::tuple<int32_t, int32_t, int32_t, uint32_t>;  // rank, left symbol, joined, parts
  std::vector<Candidate> first;
  first.reserve(symbols.size());
  const auto consider = [&](int32_t left, const auto& add) {
    if (left < 0 || symbols[left].after < 0) return;
    const BpeSymbol& right = symbols[symbols[left].after];
    const RankedMerge merge = find_merge(symbols[left], right);
    if (merge.rank != RankedMerge::kNone)
      add(Candidate{merge.rank, left, merge.joined, symbols[left].parts + right.parts});
  };
  for (int32_t n = 0; n < count; ++n) consider(n, [&](const Candidate& c) { first.push_back(c); });
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue({}, std::move(first));
  while (!queue.empty()) {
    const auto [rank, left, joined, parts] = queue.top();
    queue.pop();
    // The symbols may have been merged with others since.
    const int32_t right = symbols[left].after;
    if (symbols[left].parts == 0 || right < 0 || symbols[left].parts + symbols[right].parts != parts)
      continue;
    symbols[left].id = joined;
    symbols[left].length += symbols[right].length;
    symbols[left].parts = parts;
    symbols[right].parts = 0;
    symbols[left].after = symbols[right].after;
    if (symbols[left].after >= 0) symbols[symbols[left].after].before = left;
    consider(symbols[left].before, [&](const Candidate& c) { queue.push(c); });
    consider(left, [&](const Candidate& c) { queue.push(c); });
  }
}

}  // namespace internal

/// Merges adjacent symbols until none can be; those without parts are no longer symbols of the text.
/// find_merge(left, right) returns the merge of two symbols.
template <typename FindMerge>
void merge_symbols(std::vector<BpeSymbol>& symbols, const FindMerge& find_merge) {
  constexpr size_t kFew = 24;
  if (symbols.size() <= kFew) {
    internal::merge_few_symbols(symbols, find_merge);
  } else {
    internal::merge_many_symbols(symbols, find_merge);
  }
}

}  // namespace heed
