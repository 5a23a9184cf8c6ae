// Kernels at the ends of float32's range, with NaN, and over very many rows, against float64, on every
// instruction set: where the result is a number that float32 has, it is that number.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "base/rng.h"
#include "kernels/pointwise/adam.h"
#include "kernels/pointwise/elementwise.h"
#include "kernels/reduction/batch_norm.h"
#include "kernels/reduction/layer_norm.h"
#include "kernels/reduction/rms_norm.h"
#include "kernels/reduction/softmax.h"
#include "kernels/reduction/top_k.h"
#include "kernels/simd/test_isas.h"

namespace heed {
namespace {

template <typename T>
std::vector<T> as(const std::vector<float>& x) {
  return {x.begin(), x.end()};
}

/// Relative to the largest expected number: sums of up to 300 terms, in another order and precision.
void expect_near(const std::vector<float>& found, const std::vector<double>& expected,
                 const std::string& what) {
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(found[i]), expected[i], 1e-5 * largest + 1e-37) << what << " at " << i;
  }
}

/// f(x) and f'(x) as they are defined.
struct Value {
  double value, derivative;
};
Value exact(Activation function, double x) {
  const double gate = 1 / (1 + std::exp(-x)), rest = 1 / (1 + std::exp(x));
  switch (function) {
    case Activation::kRelu:
      return {std::max(0.0, x), x > 0 ? 1.0 : 0.0};
    case Activation::kSwish:
      return {x * gate, gate + x * gate * rest};
    case Activation::kSigmoid:
      return {gate, gate * rest};
    case Activation::kTanh:
      return {std::tanh(x), 1 / (std::cosh(x) * std::cosh(x))};
    case Activation::kGelu: {
      const double below = std::erfc(-x / std::numbers::sqrt2) / 2;
      return {x * below, below + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi)};
    }
    case Activation::kGeluTanh: {
      const double factor = std::sqrt(2 / std::numbers::pi), u = factor * (x + 0.044715 * x * x * x);
      const double below = 1 / (1 + std::exp(-2 * u)), above = 1 / (1 + std::exp(2 * u));
      return {x * below, below + x * below * above * 2 * factor * (1 + 3 * 0.044715 * x * x)};
    }
  }
  return {};
}

TEST(ExtremeNumbers, ActivationsAndTheirDerivatives) {
  std::vector<float> x;
  for (const float size : {0.0F, 1e-40F, 1e-30F, 1e-3F, 1.0F, 4.0F, 20.0F, 87.0F, 89.0F, 200.0F, 999.0F, 2e3F,
                           1e5F, 1e10F, 1e13F, 1e20F, 1e30F, 3.4e38F}) {
    x.push_back(size);
    x.push_back(-size);
  }
  const std::vector<float> ones(x.size(), 1.0F);
  on_every_isa([&](const std::string& isa) {
    for (const Activation function : {Activation::kRelu, Activation::kSwish, Activation::kSigmoid,
                                      Activation::kTanh, Activation::kGelu, Activation::kGeluTanh}) {
      std::vector<float> y(x.size()), dx(x.size());
      activate(ActivationArguments<float>{function, static_cast<int64_t>(x.size()), x.data(), y.data()});
      activate_backward(ActivationBackwardArguments<float>{function, static_cast<int64_t>(x.size()), x.data(),
                                                           ones.data(), dx.data()});
      for (size_t i = 0; i < x.size(); ++i) {
        const Value expected = exact(function, static_cast<double>(x[i]));
        const std::string what = fmt::format("{}: function {} of {}", isa, static_cast<int>(function), x[i]);
        EXPECT_NEAR(static_cast<double>(y[i]), expected.value,
                    4e-6 * std::max(1e-3, std::abs(expected.value)))
            << what;
        EXPECT_NEAR(static_cast<double>(dx[i]), expected.derivative, 4e-6) << what;
      }
      // NaN is not hidden by the bounds, whichever of its bits are set.
      for (const uint32_t bits : {0x7fc00000U, 0x7fc00001U, 0xffc00000U, 0xffffffffU}) {
        const auto nan = std::bit_cast<float>(bits);
        float found = 0;
        activate(ActivationArguments<float>{function, 1, &nan, &found});
        EXPECT_TRUE(std::isnan(found)) << isa << static_cast<int>(function) << ", " << bits;
      }
    }
  });
}

/// Rows of a norm, with a mean and a deviation.
std::vector<float> normal_numbers(double mean, double deviation, int64_t size, uint64_t seed = 7) {
  Random random(RandomKey::from_seed(seed));
  std::vector<float> x(static_cast<size_t>(size));
  for (float& value : x) value = static_cast<float>(mean + deviation * random.normal());
  return x;
}

