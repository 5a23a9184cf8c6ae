// heed/positions.h: the sinusoids themselves, and the others over the functions of this folder.
#include <cmath>
#include <vector>

#include "base/check.h"
#include "heed/positions.h"
#include "nn/relative_positions.h"

namespace heed {

Tensor sinusoidal_positions(int64_t length, int64_t width, SinusoidLayout layout, DType dtype) {
  if (length < 0 || width < 1) {
    fail(ErrorKind::kShape, "sinusoidal_positions: a length of {} and a width of {} make no table", length,
         width);
  }
  // sin((i + 1) w) = sin(i w) cos(w) + cos(i w) sin(w), and likewise the cosine: a fraction of the time, and
  // begun anew so often that the roundings of a double stay far below what a float shows.
  const int64_t exact_every = dtype == DType::kFloat64 ? 1 : 32;
  const int64_t sines = (width + 1) / 2;
  const bool halves = layout == SinusoidLayout::kHalves;
  std::vector<double> table(static_cast<size_t>(length * width));
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
  return Tensor::from(table, {length, width}).to(dtype);
}

Tensor rotate_positions(const Tensor& x, const PositionOptions& options, int64_t first) {
  if (options.kind != PositionKind::kRotary && options.kind != PositionKind::kRotaryInterleaved) {
    fail(ErrorKind::kUsage, "rotate_positions: the kind must be kRotary or kRotaryInterleaved");
  }
  if (x.rank() < 2) {
    fail(ErrorKind::kShape, "rotate_positions: x must be (..., T, d_k), not {}", x.shape().to_string());
  }
  const int64_t length = x.dim(-2), rows = x.dim(-1) > 0 ? x.size() / x.dim(-1) : 0;
  std::vector<int32_t> places;
  for (int64_t row = 0; row < rows; ++row) places.push_back(static_cast<int32_t>(first + row % length));
  const auto angles = nn::rotary_angles(options, places, x.dim(-1), x.dtype());
  const Tensor whole = x.is_contiguous() ? x : x.clone();
  return ops::rotate(whole, x.dim(-1), *angles).value();
}

Tensor distance_rows(const PositionOptions& options, int64_t queries, int64_t keys) {
  const ops::Distances distances = nn::distances_of(options);
  if (!distances.defined()) {
    fail(ErrorKind::kUsage, "distance_rows: the kind must be kRelative or kBuckets");
  }
  if (queries < 0 || keys < 0) {
    fail(ErrorKind::kShape, "distance_rows: there cannot be {} queries and {} keys", queries, keys);
  }
  Tensor rows = Tensor::empty({queries, keys}, DType::kInt32);
  for (int64_t q = 0; q < queries; ++q) {
    for (int64_t k = 0; k < keys; ++k) {
      rows.data<int32_t>()[q * keys + k] = distances.row(k - q - (keys - queries));
    }
  }
  return rows;
}

}  // namespace heed
