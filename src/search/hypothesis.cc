#include "search/hypothesis.h"

#include <algorithm>
#include <cmath>

namespace heed::search {

std::vector<int32_t> HypothesisTree::ids(int32_t node, std::vector<int32_t> first) const {
  const auto begin = static_cast<std::ptrdiff_t>(first.size());
  for (; node != kRoot; node = nodes_[node].parent) first.push_back(nodes_[node].id);
  std::reverse(first.begin() + begin, first.end());
  return first;
}

Hypothesis HypothesisTree::hypothesis(int32_t node, double sum, double length_penalty, int64_t free) const {
  Hypothesis result;
  result.ids = ids(node);
  for (; node != kRoot; node = nodes_[node].parent)
    result.log_probabilities.push_back(nodes_[node].log_probability);
  std::reverse(result.log_probabilities.begin(), result.log_probabilities.end());
  result.log_probability = sum;
  result.score = normalized_score(sum, static_cast<int64_t>(result.ids.size()) - free, length_penalty);
  return result;
}

double normalized_score(double sum, int64_t length, double length_penalty) {
  return sum / std::pow(static_cast<double>(std::max<int64_t>(length, 1)), length_penalty);
}

}  // namespace heed::search
