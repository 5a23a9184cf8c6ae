// "Did you mean ...?": the allowed word nearest to a mistyped one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The fewest insertions, deletions, replacements and swaps of neighbours that make one word the other,
/// counted in bytes (optimal string alignment, the restricted form of Damerau's distance).
size_t edit_distance(std::string_view left, std::string_view right);

/// The candidate at the smallest distance, the earlier one of equals; "" where none is near: more than a
/// third of the longer word would have to change.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean 'x'?", or "" where nothing is near: the end of a message.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace heed
