// Runs the steps of a part of tokenizer.json, and bounds the text that they write: forty times "a" by "aa"
// would take all memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/stop.h"

namespace heed {

/// The most bytes that the steps of a part may make of a text. Unicode's compatibility forms make at most 11
/// of one byte, byte-level characters 2.
inline size_t max_written_bytes(size_t bytes) {
  constexpr size_t kGrowth = 32, kFloor = size_t{1} << 16;
  return std::max(kFloor, kGrowth * bytes);
}

inline size_t total_bytes(const std::vector<std::string>& tokens) {
  return std::accumulate(tokens.begin(), tokens.end(), size_t{0},
                         [](size_t sum, const std::string& token) { return sum + token.size(); });
}

/// Thrown by a step that would write a longer text than it may; run_steps() says which.
class TextTooLong : public std::exception {
 public:
  const char* what() const noexcept override { return "a step of the tokenizer writes too long a text"; }
};

inline void check_written_bytes(size_t bytes, size_t limit) {
  if (bytes > limit) throw TextTooLong();
}

/// Calls apply(step) for each step, and checks what size() then says. Throws kText, with part and step, for
/// more than `limit` bytes, and Cancelled (base/stop.h).
template <typename Steps, typename Apply, typename Size>
void run_steps(const char* part, const Steps& steps, size_t limit, const Apply& apply, const Size& size) {
  for (size_t n = 0; n < steps.size(); ++n) {
    StopScope::check();
    try {
      apply(*steps[n]);
      check_written_bytes(size(), limit);
    } catch (const TextTooLong&) {
      fail(ErrorKind::kText,
           "the tokenizer's {} writes more than {} bytes for a short text, at its step {} of {}; remove that "
           "step from its tokenizer.json, or give a shorter text",
           part, limit, n + 1, steps.size());
    }
  }
}

}  // namespace heed
