#include "train/optimizer.h"

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

/// body(chunk, elements) for every chunk of a slice, which begins with one. Rows that are not trained have
/// gradients of 0.
template <typename Body>
void for_each_chunk(ThreadPool& pool, const distributed::Range& slice, const Body& body) {
  pool.run(static_cast<size_t>(chunks_in(slice.size())), [&](size_t n) {
    const int64_t chunk = slice.begin / kOptimizerChunk + static_cast<int64_t>(n);
    const int64_t begin = chunk * kOptimizerChunk;
    body(chunk, distributed::Range{begin, std::min(begin + kOptimizerChunk, slice.end)});
  });
}

}  // namespace

Optimizer::Optimizer(const nn::ParameterTable& table, const Recipe& recipe, distributed::Communicator& ranks)
    : table_(table),
      ranks_(ranks),
      own_(parameter_slices(table, ranks).of(ranks.rank())),
      recipe_(recipe),
      schedule_(recipe.make_schedule()),
      m_(Tensor::zeros({own_.size()})),
      v_(Tensor::zeros({own_.size()})) {
  for (int row = 0; row < table.size(); ++row) {
    if (!table[row].trained) continue;
    if (trained_.empty() || trained_.back().end != table.offset(row))
      trained_.push_back({table.offset(row), 0});
    trained_.back().end = table.offset(row + 1);
  }
}

double Optimizer::norm(ThreadPool& pool, const nn::ParameterArray& gradients) const {
  const int64_t chunks = chunks_in(table_.elements());
  std::vector<double> sums(static_cast<size_t>(chunks));
  const float* g = gradients.flat().data<float>();
  for_each_chunk(pool, own_, [&](int64_t chunk, const Range& elements) {
    sum_of_squares(
        {.size = elements.size(), .x = g + elements.begin, .sum = &sums[static_cast<size_t>(chunk)]});
  });
  distributed::all_gather(ranks_, {sums.data(), sizeof(double), distributed::Slices(chunks, ranks_.size())});
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
  float *m = m_.data<float>(), *v = v_.data<float>();
  for_each_chunk(pool, own_, [&](int64_t, const Range& elements) {
    for (const Range& range : trained_) {
      const int64_t first = std::max(elements.begin, range.begin), last = std::min(elements.end, range.end);
      if (first >= last) continue;
      adam({.size = last - first,
            .weights = w + first,
            .m = m + (first - own_.begin),
            .v = v + (first - own_.begin),
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
      for (int64_t i = elements.begin; i < elements.end; ++i) mean[i] = keep * mean[i] + move * w[i];
    }
  });
}

}  // namespace heed::train
