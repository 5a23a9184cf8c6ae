// fail() for errors caused by user input; HEED_CHECK for violated invariants of our own code.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "heed/error.h"

namespace heed {

/// Throws heed::Error with a formatted message.
template <typename... Arguments>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Error(kind, fmt::format(format, std::forward<Arguments>(arguments)...));
}

namespace internal {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace internal

}  // namespace heed

/// Throws std::logic_error if a condition is violated that no input can violate: a bug.
#define HEED_CHECK(condition)                                                         \
  do {                                                                                \
    if (!(condition)) ::heed::internal::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
