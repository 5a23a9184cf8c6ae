// A text cut into tokens: what every tokenizer gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// The three have the same length.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;
  /// The bytes [begin, end) of the original text; those of tokens that stand for no text are empty.
  std::vector<std::pair<size_t, size_t>> spans;
};

}  // namespace heed
