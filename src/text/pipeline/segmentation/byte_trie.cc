#include "text/pipeline/segmentation/byte_trie.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "base/check.h"

namespace heed {

/// Places the nodes of the sorted strings, depth first.
class ByteTrie::Builder {
 public:
  explicit Builder(const std::vector<Entry>& entries) : entries_(entries), nodes_(kBlock) {}

  std::vector<Node> build() {
    if (!entries_.empty()) waiting_.push_back({kRoot, 0, entries_.size(), 0});
    while (!waiting_.empty()) {
      const Range range = waiting_.back();
      waiting_.pop_back();
      add_children(range);
    }
    return std::move(nodes_);
  }

 private:
  /// The entries [first, last) have the same first `depth` bytes, and those end at `node`.
  struct Range {
    size_t node = 0, first = 0, last = 0, depth = 0;
  };
  /// 256 flags.
  struct Flags {
    std::array<uint64_t, 4> words = {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};
    bool test(size_t n) const { return words[n / 64] >> (n % 64) & 1; }
    void clear(size_t n) { words[n / 64] &= ~(uint64_t{1} << (n % 64)); }
  };
  /// A block that still takes nodes. A base belongs to one node, or children would have two parents.
  struct Block {
    size_t number = 0;
    Flags free = {}, free_bases = {};
    int failures = 0;
  };

  unsigned char byte_at(size_t entry, size_t depth) const {
    return static_cast<unsigned char>(entries_[entry].text[depth]);
  }

  void add_children(Range range) {
    // Texts that end here come first; the last of them counts.
    for (; range.first < range.last && entries_[range.first].text.size() == range.depth; ++range.first) {
      nodes_[range.node].value_above = (static_cast<uint32_t>(entries_[range.first].value) + 1) & kValueMask;
    }
    if (range.first == range.last) return;
    const size_t below = waiting_.size();
    labels_.clear();
    for (size_t first = range.first; first < range.last;) {
      const unsigned char label = byte_at(first, range.depth);
      const auto same = [&](const Entry& entry) {
        return static_cast<unsigned char>(entry.text[range.depth]) == label;
      };
      const auto begin = entries_.begin() + static_cast<ptrdiff_t>(first);
      const auto end = entries_.begin() + static_cast<ptrdiff_t>(range.last);
      const auto last = static_cast<size_t>(std::partition_point(begin, end, same) - entries_.begin());
      labels_.push_back(label);
      waiting_.push_back({0, first, last, range.depth + 1});
      first = last;
    }
    const size_t base = place_labels();
    nodes_[range.node].base = static_cast<uint32_t>(base);
    for (size_t n = 0; n < labels_.size(); ++n) {
      const size_t child = base ^ labels_[n];
      nodes_[child].label = labels_[n];
      waiting_[below + n].node = child;
    }
  }

  /// Takes the positions of labels_ in one of the open blocks, and returns their base.
  size_t place_labels() {
    // Blocks without success are closed, so that the time is proportional to the number of nodes.
    constexpr size_t kOpen = 8;
    constexpr int kMaxFailures = 8;
    for (Block& block : open_) {
      if (const std::optional<size_t> base = find_base(block)) return take(block, *base);
      ++block.failures;
    }
    std::erase_if(open_, [](const Block& block) { return block.failures > kMaxFailures; });
    if (open_.size() == kOpen) open_.erase(open_.begin());
    open_.push_back({.number = nodes_.size() / kBlock});
    nodes_.resize(nodes_.size() + kBlock);
    HEED_CHECK(nodes_.size() <= size_t{INT32_MAX});
    return take(open_.back(), 0);
  }

  std::optional<size_t> find_base(const Block& block) const {
    for (size_t n = 0; n < block.free.words.size(); ++n) {
      for (uint64_t left = block.free.words[n]; left != 0; left &= left - 1) {
        const size_t base = (n * 64 + static_cast<size_t>(std::countr_zero(left))) ^ labels_[0];
        if (fits(block, base)) return base;
      }
    }
    return std::nullopt;
  }

  bool fits(const Block& block, size_t base) const {
    return block.free_bases.test(base) &&
           std::ranges::all_of(labels_, [&](unsigned char label) { return block.free.test(base ^ label); });
  }

  size_t take(Block& block, size_t base) {
    block.free_bases.clear(base);
    for (const unsigned char label : labels_) block.free.clear(base ^ label);
    return block.number * kBlock + base;
  }

  const std::vector<Entry>& entries_;
  std::vector<Node> nodes_;
  std::vector<Range> waiting_;
  std::vector<Block> open_;
  std::vector<unsigned char> labels_;  // of the children of the current node
};

ByteTrie::ByteTrie(std::vector<Entry> entries) {
  std::ranges::stable_sort(entries, {}, &Entry::text);
  for (const Entry& entry : entries) {
    HEED_CHECK(!entry.text.empty() && entry.value >= 0 && entry.value <= kMaxValue);
  }
  nodes_ = Builder(entries).build();
}

}  // namespace heed
