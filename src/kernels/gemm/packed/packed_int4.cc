#include "kernels/gemm/packed/packed_int4.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/gemm/blocking.h"
#include "kernels/simd/simd.h"
#include "tensor/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/packed/packed_int4.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/packed/add_bias-inl.h"
#include "kernels/gemm/packed/int4_group-inl.h"
#include "kernels/gemm/packed/quantize_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Rows of x in groups, (groups, rows, kInt4Group): those of a group are used together.
class QuantizedGroups {
 public:
  QuantizedGroups(const PackedInt4Arguments& a, int64_t m0, int64_t rows) : rows_(rows) {
    const int64_t groups = a.in / kInt4Group;
    values_ = buffer<int8_t>(rows * a.in);
    scales_ = buffer<Scale>(rows * groups);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t group = 0; group < groups; ++group) {
        quantize(a.x + (m0 + row) * a.in + group * kInt4Group, group * rows + row);
      }
    }
  }

  struct Scale {
    float scale;  ///< 0 for a group of zeros, NaN for one that contains NaN or infinity
    float sum;    ///< of the integers
  };
  /// (rows, kInt4Group), and (rows).
  const int8_t* values(int64_t group) const { return values_ + group * rows_ * kInt4Group; }
  const Scale* scales(int64_t group) const { return scales_ + group * rows_; }

 private:
  void quantize(const float* x, int64_t index) {
    const float most = largest(x, kInt4Group);
    const bool finite = most <= std::numeric_limits<float>::max();
    const float scale = finite && most >= kSmallest ? most / 127 : 0;
    int8_t* const values = values_ + index * kInt4Group;
    if (scale == 0) {
      std::fill_n(values, kInt4Group, int8_t{0});
    } else {
      round_row(x, kInt4Group, {.factor = 1 / scale}, ByteRow{values});
    }
    int32_t sum = 0;
    for (int64_t i = 0; i < kInt4Group; ++i) sum += values[i];
    scales_[index] = {finite ? scale : std::numeric_limits<float>::quiet_NaN(), static_cast<float>(sum)};
  }

  /// Of this thread.
  template <typename T>
  static T* buffer(int64_t size) {
    thread_local std::vector<T, PoolAllocator<T>> elements;
    elements.resize(std::max(elements.size(), static_cast<size_t>(size)));
    return elements.data();
  }

  int8_t* values_;
  Scale* scales_;
  int64_t rows_;
};

/// Adds the products with a group of a panel to c (rows, kPanelWidth). Compiled without FMA contraction: see
/// CMakeLists.txt.
template <class Group>
HWY_INLINE void add_group(const QuantizedGroups& x, int64_t group, int64_t rows, const uint8_t* panel,
                          float* c) {
  using Floats = hn::RebindToFloat<typename Group::Sums>;
  const Floats d;
  const hn::Rebind<hwy::float16_t, Floats> halves;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(Floats()));
  const auto* const scales = reinterpret_cast<const hwy::float16_t*>(panel);
  const auto* const minima = reinterpret_cast<const hwy::float16_t*>(panel + kInt4ScaleBytes);
  const uint8_t* const dwords = panel + 2 * kInt4ScaleBytes;
  for (int64_t n = 0; n < kPanelWidth; n += kLanes) {
    const auto scale = hn::PromoteTo(d, hn::LoadU(halves, scales + n));
    const auto minimum = hn::PromoteTo(d, hn::LoadU(halves, minima + n));
    const Group weights(dwords + n * kPanelDepth);
    const int8_t* values = x.values(group);
    float* at = c + n;
    for (int64_t row = 0; row < rows; ++row, at += kPanelWidth, values += kInt4Group) {
      const QuantizedGroups::Scale of_x = x.scales(group)[row];
      const auto products = hn::Mul(hn::ConvertTo(d, weights.dot(values)), scale);
      const auto both = hn::Add(products, hn::Mul(hn::Set(d, of_x.sum), minimum));
      hn::StoreU(hn::Add(hn::LoadU(d, at), hn::Mul(both, hn::Set(d, of_x.scale))), d, at);
    }
  }
}

/// Prefetches a group that is used kGroupsAhead later. With few rows a product waits for its weights, and the
/// hardware prefetcher begins anew in each page.
constexpr int64_t kGroupsAhead = 4;
HWY_INLINE void prefetch_group(const uint8_t* panel) {
  for (int64_t at = 0; at < kInt4GroupBytes; at += kCacheLineBytes) __builtin_prefetch(panel + at, 0, 2);
}

template <class Group>
HWY_INLINE void multiply_groups(const PackedInt4Arguments& a) {
  alignas(64) float c[kPackedMc * kPanelWidth];
  const int64_t groups = a.in / kInt4Group;
  const int64_t mc = std::clamp<int64_t>(kPackedL2Bytes / std::max<int64_t>(1, a.in), 1, kPackedMc);
  for (int64_t m0 = 0; m0 < a.rows; m0 += mc) {
    const int64_t rows = std::min(mc, a.rows - m0);
    const QuantizedGroups x(a, m0, rows);
    const uint8_t* panel = a.panels;
    int64_t groups_left = groups * ((a.out + kPanelWidth - 1) / kPanelWidth);
    for (int64_t n = 0; n < a.out; n += kPanelWidth) {
      std::fill_n(c, rows * kPanelWidth, 0.0f);
      for (int64_t group = 0; group < groups; ++group, panel += kInt4GroupBytes, --groups_left) {
        if (groups_left > kGroupsAhead) prefetch_group(panel + kGroupsAhead * kInt4GroupBytes);
        add_group<Group>(x, group, rows, panel, c);
      }
      add_bias(a, m0, rows, n, c);
    }
  }
}

