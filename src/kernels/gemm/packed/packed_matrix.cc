#include "kernels/gemm/packed/packed_matrix.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/computed_later.h"
#include "base/memory_pool.h"
#include "kernels/gemm/blocking.h"
#include "kernels/gemm/half/half_product.h"
#include "kernels/gemm/packed/packed_bf16.h"
#include "kernels/gemm/packed/packed_f32.h"
#include "kernels/gemm/packed/packed_int8.h"
#include "kernels/gemm/packed/packed_int8_slices.h"
#include "kernels/gemm/selected_product.h"

namespace heed {
namespace {

template <typename T>
using PoolVector = std::vector<T, PoolAllocator<T>>;

/// Uninitialized by resize() and the constructor from a size: for what is written whole right after.
template <typename T>
struct UninitializedAllocator : PoolAllocator<T> {
  template <typename U>
  struct rebind {  // NOLINT(readability-identifier-naming): of the standard library
    using other = UninitializedAllocator<U>;
  };
  void construct(T*) {}
};

/// A number for each output, padded with zeros to whole panels.
PoolVector<float> padded_copy(const float* row, int64_t out) {
  if (row == nullptr) return {};
  PoolVector<float> padded(row, row + out);
  padded.resize(static_cast<size_t>(padded_n(out)));
  return padded;
}

/// A buffer of this thread; one for each type and number. Zero at first.
template <typename T, int kNumber = 0>
T* scratch(int64_t size) {
  thread_local PoolVector<T> buffer;
  buffer.resize(std::max(buffer.size(), static_cast<size_t>(size)));
  return buffer.data();
}

}  // namespace

struct PackedMatrix::Layout {
  Layout(int64_t outputs, int64_t inputs, const float* row)
      : out(outputs), in(inputs), bias(padded_copy(row, outputs)) {}
  Layout(Layout&&) = default;
  virtual ~Layout() = default;
  virtual void multiply(const float* x, int64_t rows, float* y) const = 0;
  virtual void multiply(const float* x, int64_t rows, Activation function, float* y) const {
    multiply(x, rows, y);
    activate(ActivationArguments<float>{.function = function, .size = rows * out, .x = y, .y = y});
  }

  const float* bias_or_null() const { return bias.empty() ? nullptr : bias.data(); }

