// A tokenized text or text pair, the output of all tokenizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// All vectors have the same length, except those that were not asked for: `pieces`; `types` and `sources`,
/// which the post-processor fills.
struct Encoding {
  std::vector<int32_t> ids;
  /// As the vocabulary spells them; unknown and added tokens as the text does.
  std::vector<std::string> pieces;
  /// The bytes [begin, end) of the text that a token comes from. Special tokens around a text are empty, at
  /// its beginning or its end.
  std::vector<std::pair<size_t, size_t>> spans;
  /// Token types: which text of a pair, by the post-processor's rules.
  std::vector<int32_t> types;
  /// The text that each token comes from, 0 or 1; -1: the post-processor added it.
  std::vector<int8_t> sources;
  bool truncated = false;  ///< whether tokens were removed to fit a maximum length

  size_t size() const { return ids.size(); }
};

}  // namespace heed
