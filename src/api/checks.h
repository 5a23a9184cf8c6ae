// Checks of the public classes before anything is computed: text, and options that several of them have.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/unicode/utf8.h"

namespace heed {

/// "the text", or one of several with its number: "text 3".
inline std::string numbered(const char* what, size_t index, size_t count) {
  return count == 1 ? fmt::format("the {}", what) : fmt::format("{} {}", what, index + 1);
}

/// Throws kText, naming what it is ("the prompt") and the byte.
inline void require_utf8(std::string_view what, std::string_view text) {
  if (const auto offset = find_invalid_utf8(text)) {
    fail(ErrorKind::kText, "{} is not UTF-8, at byte {}: convert it first", what, *offset);
  }
}

/// The same for one of `count` texts, with its number.
inline void require_utf8(const char* what, size_t index, size_t count, std::string_view text) {
  if (find_invalid_utf8(text)) require_utf8(numbered(what, index, count), text);
}

/// The same for each of several texts.
inline void require_utf8_each(const char* what, const std::vector<std::string>& texts) {
  for (size_t n = 0; n < texts.size(); ++n) require_utf8(what, n, texts.size(), texts[n]);
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
