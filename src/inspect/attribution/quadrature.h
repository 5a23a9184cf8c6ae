// The integral of the derivatives of f along a path, token by token, where the integral of their sum is
// known: it is the change of f.
//
// f of a Transformer along the path rises in steps that can be as short as a thousandth of it, at places that
// differ from token to token of a sentence, so equal intervals waste most derivatives on stretches where
// nothing happens. Since f itself costs much less than its derivatives, it is sampled first. Where the
// samples lie on a polynomial, Gauss-Legendre quadrature is exact. Otherwise the path is cut into intervals
// on which f changes by as much, a node in the middle of each, and those that matter and are not yet right
// are divided.
//
// What the sum of the products still differs from the change of f is corrected by regression (a control
// variate): the products G_j of token j at the nodes k, with weights w_k and sum s_k = sum_j G_jk, give
//
//   value_j = sum_k w_k G_jk + beta_j (change - sum_k w_k s_k),  beta_j = sum_k w_k G_jk s_k / sum_k w_k
//   s_k^2
//
// and the values sum to the change of f.
#pragma once

#include <vector>

namespace heed {

/// The positions, from 0 to 1, at which PathQuadrature takes samples of f.
std::vector<double> path_samples();

/// The quadrature of one prediction.
class PathQuadrature {
 public:
  /// `samples`: f at path_samples(). `tolerance`: AttributionOptions::tolerance.
  PathQuadrature(std::vector<double> samples, double tolerance);

  /// The positions at which the derivatives are wanted next; none: the quadrature is complete.
  std::vector<double> wanted() const;
  /// The products of all tokens at these positions.
  void add(std::vector<std::vector<double>> products);

  /// f(1) - f(0).
  double change() const { return samples_.back() - samples_.front(); }
  /// The values of the tokens.
  std::vector<double> values() const;
  int evaluations() const { return evaluations_; }

 private:
  struct Node {
    double position = 0, weight = 0;
    std::vector<double> products{};  ///< empty: wanted
    double sum() const;
  };

  double sample_at(double position) const;
  void divide();

  std::vector<double> samples_;
  double tolerance_;
  bool divides_ = true;
  int evaluations_ = 0;
  std::vector<Node> nodes_;  // in the order of the path; where it divides, each in the middle of its interval
};

}  // namespace heed
