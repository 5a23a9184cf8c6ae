#include "ops/recurrent/recurrent.h"

#include "compare.h"
#include "ops/columns.h"
#include "ops/embedding.h"
#include "ops/gradient_test.h"
#include "ops/linear.h"
#include "ops/recurrent/recurrent_attention.h"
#include "ops/recurrent/recurrent_decoder.h"
#include "ops/recurrent/test_recurrent_cells.h"
#include "ops/reshape.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

constexpr RecurrentCell kCells[] = {RecurrentCell::kGru, RecurrentCell::kLstm};
const std::vector<int32_t> kOffsets{0, 2, 7, 7, 8, 11};  // lengths 2, 5, 0, 1, 3
constexpr int64_t kTokens = 11, kSequences = 5;

Var row_of_batch(const Var& x, int64_t row) {
  return embedding(x, Tensor::from<int32_t>({static_cast<int32_t>(row)}, {1}));  // (1, width)
}

/// The weights of one direction, and the states before the first token: columns of (B, 2 S).
struct Direction {
  Var weight, bias, initial;
};

/// The state after one step: h, or h and c side by side.
Var step(RecurrentCell cell, const Var& input, const Var& hidden, const Var& state) {
  if (cell == RecurrentCell::kGru) return gru_cell(input, hidden, state);
  const int64_t width = state.dim(1) / 2;
  return lstm_cell(input, hidden, columns(state, width, width));
}

Var state_of(RecurrentCell cell, const Var& state) {
  return cell == RecurrentCell::kGru ? state : columns(state, 0, state.dim(1) / 2);
}

/// The oracle, made of elementwise ops: one sequence after the other, one token after the other. Gives (1, N
/// S).
Var token_by_token(RecurrentCell cell, const Var& gates, const Direction& d, bool reverse,
                   const std::vector<int32_t>& offsets = kOffsets) {
  const int64_t width = d.weight.dim(1);
  std::vector<Var> states(static_cast<size_t>(offsets.back()));
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    Var state = row_of_batch(d.initial, static_cast<int64_t>(b));
    if (cell == RecurrentCell::kGru) state = columns(state, 0, width);
    for (int32_t t = 0; t < offsets[b + 1] - offsets[b]; ++t) {
      const int32_t row = reverse ? offsets[b + 1] - 1 - t : offsets[b] + t;
      const Var hidden = linear(state_of(cell, state), d.weight, d.bias);
      state = step(cell, row_of_batch(gates, row), hidden, state);
      states[row] = state_of(cell, state);
    }
  }
  return concatenate(states);  // (1, N S)
}

RecurrentDirection fast(const Direction& d, bool reverse) {
  const int64_t width = d.weight.dim(1);
  return {.hidden_weight = d.weight,
          .hidden_bias = d.bias,
          .reverse = reverse,
          .initial = {d.initial, 0, width},
          .initial_cell = {d.initial, width, width}};
}

/// Gates, weight, bias and initial states, in float64.
std::vector<Tensor> inputs_for(RecurrentCell cell, int64_t width, uint64_t seed, int64_t directions = 1) {
  TensorSource source(seed);
  const int64_t gates = gates_of(cell) * width;
  std::vector<Tensor> inputs{source.normal({kTokens, directions * gates})};
  for (int64_t n = 0; n < directions; ++n) {
    inputs.push_back(source.normal({gates, width}));
    inputs.push_back(source.normal({gates}));
    inputs.push_back(source.normal({kSequences, 2 * width}));
  }
  return inputs;
}

TEST(Recurrent, AgreesWithSingleSteps) {
  for (const RecurrentCell cell : kCells) {
    for (const bool reverse : {false, true}) {
      for (const int64_t width : {1, 3, 17}) {
        const auto x = inputs_for(cell, width, 1);
        const Direction d{x[1], x[2], x[3]};
        const Var expected = token_by_token(cell, x[0], d, reverse);
        const RecurrentStates actual = recurrent(cell, x[0], kOffsets, {fast(d, reverse)});
        // The same sums in another order: width + 2 terms of size 1.
        expect_close(actual.states.value().reshape({1, kTokens * width}), expected.value(),
                     1e-15 * 16 * static_cast<double>(width + 2), "states");
        EXPECT_EQ(actual.cells.defined(), cell == RecurrentCell::kLstm);
        const Var other = token_by_token(cell, x[0], d, !reverse);
        EXPECT_NE(other.value().to_vector<double>(), expected.value().to_vector<double>());
      }
    }
  }
}

