// FlashAttention-style attention for queries and keys of any magnitude, against float64.
//
// A float32 score s = scale sum q_i k_i is off by at most delta = (d_k + 2) u scale sum |q_i k_i|, u = 2^-24.
// The logarithm of a weight w is then off by 2 delta, and since weights add up to 1, w itself by at most
// min(w, 1 - w) (e^(2 delta) - 1): a key with all of the weight keeps it, however large the scores. All other
// bounds follow from this one and from the rounding of sums of n terms, n u sum |terms|.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/simd/test_isas.h"
#include "ops/attention/attention.h"
#include "random_tensor.h"

namespace heed::ops {
namespace {

constexpr double kUnit = 0x1p-24;
/// Roundings of a weight beside its score and its sum: exponential (1.6e-7), logarithm, division, limit of
/// large rows (2^-17).
constexpr double kWeightRoundings = 16 + 128;

/// One head, one sequence.
struct Case {
  int64_t queries, keys, width;
  double magnitude;
  bool causal;
  Tensor query, key, value, upstream;  // float32, (rows, width)
};

/// (rows, columns)
struct Matrix {
  Matrix(int64_t rows, int64_t count) : columns(count), values(static_cast<size_t>(rows * count)) {}
  explicit Matrix(const Tensor& tensor) : columns(tensor.dim(1)), values(tensor.to_vector<double>()) {}
  double& operator()(int64_t row, int64_t column) { return values[row * columns + column]; }
  double operator()(int64_t row, int64_t column) const { return values[row * columns + column]; }
  int64_t columns;
  std::vector<double> values;
};

/// A number, and how far a float32 computation of it may be off.
struct Bounded {
  Matrix value, error;
  Bounded(int64_t rows, int64_t columns) : value(rows, columns), error(rows, columns) {}
};

struct Expected {
  Bounded mixed, dquery, dkey, dvalue;
};

/// log(e^x - 1)
double log_expm1(double x) {
  return x > 30 ? x : std::log(std::expm1(x));
}

/// Weights in float64 from scores in float64, and how far those from float32 scores may be off.
Bounded expected_weights(const Case& c, double scale) {
  const Matrix query(c.query), key(c.key);
  Bounded weights(c.queries, c.keys);
  for (int64_t q = 0; q < c.queries; ++q) {
    const int64_t seen = c.causal ? std::max<int64_t>(0, c.keys - c.queries + q + 1) : c.keys;
    if (seen == 0) continue;
    std::vector<double> scores(static_cast<size_t>(seen));
    double delta = 0, highest = -INFINITY, sum = 0;
    for (int64_t k = 0; k < seen; ++k) {
      double absolute = 0;
      for (int64_t i = 0; i < c.width; ++i) {
        scores[k] += scale * query(q, i) * key(k, i);
        absolute += std::abs(scale * query(q, i) * key(k, i));
      }
      delta = std::max(delta, static_cast<double>(c.width + 2) * kUnit * absolute);
      highest = std::max(highest, scores[k]);
    }
    for (const double score : scores) sum += std::exp(score - highest);
    for (int64_t k = 0; k < seen; ++k) {
      const double log_weight = scores[k] - highest - std::log(sum), weight = std::exp(log_weight);
      double others = 0, highest_other = -INFINITY;  // log(1 - w) = highest_other + log(others) - log(all)
      if (weight > 0.5) {
        for (int64_t j = 0; j < seen; ++j) {
          if (j != k) highest_other = std::max(highest_other, scores[j]);
        }
        for (int64_t j = 0; j < seen; ++j) {
          if (j != k) others += std::exp(scores[j] - highest_other);
        }
      }
      const double log_rest =
          weight > 0.5 ? highest_other - highest + std::log(others / sum) : std::log1p(-weight);
      const double bound =
          seen == 1 ? 0 : std::exp(std::min(0.0, std::min(log_weight, log_rest) + log_expm1(2 * delta)));
      weights.value(q, k) = weight;
      // Exponentials below 2^-124 are about that instead of less.
      weights.error(q, k) =
          bound + (kWeightRoundings + static_cast<double>(seen)) * kUnit * std::min(1.0, weight + bound) +
          0x1p-120;
    }
  }
  return weights;
}

/// The derivatives of ops/attention/attention.h as they are written down, each with its bound.
Expected expected_results(const Case& c) {
  const double scale = 1 / std::sqrt(static_cast<double>(c.width));
  const Matrix query(c.query), key(c.key), value(c.value), upstream(c.upstream);
  const Bounded weights = expected_weights(c, scale);
  Expected x{{c.queries, c.width}, {c.queries, c.width}, {c.keys, c.width}, {c.keys, c.width}};
  const auto rounding = [](int64_t terms) { return static_cast<double>(terms + 2) * kUnit; };
  for (int64_t q = 0; q < c.queries; ++q) {
    for (int64_t i = 0; i < c.width; ++i) {
      double absolute = 0;
      for (int64_t k = 0; k < c.keys; ++k) {
        const double w = weights.value(q, k), error = weights.error(q, k);
        x.mixed.value(q, i) += w * value(k, i);
        x.mixed.error(q, i) += error * std::abs(value(k, i));
        absolute += (w + error) * std::abs(value(k, i));
        x.dvalue.value(k, i) += w * upstream(q, i);
        x.dvalue.error(k, i) += (error + rounding(c.queries) * (w + error)) * std::abs(upstream(q, i));
      }
      x.mixed.error(q, i) += rounding(c.keys) * absolute;
    }
    double delta = 0, delta_error = 0;
    for (int64_t i = 0; i < c.width; ++i) {
      delta += upstream(q, i) * x.mixed.value(q, i);
      delta_error +=
          std::abs(upstream(q, i)) *
          (x.mixed.error(q, i) + rounding(c.width) * (std::abs(x.mixed.value(q, i)) + x.mixed.error(q, i)));
    }
    for (int64_t k = 0; k < c.keys; ++k) {
      const double w = weights.value(q, k), error = weights.error(q, k);
      if (error == 0) continue;  // not seen
      double dweight = 0, absolute = 0;
      for (int64_t i = 0; i < c.width; ++i) {
        dweight += upstream(q, i) * value(k, i);
        absolute += std::abs(upstream(q, i) * value(k, i));
      }
      const double dscore = w * (dweight - delta);
      const double dscore_error =
          error * std::abs(dweight - delta) +
          (w + error) * (rounding(c.width) * absolute + delta_error + 2 * kUnit * std::abs(dweight - delta));
      for (int64_t i = 0; i < c.width; ++i) {
        const auto add = [&](Bounded& sum, int64_t row, double factor, int64_t terms) {
          sum.value(row, i) += scale * dscore * factor;
          sum.error(row, i) +=
              scale * (dscore_error + rounding(terms) * (std::abs(dscore) + dscore_error)) * std::abs(factor);
        };
        add(x.dquery, q, key(k, i), c.keys);
        add(x.dkey, k, query(q, i), c.queries);
      }
    }
  }
  return x;
}

struct Found {
  Tensor mixed, dquery, dkey, dvalue;
};

Found run(const Case& c) {
  Tape tape;
  const Var query = tape.leaf(c.query), key = tape.leaf(c.key), value = tape.leaf(c.value);
  const double scale = 1 / std::sqrt(static_cast<double>(c.width));
  const AttentionOperands x{{query, 0, c.width}, {key, 0, c.width}, {value, 0, c.width}, 1, scale};
  const Var mixed = flash_attention(x, AttentionLayout::padded(1, c.queries, c.keys), c.causal, {});
  tape.backward(mixed, c.upstream);
  return {mixed.value(), tape.gradient(query), tape.gradient(key), tape.gradient(value)};
}

void expect_within(const Tensor& found, const Bounded& expected, const std::string& what) {
  const Matrix values(found);
  size_t worst = 0, beyond = 0;
  double most = 0;
  for (size_t at = 0; at < values.values.size(); ++at) {
    const double ratio = std::abs(values.values[at] - expected.value.values[at]) / expected.error.values[at];
    if (!(ratio <= 1)) ++beyond;
    if (!(ratio <= most)) most = ratio, worst = at;
  }
  EXPECT_EQ(beyond, 0U) << what << ": " << values.values[worst] << " at " << worst << ", expected "
                        << expected.value.values[worst] << " +- " << expected.error.values[worst];
}

/// Each query's weights add up to 1, so the gradients of all values add up to those of all outputs, however
/// far off the scores may be.
void expect_weights_add_up(const Case& c, const Found& found, const std::string& what) {
  if (c.causal && c.queries > c.keys) return;  // some see nothing
  const Matrix dvalue(found.dvalue), upstream(c.upstream);
  for (int64_t i = 0; i < c.width; ++i) {
    double sum = 0, expected = 0, absolute = 0;
    for (int64_t k = 0; k < c.keys; ++k) sum += dvalue(k, i);
    for (int64_t q = 0; q < c.queries; ++q) {
      expected += upstream(q, i);
      absolute += std::abs(upstream(q, i));
    }
    const double roundings = kWeightRoundings + static_cast<double>(c.keys + c.queries);
    ASSERT_NEAR(sum, expected, roundings * kUnit * absolute) << what << ": the sum of column " << i;
  }
}

void expect_exact(const Case& c, const std::string& what) {
  const Expected expected = expected_results(c);
  on_every_isa([&](const std::string& isa) {
    const Found found = run(c);
    const std::string name = fmt::format("{}: {} queries, {} keys, d_k {}, magnitude {}, causal {}, {}", isa,
                                         c.queries, c.keys, c.width, c.magnitude, c.causal, what);
    expect_within(found.mixed, expected.mixed, name + ", output");
    expect_within(found.dquery, expected.dquery, name + ", dQ");
    expect_within(found.dkey, expected.dkey, name + ", dK");
    expect_within(found.dvalue, expected.dvalue, name + ", dV");
    expect_weights_add_up(c, found, name);
  });
}

Case normal_case(TensorSource& source, int64_t queries, int64_t keys, int64_t width, double magnitude) {
  const auto rows = [&](int64_t count, double deviation) {
    return source.normal({count, width}, DType::kFloat32, deviation);
  };
  return {queries,
          keys,
          width,
          magnitude,
          false,
          rows(queries, magnitude),
          rows(keys, magnitude),
          rows(keys, 1),
          rows(queries, 1)};
}

// Scores up to some 1e11.
TEST(AttentionMagnitude, GradientsAreThoseOfFloat64) {
  TensorSource source(1);
  for (const double magnitude : {1e-6, 1e-3, 1.0, 10.0, 100.0, 2e3, 1e5}) {
    for (const int64_t width : {4, 8, 16, 32, 64}) {
      for (const int64_t length : {1, 2, 4, 5, 33, 130}) {
        Case c = normal_case(source, length, length, width, magnitude);
        c.causal = source.number(0, 1) == 1;
        expect_exact(c, "as long");
      }
    }
  }
}

// Few queries go another way in the forward pass.
TEST(AttentionMagnitude, GradientsOfFewQueriesAreThoseOfFloat64) {
  TensorSource source(2);
  for (const double magnitude : {1e-6, 1.0, 100.0, 2e3, 1e5}) {
    for (const int64_t width : {4, 8, 64}) {
      for (const int64_t queries : {1, 3, 6}) {
        for (const int64_t keys : {1, 2, 20, 129, 300})
          expect_exact(normal_case(source, queries, keys, width, magnitude), "");
      }
    }
  }
}

// Products that cancel: scores are small, and what is left of them depends on the order of the additions.
TEST(AttentionMagnitude, WeightsAddUpWhereLargeProductsCancel) {
  TensorSource source(3);
  for (const int64_t length : {1, 2, 4, 20, 130}) {
    Case c = normal_case(source, length, length, 32, 2e3);
    for (int64_t row = 0; row < length; ++row) {
      for (int64_t i = 0; i < 16; ++i) {
        c.query.data<float>()[row * 32 + 16 + i] = -c.query.data<float>()[row * 32 + i];
        c.key.data<float>()[row * 32 + 16 + i] = c.key.data<float>()[row * 32 + i] * 1.0001F;
      }
    }
    expect_exact(c, "products that cancel");
  }
}

// All scores of a query are large, and their differences are not.
TEST(AttentionMagnitude, WeightsAddUpWhereScoresHaveALargeMean) {
  TensorSource source(4);
  for (const double mean : {-3e3, 1e3, 3e3, 1e5}) {
    for (const int64_t length : {1, 3, 20, 130, 300}) {
      Case c = normal_case(source, length, length, 8, 1);
      c.magnitude = mean;
      for (int64_t row = 0; row < length; ++row) {
        c.query.data<float>()[row * 8] = static_cast<float>(std::abs(mean));
        c.key.data<float>()[row * 8] += static_cast<float>(mean);
      }
      expect_exact(c, "a large mean");
    }
  }
}

}  // namespace
}  // namespace heed::ops
