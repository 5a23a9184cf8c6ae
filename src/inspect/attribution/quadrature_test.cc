#include "inspect/attribution/quadrature.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace heed {
namespace {

/// A token: its product along the path, and the integral of that from 0.
struct Token {
  std::function<double(double)> product, integral;
};

/// A step of a height at a place, that takes about 4 `width`.
Token step(double place, double width, double height) {
  return {[=](double x) {
            const double t = std::tanh((x - place) / width);
            return height / (2 * width) * (1 - t * t);
          },
          [=](double x) { return height / 2 * (std::tanh((x - place) / width) + std::tanh(place / width)); }};
}

PathQuadrature quadrature_of(const std::vector<Token>& tokens, double tolerance) {
  std::vector<double> samples;
  for (const double x : path_samples()) {
    samples.push_back(0);
    for (const Token& token : tokens) samples.back() += token.integral(x);
  }
  PathQuadrature quadrature(samples, tolerance);
  for (std::vector<double> wanted = quadrature.wanted(); !wanted.empty(); wanted = quadrature.wanted()) {
    std::vector<std::vector<double>> products;
    for (const double x : wanted) {
      products.emplace_back();
      for (const Token& token : tokens) products.back().push_back(token.product(x));
    }
    quadrature.add(products);
  }
  return quadrature;
}

/// The largest difference of a value from the integral, as a share of the sum of all magnitudes.
double largest_error(const PathQuadrature& quadrature, const std::vector<Token>& tokens) {
  const std::vector<double> values = quadrature.values();
  double largest = 0, total = 0;
  for (size_t n = 0; n < tokens.size(); ++n) {
    largest = std::max(largest, std::abs(values[n] - tokens[n].integral(1)));
    total += std::abs(tokens[n].integral(1));
  }
  return largest / total;
}

double sum_of(const PathQuadrature& quadrature) {
  const std::vector<double> values = quadrature.values();
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(PathQuadrature, IsExactForPolynomials) {
  const std::vector<Token> tokens{
      {[](double x) { return 4 * x * x * x; }, [](double x) { return std::pow(x, 4); }},
      {[](double x) { return 2 - 6 * x; }, [](double x) { return 2 * x - 3 * x * x; }}};
  const PathQuadrature quadrature = quadrature_of(tokens, 0.04);
  EXPECT_EQ(quadrature.evaluations(), 5);
  EXPECT_LT(largest_error(quadrature, tokens), 1e-12);
  EXPECT_EQ(quadrature.change(), 0);
}

/// Steps shorter than the distance of the samples are found, the shorter the more nodes it takes.
TEST(PathQuadrature, FindsSteps) {
  const auto steps = [](double width) {
    return std::vector<Token>{step(0.237, width, 5), step(0.31, width / 2, 3), step(0.64, 2 * width, -2),
                              step(0.3, 0.2, 1)};
  };
  const std::vector<Token> tokens = steps(0.01), short_ones = steps(0.002);
  const PathQuadrature quadrature = quadrature_of(tokens, 0.04), finer = quadrature_of(short_ones, 0.002);
  EXPECT_NEAR(sum_of(quadrature), quadrature.change(), 1e-9);
  EXPECT_LT(largest_error(quadrature, tokens), 0.05);
  EXPECT_LT(quadrature.evaluations(), 80);
  EXPECT_LT(largest_error(finer, short_ones), 0.01);
  EXPECT_GT(finer.evaluations(), quadrature.evaluations());
}

/// Two tokens work against each other, so that their sum says little.
TEST(PathQuadrature, OppositeTokens) {
  const std::vector<Token> tokens{step(0.4, 0.05, 5), step(0.6, 0.05, -4.5), step(0.5, 0.3, 0.2)};
  EXPECT_LT(largest_error(quadrature_of(tokens, 0.04), tokens), 0.03);
}

/// Where nothing depends on the path, there is nothing to correct by.
TEST(PathQuadrature, Nothing) {
  const Token nothing{[](double) { return 0; }, [](double) { return 0; }};
  EXPECT_EQ(quadrature_of({nothing, nothing}, 0.04).values(), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace heed