TEST(Recurrent, DirectionsStandSideBySide) {
  for (const RecurrentCell cell : kCells) {
    const auto x = inputs_for(cell, 3, 2, 2);
    const int64_t gates = gates_of(cell) * 3;
    const Direction a{x[1], x[2], x[3]}, b{x[4], x[5], x[6]};
    const RecurrentStates both = recurrent(cell, x[0], kOffsets, {fast(a, false), fast(b, true)});
    const RecurrentStates first = recurrent(cell, columns(x[0], 0, gates), kOffsets, {fast(a, false)});
    const RecurrentStates second = recurrent(cell, columns(x[0], gates, gates), kOffsets, {fast(b, true)});
    expect_equal(both.states.value(), concatenate({first.states, second.states}).value(), "states");
    if (cell == RecurrentCell::kLstm) {
      expect_equal(both.cells, concatenate({first.cells, second.cells}).value(), "cells");
    }
  }
}

TEST(Recurrent, StatesAfterTheLastTokenGoOnWhereAnotherCallBegins) {
  for (const RecurrentCell cell : kCells) {
    const auto x = inputs_for(cell, 3, 3);
    const Direction d{x[1], x[2], x[3]};
    const std::vector<int32_t> whole{0, 11}, first{0, 4}, rest{0, 7};
    const auto begin = x[3].narrow(0, 0, 1).clone();
    const Direction start{d.weight, d.bias, begin};
    const auto all = recurrent(cell, x[0], whole, {fast(start, false)});
    const auto head = recurrent(cell, x[0].narrow(0, 0, 4).clone(), first, {fast(start, false)});
    const Tensor h = head.states.value().narrow(0, 3, 1).clone();
    const Tensor c = cell == RecurrentCell::kLstm ? head.cells.narrow(0, 3, 1).clone() : h;
    const Direction middle{d.weight, d.bias, concatenate({h, c})};
    const auto tail = recurrent(cell, x[0].narrow(0, 4, 7).clone(), rest, {fast(middle, false)});
    expect_equal(tail.states.value(), all.states.value().narrow(0, 4, 7).clone(), "the rest");
  }
}

TEST(Recurrent, ErrorsNameShapes) {
  const auto gru = RecurrentCell::kGru;
  const Tensor gates = Tensor::zeros({11, 9}), weight = Tensor::zeros({9, 3});
  expect_error(ErrorKind::kShape, "do not fit gates of (11, 9)", [&] {
    recurrent(gru, gates, {0, 5}, {{.hidden_weight = weight}});
  });
  expect_error(ErrorKind::kShape, "must be (3 S, S), not (9, 4)", [&] {
    recurrent(gru, gates, kOffsets, {{.hidden_weight = Tensor::zeros({9, 4})}});
  });
  expect_error(ErrorKind::kShape, "needs a bias of (9), not (3)", [&] {
    recurrent(gru, gates, kOffsets, {{.hidden_weight = weight, .hidden_bias = Tensor::zeros({3})}});
  });
  expect_error(ErrorKind::kShape, "not initial states of width 3 for 5 sequences", [&] {
    recurrent(gru, gates, kOffsets, {{.hidden_weight = weight, .initial = {Tensor::zeros({4, 3}), 0, 3}}});
  });
  expect_error(ErrorKind::kShape, "must not fall", [&] {
    recurrent(gru, gates, {0, 12, 11}, {{.hidden_weight = weight}});
  });
}

GRADIENT_CHECK(recurrent, BothCellsAndDirections) {
  for (const RecurrentCell cell : kCells) {
    const auto both = [cell](const std::vector<Var>& x) {
      return recurrent(cell, x[0], kOffsets,
                       {fast({x[1], x[2], x[3]}, false), fast({x[4], x[5], x[6]}, true)})
          .states;
    };
    expect_gradients(both, inputs_for(cell, 3, 4, 2));
    const auto plain = [cell](const std::vector<Var>& x) {
      return recurrent(cell, x[0], kOffsets, {{.hidden_weight = x[1]}}).states;
    };
    expect_gradients(plain, inputs_for(cell, 1, 5));
  }
}

GRADIENT_CHECK(recurrent, NothingToRead) {
  const auto plain = [](const std::vector<Var>& x) {
    return recurrent(RecurrentCell::kGru, x[0], {0, 0}, {{.hidden_weight = x[1]}}).states;
  };
  expect_gradients(plain, {Tensor::zeros({0, 6}, DType::kFloat64), TensorSource(1).normal({6, 2})});
}

// ---- With attention ---------------------------------------------------------------------------------------

const std::vector<int32_t> kSourceOffsets{0, 3, 4, 6, 8, 12};
constexpr int64_t kSourceTokens = 12, kAnnotation = 4, kScore = 5;

/// Gates, annotations, keys, recurrent weight and bias, weight of the context, initial states, and v for the
/// additive score.
std::vector<Tensor> attentive_inputs(RecurrentCell cell, int64_t width, bool additive) {
  TensorSource source(6);
  const int64_t gates = gates_of(cell) * width, key = additive ? kScore : width;
  std::vector<Tensor> inputs{source.normal({kTokens, gates}),
                             source.normal({kSourceTokens, kAnnotation}),
                             source.normal({kSourceTokens, key}),
                             source.normal({additive ? gates + key : gates, width}),
                             source.normal({gates}),
                             source.normal({gates, kAnnotation}),
                             source.normal({kSequences, 2 * width})};
  if (additive) inputs.push_back(source.normal({key}));
  return inputs;
}

