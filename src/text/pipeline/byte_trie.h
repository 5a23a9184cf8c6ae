// A trie over bytes: which of many strings a text begins with.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/pipeline/string_table.h"

namespace heed {

class ByteTrie {
 public:
  ByteTrie() : values_(1, -1) { first_.fill(-1); }

  /// Adds a string, which must not be empty, with a value of at least 0; a later value replaces an earlier.
  void insert(std::string_view text, int32_t value) {
    int32_t node = kRoot;
    for (const char c : text) {
      int32_t next = child(node, c);
      if (next < 0) {
        next = static_cast<int32_t>(values_.size());
        HEED_CHECK(values_.size() < kMaxNodes);
        values_.push_back(-1);
        if (node == kRoot) {
          first_[static_cast<unsigned char>(c)] = next;
        } else {
          edges_.insert(key_of(node, c), next);
        }
      }
      node = next;
    }
    values_[static_cast<size_t>(node)] = value;
  }

  static constexpr int32_t kRoot = 0;
  /// The child node of a byte, or -1.
  int32_t child(int32_t node, char c) const {
    if (node == kRoot) return first_[static_cast<unsigned char>(c)];
    const int32_t* found = edges_.find(key_of(node, c));
    return found != nullptr ? *found : -1;
  }
  /// The value of the string that ends at a node, or -1.
  int32_t value(int32_t node) const { return values_[static_cast<size_t>(node)]; }

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
  static constexpr size_t kMaxNodes = (size_t{1} << 24) - 1;  // vocabularies have at most 2 million
  static uint32_t key_of(int32_t node, char c) {
    return static_cast<uint32_t>(node) << 8 | static_cast<unsigned char>(c);
  }
  std::array<int32_t, 256> first_;
  KeyTable<uint32_t, int32_t> edges_;
  std::vector<int32_t> values_;
};

}  // namespace heed
