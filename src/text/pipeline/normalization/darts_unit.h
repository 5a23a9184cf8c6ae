// The units of a double array of Darts-clone, 32 bits each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heed {

inline constexpr uint32_t kDartsValueBit = 1u << 31;
/// The label of a unit; a unit with a value has none that a byte equals.
inline constexpr uint32_t kDartsLabel = kDartsValueBit | 0xFF;

inline uint32_t darts_unit_at(std::string_view bytes, size_t at) {
  uint32_t unit = 0;
  for (size_t i = 0; i < 4; ++i)
    unit |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return unit;
}
inline std::vector<uint32_t> darts_units(std::string_view bytes) {
  std::vector<uint32_t> units(bytes.size() / 4);
  for (size_t unit = 0; unit < units.size(); ++unit) units[unit] = darts_unit_at(bytes, 4 * unit);
  return units;
}
inline bool has_darts_value(uint32_t unit) {
  return (unit >> 8) & 1;
}
/// The base of the unit's children is the index of the unit XOR this.
inline size_t darts_offset(uint32_t unit) {
  return static_cast<size_t>((unit >> 10) << ((unit & (1u << 9)) >> 6));
}

}  // namespace heed
