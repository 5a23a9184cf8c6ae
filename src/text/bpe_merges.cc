#include "text/bpe_merges.h"

#include <queue>
#include <tuple>
#include <utility>

namespace heed {
namespace {

uint64_t key_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

BpeMerges::BpeMerges(std::vector<BpeMerge> merges) : merges_(std::move(merges)) {
  for (size_t rank = 0; rank < merges_.size(); ++rank) {
    ranks_.insert_or_assign(key_of(merges_[rank].left, merges_[rank].right), static_cast<int32_t>(rank));
  }
}

void BpeMerges::apply(std::vector<BpeSymbol>& symbols) const {
  struct Neighbours {
    int32_t before, after;  // -1 at the ends
  };
  const auto count = static_cast<int32_t>(symbols.size());
  std::vector<Neighbours> next(symbols.size());
  for (int32_t n = 0; n < count; ++n) next[n] = {n - 1, n + 1 < count ? n + 1 : -1};
  using Candidate = std::tuple<int32_t, int32_t, uint64_t>;  // rank, index of the left symbol, the pair
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto consider = [&](int32_t left) {
    if (left < 0 || next[left].after < 0) return;
    const uint64_t pair = key_of(symbols[left].id, symbols[next[left].after].id);
    const auto found = ranks_.find(pair);
    if (found != ranks_.end()) candidates.emplace(found->second, left, pair);
  };
  for (int32_t n = 0; n < count; ++n) consider(n);
  while (!candidates.empty()) {
    const auto [rank, place, pair] = candidates.top();
    candidates.pop();
    const int32_t right = next[place].after;
    // A symbol that was merged into another has the id -1.
    if (symbols[place].id < 0 || right < 0 || key_of(symbols[place].id, symbols[right].id) != pair) continue;
    symbols[place].id = merges_[rank].joined;
    symbols[place].end = symbols[right].end;
    symbols[right].id = -1;
    next[place].after = next[right].after;
    if (next[place].after >= 0) next[next[place].after].before = place;
    consider(next[place].before);
    consider(place);
  }
  std::erase_if(symbols, [](const BpeSymbol& symbol) { return symbol.id < 0; });
}

}  // namespace heed
