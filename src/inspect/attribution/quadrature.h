// Gauss-Legendre quadrature on an interval: exact for polynomials of degree below twice the number of nodes
// (Abramowitz and Stegun, "Handbook of mathematical functions", 1964, 25.4.30).
#pragma once

#include <array>

namespace heed {

struct QuadratureNode {
  double position = 0, weight = 0;  ///< on [-1, 1]
};

/// An odd number, so that the middle of the interval is a node.
inline constexpr std::array<QuadratureNode, 5> kGaussLegendre{{{-0.9061798459386640, 0.2369268850561891},
                                                               {-0.5384693101056831, 0.4786286704993665},
                                                               {0, 0.5688888888888889},
                                                               {0.5384693101056831, 0.4786286704993665},
                                                               {0.9061798459386640, 0.2369268850561891}}};
inline constexpr size_t kMiddleNode = 2;

}  // namespace heed
