// "Did you mean ...?": the allowed word nearest to a mistyped one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The edit distance in bytes with insertions, deletions, substitutions and transpositions (optimal string
/// alignment, the restricted Damerau-Levenshtein distance).
size_t edit_distance(std::string_view left, std::string_view right);

/// The nearest candidate, the first of ties; "" if the distance exceeds a third of the longer word.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

/// The end of a message: "; did you mean 'x'?", or "" without a near candidate.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace heed
