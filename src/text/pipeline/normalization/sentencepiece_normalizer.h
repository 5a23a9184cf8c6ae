// SentencePiece's normalization: a character map, white space, and the mark of a space before each word.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/aligned_text.h"
#include "text/pipeline/normalization/character_map.h"
#include "text/pipeline/segmentation/byte_trie.h"

namespace heed {

/// The defaults are those of the file format.
struct SentencePieceNormalizerOptions {
  std::string charsmap = {};       ///< a compiled character map without fault; empty: none
  bool adds_space = true;          ///< before the text
  bool removes_spaces = true;      ///< leading, trailing and repeated ones
  bool marks_spaces = true;        ///< writes a space as U+2581
  bool adds_space_behind = false;  ///< adds_space adds it behind the text
  /// adds_space adds it at the beginning of a text alone, not behind an added token, and not where there is a
  /// space: Metaspace's prepend_scheme "first", which transformers takes for "legacy": false.
  bool adds_space_first = false;
};

/// Immutable and thread-safe.
class SentencePieceNormalizer {
 public:
  /// `symbols` in a text are left as they are. They must not be empty.
  explicit SentencePieceNormalizer(const SentencePieceNormalizerOptions& options,
                                   const std::vector<std::string>& symbols = {});

  /// Of a byte whose origin is [begin, end), `begin` is where its character comes from, and `end` where the
  /// next byte comes from. Each byte of ill-formed UTF-8 becomes U+FFFD.
  /// The text begins at `position` of a longer one.
  AlignedText normalize(std::string_view text, size_t position = 0) const;

 private:
  struct Step {
    std::string_view written;
    size_t length = 0;  ///< bytes of the text that it replaces
  };
  Step step_at(std::string_view rest) const;
  size_t length_of_leading_spaces(std::string_view text) const;
  bool adds_space_before(std::string_view text, size_t position) const;

  SentencePieceNormalizerOptions options_;
  CharacterMap map_;
  ByteTrie symbols_;
  std::array<bool, 256> changes_{};  // bytes that a key, a symbol or a multi-byte character may begin with
};

}  // namespace heed
