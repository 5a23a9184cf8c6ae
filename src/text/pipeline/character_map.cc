#include "text/pipeline/character_map.h"

#include "base/check.h"
#include "text/charsmap_check.h"

namespace heed {
namespace {

constexpr uint32_t kValueBit = 1u << 31;
constexpr uint32_t kLabel = kValueBit | 0xFF;  // values have no label

uint32_t unit_at(std::string_view bytes, size_t at) {
  uint32_t unit = 0;
  for (size_t i = 0; i < 4; ++i)
    unit |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return unit;
}

size_t offset_of(uint32_t unit) {
  return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}

}  // namespace

CharacterMap::CharacterMap(std::string_view table) {
  if (table.empty()) return;
  HEED_CHECK(find_charsmap_fault(table).empty());
  constexpr size_t kHeader = 4;
  const size_t trie_size = unit_at(table, 0);
  units_.reserve(trie_size / 4);
  for (size_t at = 0; at < trie_size; at += 4) units_.push_back(unit_at(table, kHeader + at));
  replacements_ = table.substr(kHeader + trie_size);
}

bool CharacterMap::begins_key(char byte) const {
  if (units_.empty()) return false;
  const auto c = static_cast<unsigned char>(byte);
  return (units_[offset_of(units_[0]) ^ c] & kLabel) == c;
}

CharacterMap::Match CharacterMap::find(std::string_view text, bool longest) const {
  Match match;
  if (units_.empty()) return match;
  size_t node = offset_of(units_[0]);
  for (size_t n = 0; n < text.size(); ++n) {
    const auto c = static_cast<unsigned char>(text[n]);
    node ^= c;
    const uint32_t unit = units_[node];
    if ((unit & kLabel) != c) break;
    node ^= offset_of(unit);
    if ((unit >> 8 & 1) == 0) continue;
    match = {n + 1, replacements_.data() + (units_[node] & ~kValueBit)};
    if (!longest) break;
  }
  return match;
}

}  // namespace heed
