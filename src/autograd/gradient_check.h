// Checks derivatives against finite differences.
//
// For y = f(x_1, ..., x_n) and an upstream gradient u drawn at random, the tape's gradient of F = sum(u * y)
// is compared, element by element, with the central difference of order four
//
//   D = (8 (F(x + h) - F(x - h)) - (F(x + 2h) - F(x - 2h))) / (12 h)
//
// in float64, whose error is h^4 / 30 times the fifth derivative of F. With h = 1e-3, the truncation error is
// about 1e-12 and the rounding error of F, divided by h, about 2e-13, both relative to
// S = sum |u y| + |D| + 1. The tolerance is 64 times their sum times S, which allows for functions that are
// steeper than they are large, and still detects a derivative that is wrong in its ninth digit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "autograd/tape.h"

namespace heed {

struct GradientCheckOptions {
  /// Of the upstream gradient and of the initial values of the gradient accumulators.
  uint64_t seed = 1;
  /// h. The function must be smooth within 2h around the inputs: keep away from the kink of relu.
  double step = 1e-3;
  /// u = 1 instead, for a loss whose upstream gradient must be 1.
  bool unit_upstream = false;
  /// For functions whose higher derivatives are larger than assumed above.
  double tolerance_factor = 1;
};

/// Any differentiable function, which must give the same result every time.
using DifferentiableFunction = std::function<Var(const std::vector<Var>& inputs)>;

/// Describes an error of the tape's gradients of `function` at `inputs` (float64); empty if there is none.
/// Checks every element against finite differences; that gradients are added to the accumulators; and that
/// they are the same if the other inputs are constants.
std::string gradient_mismatch(const DifferentiableFunction& function, const std::vector<Tensor>& inputs,
                              const GradientCheckOptions& options = {});

}  // namespace heed
