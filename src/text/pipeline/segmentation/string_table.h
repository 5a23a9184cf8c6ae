// Hash tables for the inner loops of tokenizers: open addressing with linear probing, at most half full.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// Multiply and fold, eight bytes at a time.
inline uint64_t hash_of(std::string_view text) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  const auto mix = [](uint64_t hash) { return (hash ^ (hash >> 29)) * kFactor; };
  uint64_t hash = text.size() * kFactor;
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    hash = mix(hash ^ word);
  }
  uint64_t word = 0;
  if (left > 0) std::memcpy(&word, at, left);  // an empty text may have no address
  hash = mix(hash ^ word);
  return hash ^ (hash >> 32);
}

/// Strings and their ids. The strings must outlive the table.
class StringTable {
 public:
  StringTable() : slots_(2) {}
  explicit StringTable(size_t size) : slots_(std::bit_ceil(2 * size + 2)) {}

  /// A later id replaces an earlier one. There must be room.
  void insert(std::string_view text, int32_t id) { slots_[index_of(text)] = {text, id}; }
  /// -1 if missing.
  int32_t find(std::string_view text) const { return slots_[index_of(text)].id; }

 private:
  struct Slot {
    std::string_view text;
    int32_t id = -1;
  };
  size_t index_of(std::string_view text) const {
    const size_t mask = slots_.size() - 1;
    size_t index = hash_of(text) & mask;
    while (slots_[index].id >= 0 && slots_[index].text != text) index = (index + 1) & mask;
    return index;
  }
  std::vector<Slot> slots_;
};

/// Unsigned integers, except the greatest, as keys, and their values.
template <typename Key, typename Value>
class KeyTable {
 public:
  explicit KeyTable(size_t size = 0) : slots_(std::bit_ceil(2 * size + 2)) {}

  void insert(Key key, const Value& value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[index_of(key)];
    used_ += slot.key == kFree;
    slot = {key, value};
  }
  /// nullptr if missing.
  const Value* find(Key key) const {
    const Slot& slot = slots_[index_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }

 private:
  static constexpr Key kFree = ~Key{0};
  struct Slot {
    Key key = kFree;
    Value value{};
  };
  size_t index_of(Key key) const {
    const size_t mask = slots_.size() - 1;
    size_t index = (static_cast<uint64_t>(key) * 0x9E3779B97F4A7C15 >> 32) & mask;
    while (slots_[index].key != kFree && slots_[index].key != key) index = (index + 1) & mask;
    return index;
  }
  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.key != kFree) slots_[index_of(slot.key)] = slot;
    }
  }
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace heed
