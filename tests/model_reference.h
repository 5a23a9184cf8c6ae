// Packed outputs of models against the padded ones of reference cases.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/sequences.h"
#include "compare.h"
#include "nn/attention_sink.h"

namespace heed {

/// A padded batch (B, T) of ids without its padding.
inline Sequences sequences_of(const Tensor& padded, int64_t padding) {
  Sequences sequences;
  for (int64_t b = 0; b < padded.dim(0); ++b) {
    std::vector<int32_t> row;
    for (const int64_t id : padded.narrow(0, b, 1).to_vector<int64_t>()) {
      if (id != padding) row.push_back(static_cast<int32_t>(id));
    }
    sequences.append(row);
  }
  return sequences;
}

class KeepAll : public nn::AttentionSink {
 public:
  struct Weights {
    Tensor flat;
    ops::AttentionLayout layout;
    int heads = 0;
  };
  void receive(const nn::AttentionLayerId& place, const Var& weights, const ops::AttentionLayout& layout,
               int heads) override {
    all[{place.stack, place.layer}] = {weights.value().clone(), layout, heads};
  }
  std::map<std::tuple<Stack, int>, Weights> all;
};

/// Rows of real tokens, packed (N, W), against a padded (B, T, W).
inline void expect_rows(const Tensor& packed, const Tensor& padded, const std::vector<int32_t>& offsets,
                        double tolerance, const std::string& what) {
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const int64_t count = offsets[b + 1] - offsets[b];
    const Tensor expected = padded.narrow(0, static_cast<int64_t>(b), 1).narrow(1, 0, count).clone();
    expect_close(packed.narrow(0, offsets[b], count).clone(), expected.reshape({count, padded.dim(2)}),
                 tolerance, what + ", sequence " + std::to_string(b));
  }
}

/// Weights of every sequence and head against a padded (B, H, Tq, Tk).
inline void expect_weights(const KeepAll::Weights& actual, const Tensor& padded, double tolerance,
                           const std::string& what) {
  ASSERT_EQ(actual.heads, padded.dim(1)) << what;
  for (size_t b = 0; b < actual.layout.spans.size(); ++b) {
    const AttentionSpan& span = actual.layout.spans[b];
    const Shape shape{actual.heads, span.queries(), span.keys()};
    const Tensor flat = actual.flat.narrow(0, actual.heads * span.pairs_begin, shape.size()).clone();
    const Tensor expected = padded.narrow(0, static_cast<int64_t>(b), 1)
                                .narrow(2, 0, span.queries())
                                .narrow(3, 0, span.keys())
                                .clone();
    expect_close(flat.reshape(shape), expected.reshape(shape), tolerance,
                 what + ", sequence " + std::to_string(b));
  }
}

}  // namespace heed
