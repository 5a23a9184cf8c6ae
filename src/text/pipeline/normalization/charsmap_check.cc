// The double array of Darts-clone: unit p is a prefix; its child by byte c is unit base(p) ^ c if that unit's
// label is c, with base(p) = p ^ offset(p). The value of a prefix that is a key is in unit base(p).
#include "text/pipeline/normalization/charsmap_check.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "text/pipeline/normalization/darts_unit.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// Normalizer::kMaxTrieResultsSize of SentencePiece: the size of its table of keys on one path.
constexpr int kMaxKeysOnPath = 32;

class TrieCheck {
 public:
  TrieCheck(std::string_view trie, std::string_view replacements)
      : units_(darts_units(trie)), replacements_(replacements) {}

  std::string fault() {
    sort_by_base();
    return walk();
  }

 private:
  size_t base(size_t p) const { return p ^ darts_offset(units_[p]); }

  /// Sorts the units by the base of their potential parent, so that children are found without trying 256
  /// bytes.
  void sort_by_base() {
    first_child_.assign(units_.size() + 1, 0);
    const auto base_above = [&](size_t i) { return i ^ (units_[i] & 0xFF); };
    const auto is_node = [&](size_t i) {
      return !(units_[i] & kDartsValueBit) && base_above(i) < units_.size();
    };
    for (size_t i = 0; i < units_.size(); ++i) {
      if (is_node(i)) ++first_child_[base_above(i) + 1];
    }
    for (size_t b = 0; b < units_.size(); ++b) first_child_[b + 1] += first_child_[b];
    children_.resize(first_child_.back());
    std::vector<uint32_t> filled(first_child_.begin(), first_child_.end() - 1);
    for (size_t i = 0; i < units_.size(); ++i) {
      if (is_node(i)) children_[filled[base_above(i)]++] = static_cast<uint32_t>(i);
    }
  }

  /// The fault of a single reachable unit.
  const char* node_fault(size_t p) const {
    if ((base(p) | 0xFF) >= units_.size()) return "an offset of its trie is out of range";
    if (!has_darts_value(units_[p])) return nullptr;
    const uint32_t value = units_[base(p)] & ~kDartsValueBit;
    if (value >= replacements_.size()) return "its trie refers beyond the replacements";
    if (is_continuation_byte(replacements_[value])) return "its trie refers to the middle of a character";
    return nullptr;
  }

  /// Depth-first search of all reachable units, which counts the keys on the longest path below each.
  std::string walk() {
    enum State : uint8_t { kNew, kOpen, kDone };
    std::vector<State> state(units_.size(), kNew);
    std::vector<uint8_t> keys_below(units_.size(), 0);
    struct Step {
      size_t unit, next_child;
    };
    std::vector<Step> path;
    const auto open = [&](size_t p) -> const char* {
      if (const char* fault = node_fault(p)) return fault;
      state[p] = kOpen;
      path.push_back({p, first_child_[base(p)]});
      return nullptr;
    };
    if (const char* fault = open(0)) return fault;
    while (!path.empty()) {
      const size_t p = path.back().unit;
      if (path.back().next_child < first_child_[base(p) + 1]) {
        const size_t child = children_[path.back().next_child];
        if (state[child] == kOpen) return "its trie has a cycle";
        if (state[child] == kNew) {
          if (const char* fault = open(child)) return fault;
          continue;
        }
        const int keys = keys_below[child] + has_darts_value(units_[child]);
        keys_below[p] = static_cast<uint8_t>(std::max<int>(keys_below[p], keys));
        if (keys > kMaxKeysOnPath) return "too many of its keys are prefixes of one another";
        ++path.back().next_child;
      } else {
        state[p] = kDone;
        path.pop_back();
      }
    }
    return {};
  }

  std::vector<uint32_t> units_;
  std::string_view replacements_;
  std::vector<uint32_t> first_child_, children_;  // indices of units
};

}  // namespace

std::string find_charsmap_fault(std::string_view table) {
  if (table.size() < 4) return "it is truncated";
  const uint32_t trie_size = darts_unit_at(table, 0);
  table.remove_prefix(4);
  if (trie_size >= table.size()) return "it is truncated";
  if (trie_size == 0 || trie_size % 4 != 0) return "the size of its trie is not a multiple of 4";
  const std::string_view replacements = table.substr(trie_size);
  if (replacements.back() != '\0') return "its last replacement is not terminated";
  if (find_invalid_utf8(replacements)) return "its replacements are not valid UTF-8";
  return TrieCheck(table.substr(0, trie_size), replacements).fault();
}

}  // namespace heed
