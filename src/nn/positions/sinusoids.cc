#include "nn/positions/sinusoids.h"

#include <cmath>
#include <vector>

#include "base/check.h"

namespace heed::nn {

Tensor sinusoid_table(int64_t length, int64_t width, SinusoidLayout layout, DType dtype) {
  if (length < 0 || width < 1) {
    fail(ErrorKind::kShape, "sinusoidal_positions: a length of {} and a width of {} make no table", length,
         width);
  }
  const Shape shape{length, width};  // throws where the table would be larger than any memory
  // sin((i + 1) w) = sin(i w) cos(w) + cos(i w) sin(w), and likewise the cosine, which is faster than sin()
  // and cos(); restarted from these every 32 rows, so that the rounding errors stay far below float32's.
  const int64_t exact_every = dtype == DType::kFloat64 ? 1 : 32;
  const int64_t sines = (width + 1) / 2;
  const bool halves = layout == SinusoidLayout::kHalves;
  std::vector<double> table(static_cast<size_t>(shape.size()));
  for (int64_t k = 0; k < sines; ++k) {
    const double frequency = std::pow(10000.0, -2.0 * static_cast<double>(k) / static_cast<double>(width));
    const double step_sine = std::sin(frequency), step_cosine = std::cos(frequency);
    const int64_t sine_at = halves ? k : 2 * k, cosine_at = halves ? sines + k : 2 * k + 1;
    double sine = 0, cosine = 1;
    for (int64_t i = 0; i < length; ++i) {
      if (i % exact_every == 0) {
        sine = std::sin(static_cast<double>(i) * frequency);
        cosine = std::cos(static_cast<double>(i) * frequency);
      }
      table[i * width + sine_at] = sine;
      if (cosine_at < width) table[i * width + cosine_at] = cosine;
      const double next = sine * step_cosine + cosine * step_sine;
      cosine = cosine * step_cosine - sine * step_sine;
      sine = next;
    }
  }
  return Tensor::from(table, shape).to(dtype);
}

Tensor fairseq_sinusoid_table(int64_t length, int64_t width, DType dtype, int64_t first) {
  if (length < 0 || width < 4) {
    fail(ErrorKind::kShape, "sinusoidal_positions: a length of {} and a width of {} make no table", length,
         width);
  }
  const int64_t half = width / 2;
  const auto step = static_cast<float>(std::log(10000.0) / static_cast<double>(half - 1));
  std::vector<double> table(static_cast<size_t>(length * width));
  for (int64_t k = 0; k < half; ++k) {
    const float frequency = std::exp(static_cast<float>(k) * -step);
    for (int64_t i = 0; i < length; ++i) {
      const double angle = static_cast<float>(first + i) * frequency;
      table[i * width + k] = std::sin(angle);
      table[i * width + half + k] = std::cos(angle);
    }
  }
  return Tensor::from(table, {length, width}).to(dtype);
}

}  // namespace heed::nn
