#include "kernels/gemm.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <dnnl.hpp>
#include <map>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/int8_product.h"

namespace heed {
namespace {

/// oneDNN divides its work by OpenMP, if it may; here one product is one thread's.
void use_one_thread() {
  thread_local const bool done = [] {
    omp_set_num_threads(1);
    return true;
  }();
  (void)done;
}

const dnnl::engine& engine() {
  static const dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

dnnl::stream& stream() {
  thread_local dnnl::stream instance(engine());
  return instance;
}

}  // namespace

void gemm(const GemmArguments<float>& g) {
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0) {  // an empty sum, which oneDNN takes for a mistake
    for (int64_t row = 0; row < g.m && !g.accumulate; ++row) std::fill_n(g.c + row * g.c_stride, g.n, 0.0f);
    return;
  }
  use_one_thread();
  const dnnl_status_t status =
      dnnl_sgemm(g.transpose_a ? 'T' : 'N', g.transpose_b ? 'T' : 'N', g.m, g.n, g.k, 1.0f, g.a, g.a_stride,
                 g.b, g.b_stride, g.accumulate ? 1.0f : 0.0f, g.c, g.c_stride);
  HEED_CHECK(status == dnnl_success);
}

void gemm(const GemmArguments<double>& g) {
  std::vector<double> row(static_cast<size_t>(g.k));
  for (int64_t i = 0; i < g.m; ++i) {
    for (int64_t k = 0; k < g.k; ++k)
      row[k] = g.transpose_a ? g.a[k * g.a_stride + i] : g.a[i * g.a_stride + k];
    double* c = g.c + i * g.c_stride;
    if (!g.accumulate) std::fill(c, c + g.n, 0.0);
    if (g.transpose_b) {
      for (int64_t j = 0; j < g.n; ++j) {
        const double* b = g.b + j * g.b_stride;
        double sum = 0;
        for (int64_t k = 0; k < g.k; ++k) sum += row[k] * b[k];
        c[j] += sum;
      }
    } else {
      for (int64_t k = 0; k < g.k; ++k) {
        const double* b = g.b + k * g.b_stride;
        for (int64_t j = 0; j < g.n; ++j) c[j] += row[k] * b[j];
      }
    }
  }
}

// ---- Packed weights ---------------------------------------------------------------------------------------

namespace {

using dnnl::matmul;
using dnnl::memory;

// Products are made for these numbers of rows; others are put together from them.
constexpr std::array<int64_t, 13> kRowCounts{256, 128, 64, 48, 32, 16, 12, 8, 6, 4, 3, 2, 1};

memory::desc plain(int64_t rows, int64_t columns) {
  return {{rows, columns}, memory::data_type::f32, memory::format_tag::ab};
}

matmul::primitive_desc describe(int64_t rows, int64_t out, int64_t in, bool bias,
                                const memory::desc& weights) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // so that threads may share a primitive
  const memory::desc no_bias;
  const memory::desc bias_row = bias ? plain(1, out) : no_bias;
#if DNNL_VERSION_MAJOR >= 3
  return bias ? matmul::primitive_desc(engine(), plain(rows, in), weights, bias_row, plain(rows, out),
                                       attributes)
              : matmul::primitive_desc(engine(), plain(rows, in), weights, plain(rows, out), attributes);
#else
  const matmul::desc operation = bias ? matmul::desc(plain(rows, in), weights, bias_row, plain(rows, out))
                                      : matmul::desc(plain(rows, in), weights, plain(rows, out));
  return {operation, attributes, engine()};
#endif
}

struct Product {
  matmul primitive;
  memory::desc source, destination, scratchpad;
};

}  // namespace

struct PackedMatrix::Layout {
  Layout(int64_t outputs, int64_t inputs) : out(outputs), in(inputs) {}
  virtual ~Layout() = default;
  virtual void multiply(const float* x, int64_t rows, float* y) const = 0;
  int64_t out, in;
};

struct PackedMatrix::FloatLayout : PackedMatrix::Layout {
  FloatLayout(const float* weight, int64_t outputs, int64_t inputs, const float* row);
  void multiply(const float* x, int64_t rows, float* y) const override;
  memory weights, bias;
  std::array<Product, kRowCounts.size()> products;
};