RecurrentDecoderOutput attend(RecurrentCell cell, const std::vector<Var>& x) {
  const int64_t width = x[3].dim(1);
  return recurrent_decoder(
      x[0], {x[1], x[2]},
      {.cell = cell, .hidden = x[3], .hidden_bias = x[4], .context = x[5], .v = x.size() > 7 ? x[7] : Var()},
      AttentionLayout::packed(kOffsets, kSourceOffsets), {{x[6], 0, width}, {x[6], width, width}});
}

/// The oracle: every token by itself. Gives (1, N (S + C)).
Var attend_token_by_token(RecurrentCell cell, const std::vector<Var>& x) {
  const int64_t width = x[3].dim(1), gates = gates_of(cell) * width;
  const bool additive = x.size() > 7;
  std::vector<Var> line;
  for (size_t b = 0; b + 1 < kOffsets.size(); ++b) {
    Var state = row_of_batch(x[6], static_cast<int64_t>(b));
    if (cell == RecurrentCell::kGru) state = columns(state, 0, width);
    for (int32_t row = kOffsets[b]; row < kOffsets[b + 1]; ++row) {
      const Var all = linear(state_of(cell, state), x[3]);
      const Var query = additive ? columns(all, gates, kScore) : state_of(cell, state);
      AttentionLayout layout;
      layout.spans = {{0, 1, kSourceOffsets[b], kSourceOffsets[b + 1], 0}};
      const Var context = recurrent_attention(query, x[2], x[1], additive ? x[7] : Var(), layout).context;
      const Var input = add(row_of_batch(x[0], row), linear(context, x[5]));
      state = step(cell, input, add(columns(all, 0, gates), reshape(x[4], {1, gates})), state);
      line.push_back(state_of(cell, state));
      line.push_back(context);
    }
  }
  return concatenate(line);
}

std::vector<Var> constants(const std::vector<Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

TEST(RecurrentDecoder, AgreesWithSingleSteps) {
  for (const RecurrentCell cell : kCells) {
    for (const bool additive : {false, true}) {
      for (const int64_t width : {1, 3, 17}) {
        const auto x = constants(attentive_inputs(cell, width, additive));
        const RecurrentDecoderOutput actual = attend(cell, x);
        // The same sums in another order; the softmax takes the error of its scores over.
        expect_close(actual.output.value().reshape({1, kTokens * (width + kAnnotation)}),
                     attend_token_by_token(cell, x).value(), 1e-15 * 64 * static_cast<double>(width + 8),
                     "states and contexts");
      }
    }
  }
}

TEST(RecurrentDecoder, WeightsSumToOneOverTheSentencesOwnTokens) {
  const auto x = constants(attentive_inputs(RecurrentCell::kGru, 3, true));
  const RecurrentDecoderOutput result = attend(RecurrentCell::kGru, x);
  const auto layout = AttentionLayout::packed(kOffsets, kSourceOffsets);
  ASSERT_EQ(result.weights.size(), layout.pairs());
  for (const AttentionSpan& span : layout.spans) {
    for (int64_t q = 0; q < span.queries(); ++q) {
      double sum = 0;
      for (int64_t k = 0; k < span.keys(); ++k) {
        sum += result.weights.data<double>()[span.pairs_begin + q * span.keys() + k];
      }
      EXPECT_NEAR(sum, 1, 1e-15 * 8);
    }
  }
}

GRADIENT_CHECK(recurrent_decoder, BothCellsAndScores) {
  for (const RecurrentCell cell : kCells) {
    for (const bool additive : {false, true}) {
      expect_gradients([cell](const auto& x) { return attend(cell, x).output; },
                       attentive_inputs(cell, 3, additive));
    }
  }
}

TEST(RecurrentDecoder, ErrorsNameShapes) {
  auto x = constants(attentive_inputs(RecurrentCell::kGru, 3, true));
  const auto with = [&](size_t input, const Shape& shape) {
    auto changed = x;
    changed[input] = Tensor::zeros(shape, DType::kFloat64);
    return attend(RecurrentCell::kGru, changed);
  };
  expect_error(ErrorKind::kShape, "the recurrent weight must be (14, 3)", [&] { with(3, {9, 3}); });
  expect_error(ErrorKind::kShape, "the keys must be (12, 5)", [&] { with(2, {12, 4}); });
  expect_error(ErrorKind::kShape, "the weight of the context must be (9, 4)", [&] { with(5, {9, 5}); });
  expect_error(ErrorKind::kShape, "the bias must be (9)", [&] { with(4, {8}); });
  expect_error(ErrorKind::kShape, "not initial states of width 3", [&] { with(6, {4, 6}); });
  expect_error(ErrorKind::kShape, "hold 11 tokens of (12, 9)", [&] { with(0, {12, 9}); });
}

}  // namespace
}  // namespace heed::ops
