#include "train/optimizer.h"

#include <algorithm>
#include <cmath>

#include "kernels/pointwise/adam.h"

namespace heed::train {
namespace {

constexpr int64_t kChunk = 1 << 16;
/// Adam squares gradients in float32: with larger ones its second moment would overflow to infinity and stay
/// infinite.
constexpr double kLargestNorm = 1e18;

/// body(chunk, first element, count) for every chunk of the flat array. Rows that are not trained have
/// gradients of 0.
template <typename Body>
void for_each_chunk(ThreadPool& pool, int64_t elements, const Body& body) {
  const int64_t chunks = (elements + kChunk - 1) / kChunk;
  pool.run(static_cast<size_t>(chunks), [&](size_t chunk) {
    const int64_t begin = static_cast<int64_t>(chunk) * kChunk;
    body(chunk, begin, std::min(kChunk, elements - begin));
  });
}

}  // namespace

Optimizer::Optimizer(const nn::ParameterTable& table, const Recipe& recipe)
    : table_(table),
      recipe_(recipe),
      schedule_(recipe.make_schedule()),
      m_(table, DType::kFloat32),
      v_(table, DType::kFloat32) {
  for (int row = 0; row < table.size(); ++row) {
    if (!table[row].trained) continue;
    if (trained_.empty() || trained_.back().end != table.offset(row))
      trained_.push_back({table.offset(row), 0});
    trained_.back().end = table.offset(row + 1);
  }
}

double Optimizer::norm(ThreadPool& pool, const nn::ParameterArray& gradients) const {
  const int64_t elements = table_.elements();
  std::vector<double> sums(static_cast<size_t>((elements + kChunk - 1) / kChunk));
  const float* g = gradients.flat().data<float>();
  for_each_chunk(pool, elements, [&](size_t chunk, int64_t begin, int64_t count) {
    sum_of_squares({.size = count, .x = g + begin, .sum = &sums[chunk]});
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

void Optimizer::update(ThreadPool& pool, nn::ParameterArray& values, const nn::ParameterArray& gradients,
                       double norm, int64_t n, nn::ParameterArray& average) {
  const double limit = recipe_.clip_norm > 0 ? std::min(recipe_.clip_norm, kLargestNorm) : kLargestNorm;
  const double scale = std::min(1.0, limit / (norm + 1e-6));
  // A smaller decay at first, so that the average soon forgets the initial values.
  const double decay = std::min(recipe_.decay, static_cast<double>(n) / static_cast<double>(n + 9));
  float* w = values.flat().data<float>();
  const float* g = gradients.flat().data<float>();
  float* mean = average.defined() ? average.flat().data<float>() : nullptr;
  for_each_chunk(pool, table_.elements(), [&](size_t, int64_t begin, int64_t count) {
    for (const Range& range : trained_) {
      const int64_t first = std::max(begin, range.begin), last = std::min(begin + count, range.end);
      if (first >= last) continue;
      adam({.size = last - first,
            .weights = w + first,
            .m = m_.flat().data<float>() + first,
            .v = v_.flat().data<float>() + first,
            .gradients = g + first,
            .gradient_scale = scale,
            .rate = schedule_.at(n),
            .beta1 = recipe_.beta1,
            .beta2 = recipe_.beta2,
            .epsilon = recipe_.epsilon,
            .weight_decay = recipe_.weight_decay,
            .decoupled = recipe_.optimizer == "adamw",
            .n = n});
    }
    if (mean != nullptr) {
      const float keep = static_cast<float>(decay), move = static_cast<float>(1 - decay);
      for (int64_t i = begin; i < begin + count; ++i) mean[i] = keep * mean[i] + move * w[i];
    }
  });
}

}  // namespace heed::train
