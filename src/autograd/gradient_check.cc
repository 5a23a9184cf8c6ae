#include "autograd/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/rng.h"

namespace heed {
namespace {

/// Away from 0, so that no element of the output goes unnoticed: +-[0.5, 1.5).
Tensor draw(const Shape& shape, Random& random) {
  std::vector<double> values(static_cast<size_t>(shape.size()));
  for (double& value : values) value = (random.below(2) == 0 ? -1 : 1) * (0.5 + random.uniform());
  return Tensor::from(values, shape);
}

struct WeightedSum {
  double value = 0, size = 0;  // sum(u y) and sum |u y|
};

WeightedSum weighted_sum(const Tensor& y, const Tensor& upstream) {
  WeightedSum sum;
  const double* u = upstream.data<double>();
  for (int64_t i = 0; i < y.size(); ++i) {
    const double term = u[i] * y.data<double>()[i];
    sum.value += term;
    sum.size += std::abs(term);
  }
  return sum;
}

/// The gradient that the tape adds for each input; undefined for those that are constants: all but `alone`,
/// unless that is -1.
std::vector<Tensor> tape_gradients(const DifferentiableFunction& function, const std::vector<Tensor>& inputs,
                                   const Tensor& upstream, int alone, Random random) {
  Tape tape;
  std::vector<Tensor> before, buffers;
  std::vector<Var> variables;
  for (int n = 0; n < static_cast<int>(inputs.size()); ++n) {
    before.push_back(draw(inputs[n].shape(), random));
    buffers.push_back(before.back().clone());
    variables.push_back(alone < 0 || alone == n ? tape.leaf(inputs[n], buffers.back()) : Var(inputs[n]));
  }
  const Var output = function(variables);
  if (output.wants_gradient()) tape.backward(output, upstream.clone());
  for (size_t n = 0; n < inputs.size(); ++n) {
    if (!variables[n].wants_gradient()) {
      buffers[n] = {};
      continue;
    }
    for (int64_t i = 0; i < buffers[n].size(); ++i)
      buffers[n].data<double>()[i] -= before[n].data<double>()[i];
  }
  return buffers;
}

}  // namespace

std::string gradient_mismatch(const DifferentiableFunction& function, const std::vector<Tensor>& inputs,
                              const GradientCheckOptions& options) {
  Random random(RandomKey::from_seed(options.seed));
  std::vector<Tensor> points;  // changed element by element
  std::vector<Var> constants;
  for (const Tensor& input : inputs) {
    HEED_CHECK(input.dtype() == DType::kFloat64);
    points.push_back(input.clone());
    constants.emplace_back(points.back());
  }
  const Tensor value = function(constants).value().clone();
  Tensor upstream = draw(value.shape(), random);
  if (options.unit_upstream) std::fill_n(upstream.data<double>(), upstream.size(), 1.0);
  const std::vector<Tensor> all = tape_gradients(function, inputs, upstream, -1, random);

  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const double h = options.step;
  const double relative = options.tolerance_factor * 64 * (std::pow(h, 4) + kEpsilon / h);
  const double size = weighted_sum(value, upstream).size;
  for (size_t n = 0; n < inputs.size(); ++n) {
    double* point = points[n].data<double>();
    for (int64_t i = 0; i < inputs[n].size(); ++i) {
      const double x = point[i];
      const auto at = [&](double offset) {
        point[i] = x + offset;
        return weighted_sum(function(constants).value(), upstream).value;
      };
      const double difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      point[i] = x;
      const double actual = all[n].data<double>()[i];
      const double tolerance = relative * (size + std::abs(difference) + 1);
      if (!(std::abs(actual - difference) <= tolerance)) {
        return fmt::format(
            "the gradient of input {} {} at element {} is {}, but finite differences give {} +- {}", n,
            inputs[n].shape().to_string(), i, actual, difference, tolerance);
      }
    }
    const Tensor alone = tape_gradients(function, inputs, upstream, static_cast<int>(n), random)[n];
    for (int64_t i = 0; i < alone.size(); ++i) {
      const double together = all[n].data<double>()[i], single = alone.data<double>()[i];
      if (!(std::abs(together - single) <= 16 * kEpsilon * (size + std::abs(together) + 1))) {
        return fmt::format(
            "the gradient of input {} {} at element {} is {}, but {} where the other inputs are constants", n,
            inputs[n].shape().to_string(), i, together, single);
      }
    }
  }
  return {};
}

}  // namespace heed
