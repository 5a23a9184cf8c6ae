#include "kernels/gemm/packed_matrix.h"

#include <vector>

#include "base/memory_pool.h"
#include "kernels/gemm/fixed_product.h"
#include "kernels/gemm/float_product.h"
#include "kernels/gemm/int8_product.h"

namespace heed {
namespace {

template <typename T>
using Filled = std::vector<T, PoolAllocator<T>>;

/// Numbers of the outputs, filled up to whole panels.
Filled<float> fill_up(const float* row, int64_t out) {
  if (row == nullptr) return {};
  Filled<float> filled(row, row + out);
  filled.resize(static_cast<size_t>(whole_panels(out)));
  return filled;
}

}  // namespace

struct PackedMatrix::Layout {
  Layout(int64_t outputs, int64_t inputs, const float* row)
      : out(outputs), in(inputs), bias(fill_up(row, outputs)) {}
  virtual ~Layout() = default;
  virtual void multiply(const float* x, int64_t rows, float* y) const = 0;

  const float* bias_or_null() const { return bias.empty() ? nullptr : bias.data(); }

  int64_t out, in;
  Filled<float> bias;
};

struct PackedMatrix::FloatLayout : PackedMatrix::Layout {
  FloatLayout(const float* weight, int64_t outputs, int64_t inputs, const float* row)
      : Layout(outputs, inputs, row), panels(static_cast<size_t>(whole_panels(out) * in)) {
    pack_float_panels(weight, out, in, panels.data());
  }
  void multiply(const float* x, int64_t rows, float* y) const override {
    float_product({.rows = rows,
                   .out = out,
                   .in = in,
                   .x = x,
                   .panels = panels.data(),
                   .bias = bias_or_null(),
                   .y = y});
  }
  Filled<float> panels;
};

struct PackedMatrix::FixedLayout : PackedMatrix::Layout {
  FixedLayout(const float* weight, int64_t outputs, int64_t inputs, const float* row)
      : Layout(outputs, inputs, row) {
    const FixedPanelSizes sizes = fixed_panel_sizes(out, in);
    groups.resize(static_cast<size_t>(sizes.groups));
    magnitudes.resize(static_cast<size_t>(sizes.magnitudes));
    pack_fixed_panels(weight, out, in, {groups.data(), magnitudes.data()});
  }
  void multiply(const float* x, int64_t rows, float* y) const override {
    fixed_product({.rows = rows,
                   .out = out,
                   .in = in,
                   .x = x,
                   .groups = groups.data(),
                   .magnitudes = magnitudes.data(),
                   .bias = bias_or_null(),
                   .y = y});
  }
  Filled<uint32_t> groups;
  Filled<float> magnitudes;
};

struct PackedMatrix::Int8Layout : PackedMatrix::Layout {
  Int8Layout(const int8_t* weight, const float* row_scales, int64_t outputs, int64_t inputs, const float* row)
      : Layout(outputs, inputs, row),
        sums(static_cast<size_t>(whole_panels(out))),
        scales(fill_up(row_scales, out)) {
    const Int8PanelSizes sizes = int8_panel_sizes(out, in);
    panels.resize(static_cast<size_t>(sizes.panels));
    wide.resize(static_cast<size_t>(sizes.wide));
    pack_panels(weight, out, in, {panels.data(), sums.data(), wide.data()});
  }
  void multiply(const float* x, int64_t rows, float* y) const override {
    int8_product({.rows = rows,
                  .out = out,
                  .in = in,
                  .x = x,
                  .panels = panels.data(),
                  .wide = wide.data(),
                  .sums = sums.data(),
                  .scales = scales.data(),
                  .bias = bias_or_null(),
                  .y = y});
  }
  Filled<int8_t> panels;
  Filled<uint8_t> wide;
  Filled<int32_t> sums;
  Filled<float> scales;
};

PackedMatrix::PackedMatrix(const float* weight, int64_t out, int64_t in, const float* bias) {
  if (has_fixed_product(in)) {
    layout_ = std::make_shared<FixedLayout>(weight, out, in, bias);
  } else {
    layout_ = std::make_shared<FloatLayout>(weight, out, in, bias);
  }
}

PackedMatrix::PackedMatrix(const int8_t* weight, const float* scales, int64_t out, int64_t in,
                           const float* bias)
    : layout_(std::make_shared<Int8Layout>(weight, scales, out, in, bias)) {}

int64_t PackedMatrix::out() const {
  return layout_->out;
}
int64_t PackedMatrix::in() const {
  return layout_->in;
}

void PackedMatrix::multiply(const float* x, int64_t rows, float* y) const {
  layout_->multiply(x, rows, y);
}

}  // namespace heed