template <typename T>
struct NormResult {
  std::vector<T> y, dx, dweight;
};

template <typename T>
NormResult<T> layer_normed(const std::vector<float>& row, const std::vector<float>& upstream) {
  const auto size = static_cast<int64_t>(row.size());
  const std::vector<T> x = as<T>(row), dy = as<T>(upstream), weight(row.size(), T{1}), bias(row.size(), T{0});
  NormResult<T> r{std::vector<T>(row.size()), std::vector<T>(row.size()), std::vector<T>(row.size())};
  std::vector<T> dbias(row.size());
  T mean = 0, rstd = 0;
  layer_norm(
      LayerNormArguments<T>{1, size, 1e-5, x.data(), weight.data(), bias.data(), r.y.data(), &mean, &rstd});
  layer_norm_backward(LayerNormBackwardArguments<T>{1, size, x.data(), weight.data(), &mean, &rstd, dy.data(),
                                                    r.dx.data(), r.dweight.data(), dbias.data()});
  return r;
}

template <typename T>
NormResult<T> rms_normed(const std::vector<float>& row, const std::vector<float>& upstream) {
  const auto size = static_cast<int64_t>(row.size());
  const std::vector<T> x = as<T>(row), dy = as<T>(upstream), weight(row.size(), T{1});
  NormResult<T> r{std::vector<T>(row.size()), std::vector<T>(row.size()), std::vector<T>(row.size())};
  T rrms = 0;
  rms_norm(RmsNormArguments<T>{1, size, 1e-6, x.data(), weight.data(), r.y.data(), &rrms});
  rms_norm_backward(RmsNormBackwardArguments<T>{1, size, x.data(), weight.data(), &rrms, dy.data(),
                                                r.dx.data(), r.dweight.data()});
  return r;
}

TEST(ExtremeNumbers, Norms) {
  struct Case {
    double mean, deviation;
  };
  for (const int64_t width : {5, 64, 300}) {
    const std::vector<float> dy = normal_numbers(0, 1, width, 8);
    for (const Case& each : {Case{0, 1},
                             {0, 0},
                             {0, 1e-20},
                             {0, 1e-4},
                             {1, 1e-3},
                             {1e3, 1},
                             {1e5, 1e-2},
                             {1e5, 0},
                             {1e5, 1},
                             {-3e6, 0},
                             {1e6, 1},
                             {0, 1e10},
                             {0, 1e18},
                             {0, 1e20},
                             {0, 1e30},
                             {1e32, 1e30},
                             {1e20, 0}}) {
      const double mean = each.mean, deviation = each.deviation;  // Clang 14 captures no bindings
      const std::vector<float> x = normal_numbers(mean, deviation, width);
      const NormResult<double> layer = layer_normed<double>(x, dy), rms = rms_normed<double>(x, dy);
      on_every_isa([&](const std::string& isa) {
        const std::string what = fmt::format("{}: {} numbers of {} +- {}", isa, width, mean, deviation);
        const NormResult<float> a = layer_normed<float>(x, dy), b = rms_normed<float>(x, dy);
        expect_near(a.y, layer.y, "layer norm, " + what);
        expect_near(a.dx, layer.dx, "layer norm, dx, " + what);
        expect_near(a.dweight, layer.dweight, "layer norm, dweight, " + what);
        expect_near(b.y, rms.y, "RMS norm, " + what);
        // Where all of dy is taken away again, what is left is rounding of 1 / rms.
        if (deviation > 0 && mean == 0) expect_near(b.dx, rms.dx, "RMS norm, dx, " + what);
      });
    }
  }
}

TEST(ExtremeNumbers, SumsOfSquares) {
  on_every_isa([](const std::string& isa) {
    for (const double size : {1.0, 1e15, 1e19, 1e25, 1e37}) {
      const std::vector<float> x = normal_numbers(0, size, 600);
      double expected = 0, found = 0;
      for (const float value : x) expected += static_cast<double>(value) * static_cast<double>(value);
      sum_of_squares(SumOfSquaresArguments<float>{600, x.data(), &found});
      EXPECT_NEAR(found / expected, 1, 1e-5) << isa << ", " << size;
    }
  });
}

