// Comparison of tensors in tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "heed/tensor.h"

namespace heed {

/// The difference of two elements: 0 for equal infinities and for two NaN, infinite if only one is NaN.
inline double difference_of(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  const double difference = std::abs(actual - expected);
  return std::isnan(difference) ? INFINITY : difference;
}

/// Fails the test unless the shapes are equal and every element is within the absolute tolerance; prints the
/// worst.
inline void expect_close(const Tensor& actual, const Tensor& expected, double tolerance,
                         const std::string& what) {
  if (!(actual.shape() == expected.shape())) {
    ADD_FAILURE() << what << ": the shape is " << actual.shape().to_string() << ", expected "
                  << expected.shape().to_string();
    return;
  }
  const std::vector<double> left = actual.to_vector<double>(), right = expected.to_vector<double>();
  size_t worst = 0, beyond = 0;
  for (size_t at = 0; at < left.size(); ++at) {
    const double difference = difference_of(left[at], right[at]);
    if (!(difference <= tolerance)) ++beyond;
    if (difference > difference_of(left[worst], right[worst])) worst = at;
  }
  if (beyond == 0) return;
  std::string index;
  auto rest = static_cast<int64_t>(worst);
  for (int axis = actual.rank() - 1; axis >= 0; --axis) {
    if (!index.empty()) index.insert(0, std::string(", "));
    index.insert(0, std::to_string(rest % actual.dim(axis)));
    rest /= actual.dim(axis);
  }
  ADD_FAILURE() << what << ": " << beyond << " of " << left.size() << " elements of "
                << actual.shape().to_string() << " differ by more than " << tolerance << "; the worst, at ["
                << index << "], is " << left[worst] << ", expected " << right[worst] << ", a difference of "
                << difference_of(left[worst], right[worst]);
}

/// The maximum difference of two tensors of equal shape.
inline double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = a.to_vector<double>(), right = b.to_vector<double>();
  double largest = 0;
  for (size_t at = 0; at < left.size(); ++at) {
    largest = std::max(largest, difference_of(left[at], right[at]));
  }
  return largest;
}

/// Fails the test unless type, shape and every element are equal.
inline void expect_equal(const Tensor& actual, const Tensor& expected, const std::string& what) {
  EXPECT_EQ(actual.dtype(), expected.dtype()) << what;
  expect_close(actual, expected, 0, what);
}

}  // namespace heed
