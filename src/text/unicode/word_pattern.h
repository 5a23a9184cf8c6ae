// GPT-2's pre-tokenization into words (Radford et al., 2019): contractions; runs of letters, digits or other
// characters with an optional leading space; white space.
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// Implemented by hand with Unicode properties from ICU. The pattern needs no backtracking, so one pass over
// the bytes suffices; invalid UTF-8 counts as other characters.
#pragma once

#include <cstddef>
#include <string_view>

namespace heed {

/// The end of the word at `begin`, which must be below text.size().
size_t word_end(std::string_view text, size_t begin);

}  // namespace heed
