#include "nn/positions.h"

#include <cmath>
#include <vector>

namespace heed::nn {

Tensor sinusoidal_positions(int64_t count, int64_t width, SinusoidLayout layout, DType dtype) {
  const int64_t sines = (width + 1) / 2;
  std::vector<double> table(static_cast<size_t>(count * width));
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < sines; ++k) {
      const double angle = static_cast<double>(i) /
                           std::pow(10000.0, 2.0 * static_cast<double>(k) / static_cast<double>(width));
      const bool halves = layout == SinusoidLayout::kHalves;
      const int64_t sine_at = halves ? k : 2 * k, cosine_at = halves ? sines + k : 2 * k + 1;
      table[i * width + sine_at] = std::sin(angle);
      if (cosine_at < width) table[i * width + cosine_at] = std::cos(angle);
    }
  }
  return Tensor::from(table, {count, width}).to(dtype);
}

}  // namespace heed::nn
