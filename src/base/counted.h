// Singular and plural: "1 thread", "2 threads".
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace heed {

/// A number and a noun, in the plural unless the number is 1. The plural of `noun` must end in s.
template <std::integral Number>
std::string counted(Number number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace heed
