#include "inspect/attribution/quadrature.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace heed {
namespace {

constexpr size_t kSamples = 33;
/// Of the measure by which intervals are equal: the rest is the variation of f.
constexpr double kShareOfLength = 0.2;
constexpr size_t kFirstIntervals = 9, kMostIntervals = 1000;
/// By how much the products on an interval are expected to vary, as a share of their magnitude.
constexpr double kVariation = 0.3;
/// Samples are a polynomial if they differ from it by at most this share of the tolerance of the change of f,
/// or of kLeastChange.
constexpr double kPolynomialShare = 1.0 / 40, kLeastChange = 0.1;

struct GaussNode {
  double position = 0, weight = 0;  ///< on [-1, 1]
};

/// Gauss-Legendre quadrature: exact for polynomials of degree below twice the number of nodes (Abramowitz and
/// Stegun, "Handbook of mathematical functions", 1964, 25.4.30).
constexpr std::array<GaussNode, 5> kGaussLegendre{{{-0.9061798459386640, 0.2369268850561891},
                                                   {-0.5384693101056831, 0.4786286704993665},
                                                   {0, 0.5688888888888889},
                                                   {0.5384693101056831, 0.4786286704993665},
                                                   {0.9061798459386640, 0.2369268850561891}}};

double sample_position(size_t n) {
  return static_cast<double>(n) / static_cast<double>(kSamples - 1);
}

/// Whether the samples lie on the polynomial of degree 8 through those next to Chebyshev points (barycentric
/// interpolation).
bool is_polynomial(const std::vector<double>& samples, double tolerance) {
  constexpr size_t kPoints = 9;
  std::array<size_t, kPoints> points{};
  std::array<double, kPoints> weights{};
  for (size_t i = 0; i < kPoints; ++i) {
    const double angle = std::numbers::pi * static_cast<double>(i) / (kPoints - 1);
    points[i] = static_cast<size_t>(std::lround((kSamples - 1) * (1 - std::cos(angle)) / 2));
  }
  for (size_t i = 0; i < kPoints; ++i) {
    double product = 1;
    for (size_t j = 0; j < kPoints; ++j) {
      if (j != i) product *= sample_position(points[i]) - sample_position(points[j]);
    }
    weights[i] = 1 / product;
  }
  const double allowed =
      kPolynomialShare * tolerance * std::max(std::abs(samples.back() - samples.front()), kLeastChange);
  for (size_t n = 0; n < kSamples; ++n) {
    if (std::ranges::count(points, n) > 0) continue;
    double numerator = 0, denominator = 0;
    for (size_t i = 0; i < kPoints; ++i) {
      const double term = weights[i] / (sample_position(n) - sample_position(points[i]));
      numerator += term * samples[points[i]];
      denominator += term;
    }
    if (std::abs(numerator / denominator - samples[n]) > allowed) return false;
  }
  return true;
}

/// The ends of `count` intervals on which f changes by as much, save for kShareOfLength.
std::vector<double> equal_intervals(const std::vector<double>& samples, size_t count) {
  double variation = 0;
  for (size_t n = 1; n < kSamples; ++n) variation += std::abs(samples[n] - samples[n - 1]);
  std::vector<double> ends{0};
  double before = 0;  // of the whole measure, 1, what is behind sample n - 1
  for (size_t n = 1; n < kSamples; ++n) {
    const double measure = (1 - kShareOfLength) * std::abs(samples[n] - samples[n - 1]) / variation +
                           kShareOfLength / static_cast<double>(kSamples - 1);
    while (ends.size() < count) {
      const double part = (static_cast<double>(ends.size()) / static_cast<double>(count) - before) / measure;
      if (part > 1) break;
      ends.push_back(sample_position(n - 1) + part * (sample_position(n) - sample_position(n - 1)));
    }
    before += measure;
  }
  ends.push_back(1);
  return ends;
}

double magnitude(const std::vector<double>& products) {
  double sum = 0;
  for (const double each : products) sum += std::abs(each);
  return sum;
}

}  // namespace

std::vector<double> path_samples() {
  std::vector<double> positions;
  for (size_t n = 0; n < kSamples; ++n) positions.push_back(sample_position(n));
  return positions;
}

double PathQuadrature::Node::sum() const {
  return std::accumulate(products.begin(), products.end(), 0.0);
}

PathQuadrature::PathQuadrature(std::vector<double> samples, double tolerance)
    : samples_(std::move(samples)), tolerance_(tolerance) {
  HEED_CHECK(samples_.size() == kSamples);
  if (is_polynomial(samples_, tolerance)) {
    divides_ = false;
    for (const GaussNode& node : kGaussLegendre) {
      nodes_.push_back({.position = (1 + node.position) / 2, .weight = node.weight / 2});
    }
    return;
  }
  const std::vector<double> ends = equal_intervals(samples_, kFirstIntervals);
  for (size_t n = 0; n < kFirstIntervals; ++n) {
    nodes_.push_back({.position = (ends[n] + ends[n + 1]) / 2, .weight = ends[n + 1] - ends[n]});
  }
}

double PathQuadrature::sample_at(double position) const {
  const double scaled = position * static_cast<double>(kSamples - 1);
  const size_t n = std::min(static_cast<size_t>(std::max(scaled, 0.0)), kSamples - 2);
  return samples_[n] + (scaled - static_cast<double>(n)) * (samples_[n + 1] - samples_[n]);
}

std::vector<double> PathQuadrature::wanted() const {
  std::vector<double> positions;
  for (const Node& node : nodes_) {
    if (node.products.empty()) positions.push_back(node.position);
  }
  return positions;
}

void PathQuadrature::add(std::vector<std::vector<double>> products) {
  auto next = products.begin();
  for (Node& node : nodes_) {
    if (node.products.empty()) node.products = std::move(*next++);
  }
  HEED_CHECK(next == products.end());
  evaluations_ += static_cast<int>(products.size());
  if (divides_) divide();
}

/// An interval is divided into three, whose middle one keeps the node.
void PathQuadrature::divide() {
  double total = 0;
  for (const Node& node : nodes_) total += node.weight * magnitude(node.products);
  std::vector<Node> divided;
  for (Node& node : nodes_) {
    const double change =
        sample_at(node.position + node.weight / 2) - sample_at(node.position - node.weight / 2);
    const double error =
        std::abs(change - node.weight * node.sum()) + kVariation * node.weight * magnitude(node.products);
    if (error <= tolerance_ * total || nodes_.size() >= kMostIntervals) {
      divided.push_back(std::move(node));
      continue;
    }
    const double third = node.weight / 3;
    divided.push_back({.position = node.position - third, .weight = third});
    divided.push_back({.position = node.position, .weight = third, .products = std::move(node.products)});
    divided.push_back({.position = node.position + third, .weight = third});
  }
  nodes_ = std::move(divided);
}

std::vector<double> PathQuadrature::values() const {
  std::vector<double> values(nodes_.front().products.size()), slopes(values.size());
  double squares = 0, sum = 0;
  for (const Node& node : nodes_) {
    const double node_sum = node.sum();
    for (size_t j = 0; j < values.size(); ++j) {
      values[j] += node.weight * node.products[j];
      slopes[j] += node.weight * node.products[j] * node_sum;
    }
    squares += node.weight * node_sum * node_sum;
    sum += node.weight * node_sum;
  }
  if (squares == 0) return values;
  for (size_t j = 0; j < values.size(); ++j) values[j] += slopes[j] / squares * (change() - sum);
  return values;
}

}  // namespace heed
