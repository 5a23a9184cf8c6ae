// Relative positions against the reference: Shaw's keys and values, T5's buckets, and rotary positions;
// attention outputs, weights and gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ops/attention/attention.h"
#include "ops/attention/distances.h"
#include "ops/attention/rotary.h"
#include "reference.h"

namespace heed {
namespace {

/// x (A, B, C, d) with B and C exchanged.
template <typename T>
Tensor exchanged(const Tensor& x) {
  Tensor y = Tensor::empty({x.dim(0), x.dim(2), x.dim(1), x.dim(3)}, x.dtype());
  T* to = y.data<T>();
  for (int64_t a = 0; a < x.dim(0); ++a) {
    for (int64_t c = 0; c < x.dim(2); ++c) {
      for (int64_t b = 0; b < x.dim(1); ++b) {
        const T* from = x.data<T>() + ((a * x.dim(1) + b) * x.dim(2) + c) * x.dim(3);
        to = std::copy_n(from, x.dim(3), to);
      }
    }
  }
  return y;
}
Tensor exchange(const Tensor& x) {
  return x.dtype() == DType::kFloat32 ? exchanged<float>(x) : exchanged<double>(x);
}

/// (B, H, T, d_k) -> (B T, H d_k): rows are tokens, heads are columns; and back.
Tensor rows_of_heads(const Tensor& x) {
  return exchange(x).reshape({x.dim(0) * x.dim(2), x.dim(1) * x.dim(3)});
}
Tensor heads_of_rows(const Tensor& x, const Shape& shape) {
  return exchange(x.reshape({shape[0], shape[2], shape[1], shape[3]}));
}

/// A case in one precision: inputs, and comparison of outputs.
class RelativeCase {
 public:
  RelativeCase(const ReferenceCase& reference, DType dtype) : reference_(reference), dtype_(dtype) {
    shape_ = reference.tensor("input.query").shape();
    query_ = tape_.leaf(rows("input.query"));
    key_ = tape_.leaf(rows("input.key"));
    value_ = tape_.leaf(rows("input.value"));
    if (!reference.has("input.key_visible")) return;
    mask.key_visible = reference.tensor("input.key_visible");
  }

  int heads() const { return static_cast<int>(shape_[1]); }
  int64_t length() const { return shape_[2]; }
  int64_t head_width() const { return shape_[3]; }
  int64_t width() const { return shape_[1] * shape_[3]; }
  ops::AttentionLayout layout() const {
    return ops::AttentionLayout::padded(shape_[0], shape_[2], shape_[2]);
  }
  ops::AttentionOperands operands(const Var& query, const Var& key, double scale) const {
    return {{query, 0, width()}, {key, 0, width()}, {value_, 0, width()}, heads(), scale};
  }
  ops::AttentionOperands operands(double scale) const { return operands(query_, key_, scale); }
  const Var& query() const { return query_; }
  const Var& key() const { return key_; }

  Var table(const std::string& name) {
    tables_.emplace_back(name, tape_.leaf(reference_.tensor("parameter." + name, dtype_)));
    return tables_.back().second;
  }

  void expect(const std::string& tensor, const Tensor& actual) const {
    expect_close(actual, reference_.tensor(tensor), reference_.tolerance(tensor, dtype_),
                 reference_.name() + " " + tensor + " in " + name_of(dtype_));
  }
  void expect_heads(const std::string& tensor, const Tensor& actual) const {
    expect(tensor, heads_of_rows(actual, shape_));
  }
  /// Compares the output, and all gradients.
  void finish(const Var& output) {
    expect_heads("expected.output", output.value());
    tape_.backward(output, rows("upstream.output"));
    expect_heads("gradient.query", tape_.gradient(query_));
    expect_heads("gradient.key", tape_.gradient(key_));
    expect_heads("gradient.value", tape_.gradient(value_));
    for (const auto& [name, variable] : tables_) expect("gradient." + name, tape_.gradient(variable));
  }

  ops::AttentionMask mask;

 private:
  Tensor rows(const std::string& tensor) const { return rows_of_heads(reference_.tensor(tensor, dtype_)); }

