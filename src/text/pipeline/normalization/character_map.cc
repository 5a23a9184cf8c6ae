#include "text/pipeline/normalization/character_map.h"

#include "text/pipeline/normalization/darts_unit.h"

namespace heed {

CharacterMap::CharacterMap(std::string_view table) {
  if (table.empty()) return;
  constexpr size_t kHeader = 4;
  const size_t trie_size = darts_unit_at(table, 0);
  units_ = darts_units(table.substr(kHeader, trie_size));
  replacements_ = table.substr(kHeader + trie_size);
}

bool CharacterMap::begins_key(char byte) const {
  if (units_.empty()) return false;
  const auto c = static_cast<unsigned char>(byte);
  return (units_[darts_offset(units_[0]) ^ c] & kDartsLabel) == c;
}

CharacterMap::Match CharacterMap::find(std::string_view text, bool longest) const {
  Match match;
  if (units_.empty()) return match;
  size_t node = darts_offset(units_[0]);
  for (size_t n = 0; n < text.size(); ++n) {
    const auto c = static_cast<unsigned char>(text[n]);
    node ^= c;
    const uint32_t unit = units_[node];
    if ((unit & kDartsLabel) != c) break;
    node ^= darts_offset(unit);
    if (!has_darts_value(unit)) continue;
    match = {n + 1, replacements_.data() + (units_[node] & ~kDartsValueBit)};
    if (!longest) break;
  }
  return match;
}

}  // namespace heed
