// A tokenized text, the output of all tokenizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// All three vectors have the same length.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;
  /// The bytes [begin, end) of the original text; empty for special tokens.
  std::vector<std::pair<size_t, size_t>> spans;
};

}  // namespace heed
