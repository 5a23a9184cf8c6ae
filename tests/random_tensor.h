// Reproducible random tensors for tests.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "heed/tensor.h"

namespace heed {

/// Generates a sequence of different tensors.
class TensorSource {
 public:
  explicit TensorSource(uint64_t seed) : random_(RandomKey::from_seed(seed)) {}

  /// Normally distributed, float64 by default.
  Tensor normal(const Shape& shape, DType dtype = DType::kFloat64, double deviation = 1) {
    std::vector<double> values(static_cast<size_t>(shape.size()));
    for (double& value : values) value = deviation * random_.normal();
    return Tensor::from(values, shape).to(dtype);
  }
  /// Integers in [0, bound).
  Tensor ids(const Shape& shape, int64_t bound) {
    std::vector<int32_t> values(static_cast<size_t>(shape.size()));
    for (int32_t& value : values) value = static_cast<int32_t>(random_.below(static_cast<uint64_t>(bound)));
    return Tensor::from(values, shape);
  }
  /// 1 with the given probability, else 0; uint8.
  Tensor mask(const Shape& shape, double probability = 0.5) {
    std::vector<uint8_t> values(static_cast<size_t>(shape.size()));
    for (uint8_t& value : values) value = random_.uniform() < probability ? 1 : 0;
    return Tensor::from(values, shape);
  }
  /// Uniform in [low, high].
  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_.below(static_cast<uint64_t>(high - low + 1)));
  }
  Random& random() { return random_; }

 private:
  Random random_;
};

}  // namespace heed
