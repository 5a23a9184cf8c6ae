// A trie over bytes: which of many strings a text begins with.
//
// It is a double array (Aoe, "An efficient digital search algorithm by using a double-array structure",
// 1989): the child of node n by byte c is the node base(n) ^ c if that node's label is c. A step is one load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heed {

class ByteTrie {
 public:
  /// The text must not be empty; the value is 0 to kMaxValue.
  struct Entry {
    std::string_view text;
    int32_t value = 0;
  };
  static constexpr int32_t kMaxValue = (1 << 23) - 2;

  ByteTrie() : nodes_(kBlock) {}
  /// Of entries with the same text, the last one counts.
  explicit ByteTrie(std::vector<Entry> entries);

  static constexpr int32_t kRoot = 0;
  /// The child node of a byte, or -1.
  int32_t child(int32_t node, char c) const {
    const auto label = static_cast<unsigned char>(c);
    const uint32_t next = nodes_[static_cast<size_t>(node)].base ^ label;
    return nodes_[next].label == label ? static_cast<int32_t>(next) : -1;
  }
  /// The value of the string that ends at a node, or -1.
  int32_t value(int32_t node) const {
    return static_cast<int32_t>(nodes_[static_cast<size_t>(node)].value_above) - 1;
  }

  struct Found {
    int32_t value = -1;  ///< -1: none
    size_t length = 0;
  };
  /// The longest string that a text begins with.
  Found longest(std::string_view text) const {
    Found found;
    int32_t node = kRoot;
    for (size_t n = 0; n < text.size(); ++n) {
      node = child(node, text[n]);
      if (node < 0) break;
      if (value(node) >= 0) found = {value(node), n + 1};
    }
    return found;
  }

 private:
  class Builder;
  static constexpr size_t kBlock = 256;  // the children of a node lie in one block of this many nodes
  static constexpr uint32_t kFree = 256;
  static constexpr uint32_t kValueMask = (1u << 23) - 1;
  struct Node {
    uint32_t base = 0;  // 0: no children; the first block has no labels
    uint32_t label : 9 = kFree;
    uint32_t value_above : 23 = 0;  // value + 1
  };
  std::vector<Node> nodes_;
};

}  // namespace heed