  int64_t out, in;
  PoolVector<float> bias;
};

/// Reads up to `together` rows at a time and calls pack(n, count, rows) for rows n, n + 1, ..., n + count
/// - 1.
template <typename Pack>
static void read_rows(const MatrixRows& weight, int64_t together, Pack&& pack) {
  std::vector<float, UninitializedAllocator<float>> some(
      static_cast<size_t>(std::min(weight.out, together) * weight.in));
  for (int64_t n = 0; n < weight.out; n += together) {
    const int64_t count = std::min(together, weight.out - n);
    weight.read(n, count, some.data());
    pack(n, count, some.data());
  }
}

struct PackedMatrix::F32Layout : PackedMatrix::Layout {
  F32Layout(const float* weight, int64_t outputs, int64_t inputs, const float* row)
      : Layout(outputs, inputs, row), panels(static_cast<size_t>(padded_n(out) * in)) {
    pack_b_f32(weight, out, in, panels.data());
  }
  F32Layout(const MatrixRows& weight, const float* row)
      : Layout(weight.out, weight.in, row), panels(static_cast<size_t>(padded_n(out) * in)) {
    read_rows(weight, kPanelWidth, [&](int64_t n, int64_t count, const float* rows) {
      pack_b_f32(rows, count, in, panels.data() + n * in);
    });
  }
  F32Layout(const HalfMatrix& weight, const float* row)
      : Layout(weight.out, weight.in, row), panels(static_cast<size_t>(padded_n(out) * in)) {
    for (int64_t n = 0; n < out; n += kPanelWidth) {
      const HalfMatrix some = weight.rows(n, std::min(kPanelWidth, out - n));
      float* const panel = panels.data() + n * in;
      if (some.out < kPanelWidth) std::fill_n(panel, kPanelWidth * in, 0.0f);
      pack_b_half(some, panel);
    }
  }
  void multiply(const float* x, int64_t rows, float* y) const override {
    multiply_packed_f32({.rows = rows,
                         .out = out,
                         .in = in,
                         .x = x,
                         .panels = panels.data(),
                         .bias = bias_or_null(),
                         .y = y,
                         .y_stride = out});
  }
  std::vector<float, UninitializedAllocator<float>> panels;
};

struct PackedMatrix::SlicedLayout : PackedMatrix::Layout {
  SlicedLayout(const float* weight, int64_t outputs, int64_t inputs, const float* row)
      : Layout(outputs, inputs, row) {
    const SlicedPanelSizes sizes = sliced_panel_sizes(out, in);
    dwords.resize(static_cast<size_t>(sizes.dwords));
    exponent_scales.resize(static_cast<size_t>(sizes.scales));
    pack_b_int8_slices(weight, out, in, {dwords.data(), exponent_scales.data()});
  }
  void multiply(const float* x, int64_t rows, float* y) const override {
    multiply_packed_int8_slices({.rows = rows,
                                 .out = out,
                                 .in = in,
                                 .x = x,
                                 .dwords = dwords.data(),
                                 .scales = exponent_scales.data(),
                                 .bias = bias_or_null(),
                                 .y = y,
                                 .y_stride = out});
  }
  std::vector<uint32_t, UninitializedAllocator<uint32_t>> dwords;
  PoolVector<float> exponent_scales;
};

/// The first few products of few rows use the weights as they are. Packing takes as long as some 16 of these,
/// because most of it is new memory, so a program that translates one sentence does without.
template <class PackedLayout>
using PackedLater = ComputedLater<PackedLayout, 12>;

/// Few rows are multiplied with the weights as they are. For more, some outputs at a time are packed for
/// F32Layout's kernel, multiplied, and forgotten.
struct PackedMatrix::HalfLayout : PackedMatrix::Layout {
  HalfLayout(const HalfMatrix& matrix, const float* row)
      : Layout(matrix.out, matrix.in, row), weight(matrix) {}
  void multiply(const float* x, int64_t rows, float* y) const override {
    if (rows == 0) return;
    if (multiplies_halves_f32(rows)) return multiply_halves_f32({weight, rows, x, bias_or_null(), y});
    float* const panel = scratch<float>(kPanelWidth * in);
    for (int64_t n = 0; n < out; n += kPanelWidth) {
      const HalfMatrix some = weight.rows(n, std::min(kPanelWidth, out - n));
      pack_b_half(some, panel);
      multiply_packed_f32({.rows = rows,
                           .out = some.out,
                           .in = in,
                           .x = x,
                           .panels = panel,
                           .bias = bias.empty() ? nullptr : bias.data() + n,
                           .y = y + n,
                           .y_stride = out});
    }
  }
  HalfMatrix weight;