PackedMatrix::FloatLayout::FloatLayout(const float* weight, int64_t outputs, int64_t inputs, const float* row)
    : Layout(outputs, inputs) {
  use_one_thread();
  const memory::desc any({in, out}, memory::data_type::f32, memory::format_tag::any);
  const memory::desc packed = describe(64, out, in, row != nullptr, any).weights_desc();
  for (size_t n = 0; n < kRowCounts.size(); ++n) {
    const auto description = describe(kRowCounts[n], out, in, row != nullptr, packed);
    products[n] = {matmul(description), description.src_desc(), description.dst_desc(),
                   description.scratchpad_desc()};
  }
  const memory::desc stored({in, out}, memory::data_type::f32, memory::format_tag::ba);
  memory source(stored, engine(), const_cast<float*>(weight));
  weights = memory(packed, engine());
  dnnl::reorder(source, weights).execute(stream(), source, weights);
  if (row != nullptr) {
    bias = memory(plain(1, out), engine());
    std::copy(row, row + out, static_cast<float*>(bias.get_data_handle()));
  }
  stream().wait();
}

void PackedMatrix::FloatLayout::multiply(const float* x, int64_t rows, float* y) const {
  use_one_thread();
  thread_local std::vector<char, PoolAllocator<char>> scratch;
  while (rows > 0) {
    size_t n = 0;
    while (kRowCounts[n] > rows) ++n;
    const Product& product = products[n];
    scratch.resize(std::max(scratch.size(), product.scratchpad.get_size()));
    std::unordered_map<int, memory> arguments{
        {DNNL_ARG_SRC, memory(product.source, engine(), const_cast<float*>(x))},
        {DNNL_ARG_WEIGHTS, weights},
        {DNNL_ARG_DST, memory(product.destination, engine(), y)},
        {DNNL_ARG_SCRATCHPAD, memory(product.scratchpad, engine(), scratch.data())}};
    if (bias) arguments.emplace(DNNL_ARG_BIAS, bias);
    product.primitive.execute(stream(), arguments);
    x += kRowCounts[n] * in;
    y += kRowCounts[n] * out;
    rows -= kRowCounts[n];
  }
}

struct PackedMatrix::Int8Layout : PackedMatrix::Layout {
  Int8Layout(const int8_t* weight, const float* row_scales, int64_t outputs, int64_t inputs,
             const float* row);
  void multiply(const float* x, int64_t rows, float* y) const override;
  std::vector<int8_t, PoolAllocator<int8_t>> panels;
  std::vector<int32_t, PoolAllocator<int32_t>> sums;  // these three filled up to whole panels
  std::vector<float, PoolAllocator<float>> scales, bias;
};

PackedMatrix::Int8Layout::Int8Layout(const int8_t* weight, const float* row_scales, int64_t outputs,
                                     int64_t inputs, const float* row)
    : Layout(outputs, inputs) {
  const auto columns = static_cast<size_t>(whole_panels(out));
  panels.resize(static_cast<size_t>(panel_bytes(out, in)));
  sums.resize(columns);
  pack_panels(weight, out, in, panels.data(), sums.data());
  scales.assign(row_scales, row_scales + out);
  scales.resize(columns);
  if (row == nullptr) return;
  bias.assign(row, row + out);
  bias.resize(columns);
}

void PackedMatrix::Int8Layout::multiply(const float* x, int64_t rows, float* y) const {
  int8_product({.rows = rows,
                .out = out,
                .in = in,
                .x = x,
                .panels = panels.data(),
                .sums = sums.data(),
                .scales = scales.data(),
                .bias = bias.empty() ? nullptr : bias.data(),
                .y = y});
}

PackedMatrix::PackedMatrix(const float* weight, int64_t out, int64_t in, const float* bias)
    : layout_(std::make_shared<FloatLayout>(weight, out, in, bias)) {}

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

const char* gemm_library() {
  static const std::string name = [] {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
  }();
  return name.c_str();
}

}  // namespace heed
