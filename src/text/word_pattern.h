// How GPT-2 cuts text into words before it merges bytes within them (Radford et al., 2019): contractions, a
// run of letters, of digits or of other signs, each with the space before it, and white space by itself.
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// The pattern is followed by hand, over Unicode's properties from ICU: it never looks back, so one pass over
// the bytes does, and bytes that are not UTF-8 keep their places (they count as other signs).
#pragma once

#include <cstddef>
#include <string_view>

namespace heed {

/// The end of the word that begins at `begin`, which must be below text.size().
size_t word_end(std::string_view text, size_t begin);

}  // namespace heed