  struct Later;
};

/// HalfPacking::kOnce.
struct PackedMatrix::HalfLayout::Later : PackedMatrix::HalfLayout {
  using HalfLayout::HalfLayout;
  void multiply(const float* x, int64_t rows, float* y) const override {
    if (multiplies_halves_f32(rows) && later.is_early()) return HalfLayout::multiply(x, rows, y);
    later.value([&] { return F32Layout(weight, bias_or_null()); }).multiply(x, rows, y);
  }
  PackedLater<F32Layout> later;
};

/// The same for SlicedLayout's kernel. As many outputs at a time as fit L2, since x is packed for each.
struct PackedMatrix::SlicedHalfLayout : PackedMatrix::Layout {
  SlicedHalfLayout(const HalfMatrix& matrix, const float* row)
      : Layout(matrix.out, matrix.in, row), weight(matrix), exponent_scales(slice_scales(matrix)) {}
  void multiply(const float* x, int64_t rows, float* y) const override {
    if (rows == 0) return;
    if (multiplies_halves_in_slices(rows)) {
      return multiply_halves_in_slices({weight, rows, x, bias_or_null(), y}, exponent_scales.data());
    }
    const int64_t panel = sliced_panel_sizes(kPanelWidth, in).dwords;
    const int64_t together = std::max<int64_t>(1, kPackedInt8SlicesL2Dwords / panel) * kPanelWidth;
    for (int64_t n = 0; n < out; n += together) {
      const HalfMatrix some = weight.rows(n, std::min(together, out - n));
      const SlicedPanelSizes sizes = sliced_panel_sizes(some.out, in);
      float* const floats = scratch<float>(some.out * in);
      uint32_t* const dwords = scratch<uint32_t>(sizes.dwords);
      float* const scales = scratch<float, 1>(sizes.scales);
      widen(some, floats);
      pack_b_int8_slices(floats, some.out, in, {dwords, scales});
      multiply_packed_int8_slices({.rows = rows,
                                   .out = some.out,
                                   .in = in,
                                   .x = x,
                                   .dwords = dwords,
                                   .scales = scales,
                                   .bias = bias.empty() ? nullptr : bias.data() + n,
                                   .y = y + n,
                                   .y_stride = out});
    }
  }
  HalfMatrix weight;
  SliceScales exponent_scales;
};

struct PackedMatrix::Int8Layout : PackedMatrix::Layout {
  Int8Layout(const int8_t* weight, const float* row_scales, int64_t outputs, int64_t inputs, const float* row)
      : Layout(outputs, inputs, row),
        sums(static_cast<size_t>(padded_n(out))),
        scales(padded_copy(row_scales, out)) {
    const Int8PanelSizes sizes = int8_panel_sizes(out, in);
    panels.resize(static_cast<size_t>(sizes.panels));
    wide.resize(static_cast<size_t>(sizes.wide));
    pack_b_int8(weight, out, in, {panels.data(), sums.data(), wide.data()});
  }
  void multiply(const float* x, int64_t rows, float* y) const override {
    multiply(x, rows, Int8Epilogue::kNone, y);
  }
  void multiply(const float* x, int64_t rows, Activation function, float* y) const override {
    if (function == Activation::kRelu) return multiply(x, rows, Int8Epilogue::kRelu, y);
    if (function == Activation::kGelu) return multiply(x, rows, Int8Epilogue::kGelu, y);
    Layout::multiply(x, rows, function, y);
  }
  void multiply(const float* x, int64_t rows, Int8Epilogue epilogue, float* y) const {
    multiply_packed_int8({.rows = rows,
                          .out = out,
                          .in = in,
                          .x = x,
                          .panels = panels.data(),
                          .wide = wide.data(),
                          .sums = sums.data(),
                          .scales = scales.data(),
                          .bias = bias_or_null(),
                          .epilogue = epilogue,
                          .y = y});
  }
  std::vector<int8_t, UninitializedAllocator<int8_t>> panels;
  std::vector<uint8_t, UninitializedAllocator<uint8_t>> wide;
  PoolVector<int32_t> sums;
  PoolVector<float> scales;

