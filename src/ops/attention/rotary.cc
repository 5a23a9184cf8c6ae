#include "ops/attention/rotary.h"

#include <cmath>

#include "ops/dispatch.h"

namespace heed::ops {

RotaryAngles rotary_angles(const std::vector<int32_t>& positions, const RotaryOptions& options) {
  const std::vector<double> frequencies =
      rotary_frequencies(options.head_width, options.base, options.scaling);
  const double amplitude = options.scaling.kind == RotaryScaling::Kind::kYarn ? options.scaling.amplitude : 1;
  const Shape shape{static_cast<int64_t>(positions.size()), options.head_width / 2};
  RotaryAngles angles{Tensor::empty(shape, options.dtype), Tensor::empty(shape, options.dtype),
                      options.layout};
  for_float_type("rotary_angles", angles.cosines, [&]<typename T>(T) {
    T* cosine = angles.cosines.data<T>();
    T* sine = angles.sines.data<T>();
    for (const int32_t position : positions) {
      for (const double frequency : frequencies) {
        const double angle = position * frequency;
        *cosine++ = static_cast<T>(amplitude * std::cos(angle));
        *sine++ = static_cast<T>(amplitude * std::sin(angle));
      }
    }
  });
  return angles;
}

namespace {

/// y = x, rotated; `direction` -1 is the inverse rotation, which is also the gradient.
template <typename T>
void turn(const Tensor& x, int64_t turned, const RotaryAngles& angles, T direction, Tensor& y) {
  const int64_t width = x.dim(-1), pairs = angles.cosines.dim(1);
  const bool halves = angles.layout == RotaryLayout::kHalves;
  const int64_t next = halves ? 1 : 2, other = halves ? pairs : 1;  // steps to the next pair, within a pair
  for (int64_t row = 0; row < rows_of(x); ++row) {
    const T* from = x.data<T>() + row * width;
    T* to = y.data<T>() + row * width;
    const T* cosine = angles.cosines.data<T>() + row * pairs;
    const T* sine = angles.sines.data<T>() + row * pairs;
    for (int64_t head = 0; head < turned; head += 2 * pairs) {
      for (int64_t k = 0; k < pairs; ++k) {
        const int64_t first = head + k * next, second = first + other;
        const T a = from[first], b = from[second], s = direction * sine[k];
        to[first] = a * cosine[k] - b * s;
        to[second] = a * s + b * cosine[k];
      }
    }
    for (int64_t c = turned; c < width; ++c) to[c] = from[c];
  }
}

Tensor turned_by(const Tensor& x, int64_t turned, const RotaryAngles& angles, int direction) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for_float_type("rotate", x,
                 [&]<typename T>(T) { turn<T>(x, turned, angles, static_cast<T>(direction), y); });
  return y;
}

}  // namespace

Var rotate(const Var& x, int64_t turned, const RotaryAngles& angles) {
  require_rows("rotate", x.value());
  require_same_type("rotate", x.value(), angles.cosines);
  if (turned < 0 || turned > x.dim(-1) || turned % (2 * angles.cosines.dim(1)) != 0 ||
      angles.cosines.dim(0) != rows_of(x.value())) {
    fail(ErrorKind::kShape, "rotate: angles of {} do not fit the first {} columns of x {}",
         angles.cosines.shape().to_string(), turned, x.shape().to_string());
  }
  const Tensor y = turned_by(x.value(), turned, angles, 1);
  if (!x.wants_gradient()) return y;
  return x.tape()->record(y, [x, turned, angles](const Tensor& dy) {
    x.tape()->add_gradient(x, turned_by(dy, turned, angles, -1));
  });
}

}  // namespace heed::ops
