// Checks of the public classes before anything is computed: text, and options that several of them have.
#pragma once

#include <string_view>

#include "base/check.h"
#include "text/unicode/utf8.h"

namespace heed {

/// Throws kText, naming what it is ("the prompt") and the byte.
inline void require_utf8(const char* what, std::string_view text) {
  if (const auto offset = find_invalid_utf8(text)) {
    fail(ErrorKind::kText, "{} is not UTF-8, at byte {}: convert it first", what, *offset);
  }
}

/// The number of threads, if it is valid. Throws kUsage.
inline int checked_threads(int threads) {
  constexpr int kMost = 1024;
  if (threads < 0 || threads > kMost) {
    fail(ErrorKind::kUsage, "threads must be from 1 to {}, or 0 for one on each processor, not {}", kMost,
         threads);
  }
  return threads;
}

}  // namespace heed