template <typename T>
void expect_nan_in_softmax(const std::string& isa) {
  for (const int64_t size : {1, 2, 3, 17, 40}) {
    for (int64_t at = 0; at < size; ++at) {
      const std::string what = fmt::format("{}: {} bytes, {} of {}", isa, sizeof(T), at, size);
      std::vector<T> x(static_cast<size_t>(size), T{1}), y(x.size()), loss(1), log_sum(1);
      x[at] = std::numeric_limits<T>::quiet_NaN();
      const auto are_nan = [](const std::vector<T>& values) {
        return std::ranges::all_of(values, [](T value) { return std::isnan(value); });
      };
      masked_softmax({.rows = 1, .columns = size, .scores = x.data(), .weights = y.data()});
      EXPECT_TRUE(are_nan(y)) << what;
      log_softmax({.rows = 1, .classes = size, .x = x.data(), .y = y.data()});
      EXPECT_TRUE(are_nan(y)) << what;
      const int32_t target = 0;
      cross_entropy(
          {.rows = 1, .classes = size, .logits = x.data(), .targets = &target, .losses = loss.data()});
      EXPECT_TRUE(are_nan(loss)) << what;
      top_k({.rows = 1, .classes = size, .logits = x.data(), .log_sums = log_sum.data()});
      EXPECT_TRUE(are_nan(log_sum)) << what;
      // A hidden one changes nothing.
      std::vector<uint8_t> visible(x.size(), 1);
      visible[at] = 0;
      masked_softmax(
          {.rows = 1, .columns = size, .scores = x.data(), .visible = visible.data(), .weights = y.data()});
      const T expected = size > 1 ? T{1} / static_cast<T>(size - 1) : T{0};
      for (int64_t k = 0; k < size; ++k) EXPECT_NEAR(y[k], k == at ? T{0} : expected, 1e-6) << what;
      visible.assign(x.size(), 0);
      visible[at] = 1;
      masked_softmax(
          {.rows = 1, .columns = size, .scores = x.data(), .visible = visible.data(), .weights = y.data()});
      EXPECT_TRUE(std::isnan(y[at])) << what;
    }
  }
}

TEST(ExtremeNumbers, SoftmaxKeepsNan) {
  on_every_isa([](const std::string& isa) {
    expect_nan_in_softmax<float>(isa);
    expect_nan_in_softmax<double>(isa);
  });
}

// Of 0.1, whose sum in float32 would be 1e-4 off.
TEST(ExtremeNumbers, SumsOverManyRows) {
  constexpr int64_t kRows = 100'003, kColumns = 3;
  const std::vector<float> x(kRows * kColumns, 0.1F), ones(kColumns, 1.0F), zeros(kColumns);
  const double expected = static_cast<double>(kRows) * static_cast<double>(0.1F);
  on_every_isa([&](const std::string& isa) {
    const auto expect_sums = [&](const std::vector<float>& found, double sum) {
      for (const float value : found) EXPECT_NEAR(static_cast<double>(value) / sum, 1, 1e-5) << isa;
    };
    std::vector<float> sum(kColumns), mean(kColumns), variance(kColumns), dx(x.size()), dweight(kColumns);
    add_rows({.rows = kRows, .columns = kColumns, .x = x.data(), .x_stride = kColumns, .sum = sum.data()});
    expect_sums(sum, expected);
    column_moments({.rows = kRows,
                    .columns = kColumns,
                    .x = x.data(),
                    .mean = mean.data(),
                    .variance = variance.data()});
    expect_sums(mean, static_cast<double>(0.1F));
    for (const float value : variance) EXPECT_LT(value, 1e-12F) << isa;
    std::vector<float> dbias(kColumns);
    batch_norm_backward({.rows = kRows,
                         .columns = kColumns,
                         .x = x.data(),
                         .weight = ones.data(),
                         .mean = zeros.data(),
                         .rstd = ones.data(),
                         .dy = x.data(),
                         .dx = dx.data(),
                         .dweight = dweight.data(),
                         .dbias = dbias.data()});
    expect_sums(dbias, expected);
    expect_sums(dweight, expected * static_cast<double>(0.1F));
    const std::vector<float> row_means(kRows), row_factors(kRows, 1.0F);
    std::fill(dbias.begin(), dbias.end(), 0.0F);
    std::fill(dweight.begin(), dweight.end(), 0.0F);
    layer_norm_backward({kRows, kColumns, x.data(), ones.data(), row_means.data(), row_factors.data(),
                         x.data(), dx.data(), dweight.data(), dbias.data()});
    expect_sums(dbias, expected);
    expect_sums(dweight, expected * static_cast<double>(0.1F));
    std::fill(dweight.begin(), dweight.end(), 0.0F);
    rms_norm_backward(
        {kRows, kColumns, x.data(), ones.data(), row_factors.data(), x.data(), dx.data(), dweight.data()});
    expect_sums(dweight, expected * static_cast<double>(0.1F));
  });
}

}  // namespace
}  // namespace heed
