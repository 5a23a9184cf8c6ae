// heed/positions.h, over the functions of src/nn.
#include <limits>
#include <vector>

#include "base/check.h"
#include "heed/positions.h"
#include "nn/positions/relative_positions.h"
#include "nn/positions/sinusoids.h"

namespace heed {

Tensor sinusoidal_positions(int64_t length, int64_t width, SinusoidLayout layout, DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kFloat16:
    case DType::kBFloat16:
      return nn::sinusoid_table(length, width, layout, dtype);
    default:
      fail(ErrorKind::kUsage, "sinusoidal_positions: sines cannot be {}, use a floating-point type",
           name_of(dtype));
  }
}

Tensor rotate_positions(const Tensor& x, const PositionOptions& options, int64_t first) {
  if (options.kind != PositionKind::kRotary && options.kind != PositionKind::kRotaryInterleaved) {
    fail(ErrorKind::kUsage, "rotate_positions: the kind must be kRotary or kRotaryInterleaved");
  }
  if (x.rank() < 2) {
    fail(ErrorKind::kShape, "rotate_positions: x must be (..., T, d_k), not {}", x.shape().to_string());
  }
  const int64_t length = x.dim(-2), rows = x.dim(-1) > 0 ? x.size() / x.dim(-1) : 0;
  constexpr int64_t kMaxPosition = std::numeric_limits<int32_t>::max();
  if (first < -kMaxPosition || first > kMaxPosition - length) {
    fail(ErrorKind::kUsage, "rotate_positions: positions from {} on are beyond 32 bits", first);
  }
  std::vector<int32_t> positions;
  for (int64_t row = 0; row < rows; ++row) positions.push_back(static_cast<int32_t>(first + row % length));
  const auto angles = nn::rotary_angles(options, positions, x.dim(-1), x.dtype());
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