  struct Later;
};

struct PackedMatrix::Int8Layout::Later : PackedMatrix::Layout {
  Later(const int8_t* weight_rows, const float* row_scales, int64_t outputs, int64_t inputs, const float* row)
      : Layout(outputs, inputs, row), weight(weight_rows), scales(row_scales) {}
  void multiply(const float* x, int64_t rows, float* y) const override {
    if (is_early(rows)) return multiply_unpacked(x, rows, y);
    packed().multiply(x, rows, y);
  }
  void multiply(const float* x, int64_t rows, Activation function, float* y) const override {
    // The GELU of packed products is another approximation.
    if (function == Activation::kGelu || !is_early(rows)) return packed().multiply(x, rows, function, y);
    multiply_unpacked(x, rows, y);
    activate(ActivationArguments<float>{.function = function, .size = rows * out, .x = y, .y = y});
  }
  bool is_early(int64_t rows) const {
    constexpr int64_t kFewRows = 8;  // a block of four reads the weights once
    return rows <= kFewRows && later.is_early();
  }
  const Int8Layout& packed() const {
    return later.value([&] { return Int8Layout(weight, scales, out, in, bias_or_null()); });
  }
  void multiply_unpacked(const float* x, int64_t rows, float* y) const {
    std::vector<int32_t> outputs(static_cast<size_t>(out));
    std::iota(outputs.begin(), outputs.end(), 0);
    selected_product(Int8SelectedProductArguments{.rows = rows,
                                                  .in = in,
                                                  .count = out,
                                                  .x = x,
                                                  .outputs = outputs.data(),
                                                  .weight = weight,
                                                  .scales = scales,
                                                  .bias = bias_or_null(),
                                                  .y = y});
  }
  const int8_t* weight;
  const float* scales;
  PackedLater<Int8Layout> later;
};

struct PackedMatrix::Int4Layout : PackedMatrix::Layout {
  Int4Layout(const Int4Rows& weight, int64_t outputs, int64_t inputs, const float* row)
      : Layout(outputs, inputs, row), panels(static_cast<size_t>(int4_panel_bytes(out, in))) {
    pack_b_int4(weight, out, in, panels.data());
  }
  void multiply(const float* x, int64_t rows, float* y) const override {
    multiply_packed_int4({.rows = rows,
                          .out = out,
                          .in = in,
                          .x = x,
                          .panels = panels.data(),
                          .bias = bias_or_null(),
                          .y = y,
                          .y_stride = out});
  }
  std::vector<uint8_t, UninitializedAllocator<uint8_t>> panels;
};

struct PackedMatrix::Bf16Layout : PackedMatrix::Layout {
  Bf16Layout(const MatrixRows& weight, const float* row)
      : Layout(weight.out, weight.in, row), panels(static_cast<size_t>(bf16_panel_dwords(out, in))) {
    constexpr int64_t kTogether = 64 * kPanelWidth;
    read_rows(weight, kTogether, [&](int64_t n, int64_t count, const float* rows) {
      pack_b_bf16(rows, count, in, panels.data() + bf16_panel_dwords(n, in));
    });
  }
  void multiply(const float* x, int64_t rows, float* y) const override {
    multiply_packed_bf16({.rows = rows,
                          .out = out,
                          .in = in,
                          .x = x,
                          .panels = panels.data(),
                          .bias = bias_or_null(),
                          .y = y,
                          .y_stride = out});
  }
  std::vector<uint32_t, UninitializedAllocator<uint32_t>> panels;
};

PackedMatrix::PackedMatrix(const float* weight, int64_t out, int64_t in, const float* bias) {
  if (uses_int8_slices(in)) {
    layout_ = std::make_shared<SlicedLayout>(weight, out, in, bias);
  } else {
    layout_ = std::make_shared<F32Layout>(weight, out, in, bias);
  }
}

PackedMatrix::PackedMatrix(const MatrixRows& weight, const float* bias) {
  if (uses_int8_slices(weight.in)) {
    std::vector<float, UninitializedAllocator<float>> all(static_cast<size_t>(weight.out * weight.in));
    weight.read(0, weight.out, all.data());
    layout_ = std::make_shared<SlicedLayout>(all.data(), weight.out, weight.in, bias);
  } else {
    layout_ = std::make_shared<F32Layout>(weight, bias);
  }
}

PackedMatrix::PackedMatrix(const int8_t* weight, const float* scales, int64_t out, int64_t in,
                           const float* bias)
    : layout_(std::make_shared<Int8Layout::Later>(weight, scales, out, in, bias)) {}

PackedMatrix::PackedMatrix(const HalfMatrix& weight, const float* bias, HalfPacking packing) {
  const bool sliced = uses_int8_slices(weight.in), once = packing == HalfPacking::kOnce;
  if (sliced && once) {
    std::vector<float, UninitializedAllocator<float>> floats(static_cast<size_t>(weight.out * weight.in));
    widen(weight, floats.data());
    layout_ = std::make_shared<SlicedLayout>(floats.data(), weight.out, weight.in, bias);
  } else if (sliced) {
    layout_ = std::make_shared<SlicedHalfLayout>(weight, bias);
  } else if (once) {
    layout_ = std::make_shared<HalfLayout::Later>(weight, bias);
  } else {
    layout_ = std::make_shared<HalfLayout>(weight, bias);
  }
}

PackedMatrix PackedMatrix::in_bfloat16(const MatrixRows& weight, const float* bias) {
  PackedMatrix matrix;
  matrix.layout_ = std::make_shared<Bf16Layout>(weight, bias);
  return matrix;
}

PackedMatrix PackedMatrix::in_int4(const Int4Rows& weight, int64_t out, int64_t in, const float* bias) {
  PackedMatrix matrix;
  matrix.layout_ = std::make_shared<Int4Layout>(weight, out, in, bias);
  return matrix;
}

int64_t PackedMatrix::out() const {
  return layout_->out;
}
int64_t PackedMatrix::in() const {
  return layout_->in;
}

void PackedMatrix::multiply(const float* x, int64_t rows, float* y) const {
  layout_->multiply(x, rows, y);
}
void PackedMatrix::multiply(const float* x, int64_t rows, Activation function, float* y) const {
  layout_->multiply(x, rows, function, y);
}

}  // namespace heed
