#include "base/text/nearest_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace heed {
namespace {

constexpr size_t kMaxLength = 200;  // the distance takes quadratic time

}  // namespace

size_t edit_distance(std::string_view left, std::string_view right) {
  // Three rows of the table distance[i][j] between the first i bytes of `left` and the first j of `right`.
  std::vector<size_t> before(right.size() + 1), last(right.size() + 1), row(right.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= left.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const size_t replaced = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[right.size()];
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  std::string nearest;
  size_t smallest = 0;
  if (word.size() > kMaxLength) return nearest;
  for (const std::string& candidate : candidates) {
    const size_t longer = std::max(word.size(), candidate.size());
    const size_t shorter = std::min(word.size(), candidate.size());
    // The distance is at least the difference of the lengths, so most candidates need no table.
    if (longer > kMaxLength || (longer - shorter) * 3 > longer) continue;
    const size_t distance = edit_distance(word, candidate);
    if (distance * 3 <= longer && (nearest.empty() || distance < smallest)) {
      nearest = candidate;
      smallest = distance;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_word(word, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace heed
