#include "train/loop/optimizer.h"

#include <algorithm>
#include <cmath>

#include "distributed/collectives.h"
#include "kernels/pointwise/adam.h"

namespace heed::train {
namespace {

/// Adam squares gradients in float32: with larger ones its second moment would overflow to infinity and stay
/// infinite.
constexpr double kLargestNorm = 1e18;

int64_t chunks_in(int64_t elements) {
  return (elements + kOptimizerChunk - 1) / kOptimizerChunk;
}

}  // namespace

Optimizer::Optimizer(const nn::ParameterTable& table, const Recipe& recipe, Reducer& reducer)
    : table_(table),
      reducer_(reducer),
      slices_(reducer.slices(table)),
      recipe_(recipe),
      schedule_(recipe.make_schedule()),
      m_(Tensor::zeros({slices_.own_size()})),
      v_(Tensor::zeros({slices_.own_size()})) {
  for (size_t section = 0; section < slices_.sections(); ++section) {
    const Range& own = slices_.own(section);
    for (int64_t begin = own.begin; begin < own.end; begin += kOptimizerChunk) {
      chunks_.push_back({{begin, std::min(begin + kOptimizerChunk, own.end)},
                         slices_.own_offset(section) + begin - own.begin});
    }
  }
  for (int row = 0; row < table.size(); ++row) {
    if (!table[row].trained) continue;
    if (trained_.empty() || trained_.back().end != table.offset(row))
      trained_.push_back({table.offset(row), 0});
    trained_.back().end = table.offset(row + 1);
  }
}

/// Rows that are not trained have gradients of 0.
void Optimizer::for_each_chunk(ThreadPool& pool, const std::function<void(const Chunk&)>& body) const {
  pool.run(chunks_.size(), [&](size_t n) { body(chunks_[n]); });
}

double Optimizer::norm(ThreadPool& pool, const nn::ParameterArray& gradients) const {
  std::vector<double> sums(static_cast<size_t>(chunks_in(table_.elements())));
  const float* g = gradients.flat().data<float>();
  for_each_chunk(pool, [&](const Chunk& chunk) {
    const auto& [begin, end] = chunk.elements;
    sum_of_squares(
        {.size = end - begin, .x = g + begin, .sum = &sums[static_cast<size_t>(begin / kOptimizerChunk)]});
  });
  std::vector<distributed::SlicedArray> arrays;
  for (size_t n = 0; n < slices_.sections(); ++n) {
    const Range& section = slices_.section(n);
    arrays.push_back({&sums[static_cast<size_t>(section.begin / kOptimizerChunk)], sizeof(double),
                      distributed::Slices(chunks_in(section.size()), reducer_.processes())});
  }
  reducer_.gather_slices(arrays);
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

double Optimizer::clip(double norm) const {
  const double limit = recipe_.clip_norm > 0 ? std::min(recipe_.clip_norm, kLargestNorm) : kLargestNorm;
  return std::min(1.0, limit / (norm + 1e-6));
}

void Optimizer::update(ThreadPool& pool, const Update& update) {
  const int64_t n = update.n;
  // A smaller decay at first, so that the average soon forgets the initial values.
  const double decay = std::min(recipe_.decay, static_cast<double>(n) / static_cast<double>(n + 9));
  float* w = update.values.flat().data<float>();
  const float* g = update.gradients.flat().data<float>();
  float* mean = update.average.defined() ? update.average.flat().data<float>() : nullptr;
  float *m = m_.data<float>(), *v = v_.data<float>();
  for_each_chunk(pool, [&](const Chunk& chunk) {
    const Range& elements = chunk.elements;
    for (const Range& range : trained_) {
      const int64_t first = std::max(elements.begin, range.begin), last = std::min(elements.end, range.end);
      if (first >= last) continue;
      adam({.size = last - first,
            .weights = w + first,
            .m = m + chunk.state + (first - elements.begin),
            .v = v + chunk.state + (first - elements.begin),
            .gradients = g + first,
            .gradient_scale = update.gradient_scale,
            .rate = schedule_.at(n),
            .beta1 = recipe_.beta1,
            .beta2 = recipe_.beta2,
            .epsilon = recipe_.epsilon,
            .weight_decay = recipe_.weight_decay,
            .decoupled = recipe_.optimizer == "adamw",
            .n = n});
    }
    if (mean != nullptr) {
      // With two rounded factors, whose sum is not 1, the average of equal weights would drift.
      const float move = static_cast<float>(1 - decay);
      for (int64_t i = elements.begin; i < elements.end; ++i) mean[i] += move * (w[i] - mean[i]);
    }
  });
}

}  // namespace heed::train
