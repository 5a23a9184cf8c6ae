#include "text/training/merge_learner.h"

#include <algorithm>

namespace heed {
namespace {

template <typename Value>
void sort_and_deduplicate(std::vector<Value>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

size_t MergeLearner::PairHash::operator()(const Pair& pair) const {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // spreads neighbouring ids over all bits
  const uint64_t both = (static_cast<uint64_t>(pair.first) << 32) | static_cast<uint32_t>(pair.second);
  return static_cast<size_t>((both * kOdd) >> 16);
}

MergeLearner::MergeLearner(std::vector<Word> words) : words_(std::move(words)) {
  for (size_t number = 0; number < words_.size(); ++number) count_pairs(number, 1);
  for (const auto& [pair, seen] : pairs_) offer(pair, seen.count);
}

bool MergeLearner::merge(int64_t minimum, const std::function<int32_t(const Pair&)>& piece_of) {
  while (!best_.empty()) {
    const auto [count, left, right] = best_.top();
    best_.pop();
    const Pair pair{-left, -right};
    const auto found = pairs_.find(pair);
    if (found == pairs_.end() || found->second.count != count) continue;  // outdated
    if (count < minimum) return false;
    replace(pair, piece_of(pair));
    return true;
  }
  return false;
}

void MergeLearner::count_pairs(size_t number, int64_t sign) {
  const Word& word = words_[number];
  for (size_t n = 0; n + 1 < word.pieces.size(); ++n) {
    const Pair pair{word.pieces[n], word.pieces[n + 1]};
    Seen& seen = pairs_[pair];
    seen.count += sign * word.count;
    if (sign > 0 && (seen.words.empty() || seen.words.back() != number)) seen.words.push_back(number);
    changed_.push_back(pair);
  }
}

void MergeLearner::replace(const Pair& pair, int32_t merged) {
  changed_.clear();
  std::vector<size_t> words = std::move(pairs_.at(pair).words);
  sort_and_deduplicate(words);
  for (const size_t number : words) {
    count_pairs(number, -1);
    std::vector<int32_t>& pieces = words_[number].pieces;
    size_t kept = 0;
    for (size_t n = 0; n < pieces.size(); ++n) {
      const bool here = n + 1 < pieces.size() && pieces[n] == pair.first && pieces[n + 1] == pair.second;
      pieces[kept++] = here ? merged : pieces[n];
      if (here) ++n;
    }
    pieces.resize(kept);
    count_pairs(number, 1);
  }
  sort_and_deduplicate(changed_);
  for (const Pair& each : changed_) {
    const auto found = pairs_.find(each);
    if (found->second.count > 0) {
      offer(each, found->second.count);
    } else {
      pairs_.erase(found);
    }
  }
}

}  // namespace heed
