// The names of the values of an enumeration, in one table: commands, routes and error messages read it.
//
//   constexpr NamedValues<Colour, 2> kColours{{{Colour::kRed, "red"}, {Colour::kBlue, "blue"}}};
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/check.h"

namespace heed {

template <typename Value>
struct NamedValue {
  Value value;
  const char* name;
};
template <typename Value, size_t kCount>
using NamedValues = std::array<NamedValue<Value>, kCount>;

/// "heads, layers or positions"
std::string alternatives(const std::vector<std::string>& names);

template <typename Value, size_t kCount>
std::vector<std::string> names_in(const NamedValues<Value, kCount>& table) {
  std::vector<std::string> names;
  for (const NamedValue<Value>& each : table) names.emplace_back(each.name);
  return names;
}

/// The name of a value that the table has.
template <typename Value, size_t kCount>
const char* name_in(const NamedValues<Value, kCount>& table, Value value) {
  for (const NamedValue<Value>& each : table) {
    if (each.value == value) return each.name;
  }
  HEED_CHECK(false);
}

/// The value with a name. Throws kUsage for another name: "unknown part 'x': choose heads, layers or
/// positions".
template <typename Value, size_t kCount>
Value value_in(const NamedValues<Value, kCount>& table, const char* what, const std::string& name) {
  for (const NamedValue<Value>& each : table) {
    if (each.name == name) return each.value;
  }
  fail(ErrorKind::kUsage, "unknown {} '{}': choose {}", what, name, alternatives(names_in(table)));
}

}  // namespace heed