  const ReferenceCase& reference_;
  DType dtype_;
  Shape shape_;  // (B, H, T, d_k)
  Tape tape_;
  Var query_, key_, value_;
  std::vector<std::pair<std::string, Var>> tables_;
};

void expect_shaw(const ReferenceCase& reference, DType dtype) {
  RelativeCase run(reference, dtype);
  const auto distances = ops::Distances::clipped(reference.hyperparameters().at("k"));
  const auto layout = run.layout();
  const auto operands = run.operands(1 / std::sqrt(static_cast<double>(run.head_width())));
  const Var scores = ops::add_distance_keys(ops::attention_scores(operands, layout), run.table("table_key"),
                                            distances, operands, layout);
  const Var weights = ops::attention_softmax(scores, layout, run.heads(), run.mask);
  run.expect("expected.weights", weights.value().reshape(reference.tensor("expected.weights").shape()));
  const Var mixed = ops::attention_mix(weights, operands, layout);
  run.finish(
      ops::add_distance_values({weights, mixed}, run.table("table_value"), distances, layout, run.heads()));
}

void expect_buckets(const ReferenceCase& reference, DType dtype) {
  RelativeCase run(reference, dtype);
  const auto& settings = reference.hyperparameters();
  const bool bidirectional = settings.at("bidirectional");
  const auto distances = ops::Distances::buckets({.buckets = settings.at("buckets"),
                                                  .reach = settings.at("max_distance"),
                                                  .bidirectional = bidirectional});
  const std::vector<int64_t> buckets = reference.tensor("expected.buckets").to_vector<int64_t>();
  for (int64_t i = 0; i < run.length(); ++i) {
    for (int64_t j = 0; j < run.length(); ++j) {
      EXPECT_EQ(distances.row(j - i), buckets[static_cast<size_t>(i * run.length() + j)]) << i << ", " << j;
    }
  }
  const auto defaults = ops::Distances::buckets({.bidirectional = bidirectional});
  const std::vector<int64_t> far = reference.tensor("input.distances").to_vector<int64_t>(),
                             expected =
                                 reference.tensor("expected.buckets_of_distances").to_vector<int64_t>();
  for (size_t n = 0; n < far.size(); ++n) EXPECT_EQ(defaults.row(far[n]), expected[n]) << far[n];

  run.mask.causal = settings.at("causal_mask");
  const auto layout = run.layout();
  const auto operands = run.operands(1);
  const Var scores = ops::add_distance_bias(ops::attention_scores(operands, layout), run.table("table"),
                                            distances, layout, run.heads());
  const Var weights = ops::attention_softmax(scores, layout, run.heads(), run.mask);
  run.expect("expected.weights", weights.value().reshape(reference.tensor("expected.weights").shape()));
  run.finish(ops::attention_mix(weights, operands, layout));
}

void expect_rotary(const ReferenceCase& reference, DType dtype, ops::RotaryLayout order) {
  RelativeCase run(reference, dtype);
  const auto layout = run.layout();
  std::vector<int32_t> positions;
  for (size_t b = 0; b < layout.spans.size(); ++b) {
    for (const int64_t each : reference.tensor("input.positions").to_vector<int64_t>()) {
      positions.push_back(static_cast<int32_t>(each));
    }
  }
  const ops::RotaryAngles angles =
      ops::rotary_angles(positions, {.head_width = run.head_width(),
                                     .base = reference.hyperparameters().at("base").get<double>(),
                                     .layout = order,
                                     .dtype = dtype});
  const Var query = ops::rotate(run.query(), run.width(), angles),
            key = ops::rotate(run.key(), run.width(), angles);
  run.expect_heads("expected.rotated_query", query.value());
  run.expect_heads("expected.rotated_key", key.value());
  const auto operands = run.operands(query, key, 1 / std::sqrt(static_cast<double>(run.head_width())));
  const Var weights =
      ops::attention_softmax(ops::attention_scores(operands, layout), layout, run.heads(), {.causal = true});
  run.expect("expected.weights", weights.value().reshape(reference.tensor("expected.weights").shape()));
  run.finish(ops::flash_attention(operands, layout, true));
}

TEST(RelativeReference, OutputsWeightsAndGradients) {
  const auto cases = fixture_cases("relative");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  for (const std::string& name : cases) {
    const ReferenceCase reference(name);
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      if (reference.has("parameter.table_key")) {
        expect_shaw(reference, dtype);
      } else if (reference.has("parameter.table")) {
        expect_buckets(reference, dtype);
      } else {
        ASSERT_TRUE(reference.has("expected.rotated_query")) << name;
        const bool halves = name.ends_with("halves");
        expect_rotary(reference, dtype,
                      halves ? ops::RotaryLayout::kHalves : ops::RotaryLayout::kInterleaved);
      }
    }
  }
}

}  // namespace
}  // namespace heed
