#include "inspect/trace/log_probabilities.h"

#include <algorithm>
#include <cmath>

namespace heed {

std::vector<float> log_probabilities(const Tensor& logits, std::span<const int32_t> ids) {
  const int64_t vocabulary = logits.dim(1);
  std::vector<float> found;
  const float* row = logits.data<float>();
  for (const int32_t id : ids) {
    const double largest = static_cast<double>(*std::max_element(row, row + vocabulary));
    double sum = 0;
    for (int64_t n = 0; n < vocabulary; ++n) sum += std::exp(static_cast<double>(row[n]) - largest);
    found.push_back(static_cast<float>(static_cast<double>(row[id]) - largest - std::log(sum)));
    row += vocabulary;
  }
  return found;
}

}  // namespace heed
