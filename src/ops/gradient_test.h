// How the tests of an op check its derivative:
//
//   GRADIENT_CHECK(linear, WithBias) {
//     TensorSource source(1);
//     expect_gradients([](const auto& x) { return linear(x[0], x[1], x[2]); },
//                      {source.normal({3, 5}), source.normal({2, 5}), source.normal({2})});
//   }
//
// gradient_coverage_test.cc fails for every function of src/ops/*.h that gives a Var and has no such check.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "autograd/gradient_check.h"

/// A test of the derivative of heed::ops::op.
#define GRADIENT_CHECK(op, name) TEST(GradientCheck_##op, name)

namespace heed::ops {

inline void expect_gradients(const DifferentiableFunction& function, const std::vector<Tensor>& inputs,
                             const GradientCheckOptions& options = {}) {
  EXPECT_EQ(gradient_mismatch(function, inputs, options), "");
}

}  // namespace heed::ops