void multiply_packed_int4(const PackedInt4Arguments& a) {
#if HEED_VNNI
  if (internal::has_vnni()) return multiply_groups<UnpackedInt4Group<true>>(a);
#endif
  multiply_groups<DefaultInt4Group>(a);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {

HEED_EXPORT(multiply_packed_int4);

void multiply_packed_int4(const PackedInt4Arguments& arguments) {
  HEED_CHECK(arguments.in % kInt4Group == 0);
  HEED_SELECT(multiply_packed_int4)(arguments);
}

namespace {

constexpr int kMostInt4 = 15;

/// How a group of weights is quantized.
struct Int4Range {
  uint16_t scale = 0, minimum = 0;  ///< float16
  float factor = 0, shift = 0;      ///< q = w factor + shift, rounded

  Int4Range(float low, float high)
      : scale(float_to_half((high - low) * (1.0f / kMostInt4))), minimum(float_to_half(low)) {
    const float step = half_to_float(scale);
    if (step == 0) return;
    factor = 1 / step;
    shift = -half_to_float(minimum) * factor;
  }
  /// w is near the range, so that the integer is small.
  int code(float w) const {
    const float nearest = w * factor + (shift + 0.5f);
    return static_cast<int>(std::clamp(nearest, 0.0f, kMostInt4 + 0.5f));
  }
  double squared_error(const float* x) const {
    const float step = half_to_float(scale), lowest = half_to_float(minimum);
    float sum = 0;
    for (int64_t i = 0; i < kInt4Group; ++i) {
      const float error = static_cast<float>(code(x[i])) * step + lowest - x[i];
      sum += error * error;
    }
    return sum;
  }
};

Int4Range best_range(const float* x) {
  constexpr float kTaken[] = {0, 0.025f, 0.05f, 0.075f, 0.1f};  // from each end
  const auto [low, high] = std::minmax_element(x, x + kInt4Group);
  const float width = *high - *low;
  Int4Range best(*low, *high);
  double least_error = std::numeric_limits<double>::infinity();
  for (const float taken : kTaken) {
    const Int4Range range(*low + taken * width, *high - taken * width);
    const double error = range.squared_error(x);
    if (error >= least_error) continue;
    best = range;
    least_error = error;
  }
  return best;
}

}  // namespace

void quantize_weights_int4(const float* x, int64_t rows, int64_t columns, const Int4Rows& to) {
  HEED_CHECK(columns % kInt4Group == 0);
  uint8_t* values = to.values;
  for (int64_t group = 0; group < rows * columns / kInt4Group; ++group, x += kInt4Group) {
    const Int4Range range = best_range(x);
    to.scales[group] = range.scale;
    to.minima[group] = range.minimum;
    for (int64_t i = 0; i < kInt4Group; i += 2) {
      *values++ = static_cast<uint8_t>(range.code(x[i]) | range.code(x[i + 1]) << 4);
    }
  }
}

void dequantize_int4(const Int4Rows& from, int64_t rows, int64_t columns, float* x) {
  const uint8_t* values = from.values;
  for (int64_t group = 0; group < rows * columns / kInt4Group; ++group) {
    const float scale = half_to_float(from.scales[group]), minimum = half_to_float(from.minima[group]);
    for (int64_t i = 0; i < kInt4Group; i += 2, ++values) {
      *x++ = static_cast<float>(*values & 15) * scale + minimum;
      *x++ = static_cast<float>(*values >> 4) * scale + minimum;
    }
  }
}

int64_t int4_panel_bytes(int64_t out, int64_t in) {
  return padded_n(out) / kPanelWidth * (in / kInt4Group) * kInt4GroupBytes;
}

void pack_b_int4(const Int4Rows& weights, int64_t out, int64_t in, uint8_t* panels) {
  const int64_t groups = in / kInt4Group;
  std::fill_n(panels, int4_panel_bytes(out, in), uint8_t{0});
  for (int64_t row = 0; row < out; ++row) {
    const int64_t column = row % kPanelWidth;
    uint8_t* panel = panels + row / kPanelWidth * groups * kInt4GroupBytes;
    for (int64_t group = row * groups; group < (row + 1) * groups; ++group, panel += kInt4GroupBytes) {
      reinterpret_cast<uint16_t*>(panel)[column] = weights.scales[group];
      reinterpret_cast<uint16_t*>(panel + kInt4ScaleBytes)[column] = weights.minima[group];
      const uint8_t* const values = weights.values + group * kInt4Group / 2;
      const auto code = [&](int64_t i) { return values[i / 2] >> i % 2 * 4 & 15; };
      for (int64_t i = 0; i < kInt4Group / 2; ++i) {
        // Byte j of dword n has k = 8 n + j and k = 8 n + j + 4.
        const int64_t n = i / kPanelDepth, j = i % kPanelDepth, k = 2 * kPanelDepth * n + j;
        panel[2 * kInt4ScaleBytes + (n * kPanelWidth + column) * kPanelDepth + j] =
            static_cast<uint8_t>(code(k) | code(k + kPanelDepth) << 4);
      }
    }
  }
}

}  // namespace heed
#endif
