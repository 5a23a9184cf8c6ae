// "1 thread", "2 threads".
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace heed {

/// A number and what it counts, in the plural unless it is one. `noun` is a word whose plural ends in s.
template <std::integral Number>
std::string counted(Number number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace heed
