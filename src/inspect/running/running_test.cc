// Forward passes, decodings and hooks of small random models, by ids.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "compare.h"
#include "inspect/lens/lens.h"
#include "inspect/running/forward_pass.h"
#include "inspect/running/hook_points.h"
#include "inspect/running/row_decoding.h"
#include "inspect/test_inspected_models.h"
#include "nn/head_scales.h"
#include "test_folder.h"

namespace heed {
namespace {

const std::vector<int32_t> kSource{3, 7, 11, 0}, kDecoderIds{29, 5, 8};

/// What each model reads.
struct RunModel {
  TestInspected model;
  std::vector<int32_t> ids, decoder_ids;
};
std::vector<RunModel> run_models() {
  std::vector<RunModel> all;
  all.push_back({small_transformer(/*norm_first=*/true), kSource, kDecoderIds});
  all.push_back({small_transformer(/*norm_first=*/false), kSource, kDecoderIds});
  all.push_back({small_rnn(), kSource, kDecoderIds});
  all.push_back({small_language_model(), {4, 9, 2, 17}, {}});
  return all;
}

TEST(Forward, HiddenStatesAreThoseOfTheLens) {
  const TestInspected model = small_transformer(/*norm_first=*/true);
  ThreadPool pool(1);
  const Lens lens = look_through(model.view(), small_reading(), 3, pool, false);
  const ForwardResult result = forward_pass(model.loaded, kSource, kDecoderIds, {.hidden_states = true});
  const auto expect_states = [](const std::vector<Tensor>& hidden, const LensStack& stack) {
    const std::vector<size_t> steps = stack.steps();
    ASSERT_EQ(hidden.size(), steps.size());
    for (size_t n = 0; n < steps.size(); ++n) {
      EXPECT_EQ(hidden[n].to_vector<float>(), stack.states[steps[n]].values) << n;
    }
  };
  expect_states(result.encoder, lens.encoder);
  expect_states(result.decoder, lens.decoder);
  EXPECT_EQ(result.logits.shape(), (Shape{3, 30}));
  EXPECT_TRUE(forward_pass(model.loaded, kSource, kDecoderIds, {}).encoder.empty());
}

TEST(Forward, LastLogitsAreThoseOfTheLastPosition) {
  for (const RunModel& each : run_models()) {
    const Tensor all = forward_pass(each.model.loaded, each.ids, each.decoder_ids, {}).logits;
    const Tensor last =
        forward_pass(each.model.loaded, each.ids, each.decoder_ids, {.last_only = true}).logits;
    expect_equal(last, all.narrow(0, all.dim(0) - 1, 1).clone(), "last logits");
  }
}

TEST(Decoding, StepsGiveTheLogitsOfForward) {
  for (const RunModel& each : run_models()) {
    const Tensor all = forward_pass(each.model.loaded, each.ids, each.decoder_ids, {}).logits;
    // From the first token of the decoder on.
    const bool translates = !each.decoder_ids.empty();
    const std::vector<int32_t>& read = translates ? each.decoder_ids : each.ids;
    const std::vector<int32_t> first{read[0]};
    RowDecoding decoding(each.model.loaded, translates ? each.ids : first,
                         translates ? first : std::vector<int32_t>{}, {});
    for (size_t n = 0; n < read.size(); ++n) {
      if (n > 0) decoding.step({read[n]}, {});
      EXPECT_EQ(decoding.length(), static_cast<int64_t>(n) + 1);
      const Tensor expected = all.narrow(0, static_cast<int64_t>(n), 1).clone();
      EXPECT_LT(largest_difference(decoding.logits(), expected), 1e-5) << "position " << n;
    }
    // All at once.
    const RowDecoding whole(each.model.loaded, each.ids, each.decoder_ids, {});
    EXPECT_LT(largest_difference(whole.logits(), decoding.logits()), 1e-5);
  }
}

/// Rows have the bits of decodings of their own.
TEST(Decoding, RowsContinueTheirParents) {
  for (const RunModel& each : run_models()) {
    RowDecoding rows(each.model.loaded, each.ids, each.decoder_ids, {});
    rows.step({4, 6, 9}, {0, 0, 0});
    ASSERT_EQ(rows.rows(), 3);
    rows.step({1, 2, 3}, {2, 0, 2});
    const std::vector<std::vector<int32_t>> written{{9, 1}, {4, 2}, {9, 3}};
    for (size_t n = 0; n < written.size(); ++n) {
      RowDecoding alone(each.model.loaded, each.ids, each.decoder_ids, {});
      for (const int32_t token : written[n]) alone.step({token}, {});
      expect_equal(rows.logits().narrow(0, static_cast<int64_t>(n), 1).clone(), alone.logits(), "row");
    }
    RowDecoding other(each.model.loaded, each.ids, each.decoder_ids, {});
    other.step({4}, {});
    other.step({1}, {});
    EXPECT_GT(largest_difference(rows.logits().narrow(0, 0, 1).clone(), other.logits()), 1e-4);
  }
}

TEST(Decoding, Errors) {
  const TestInspected model = small_language_model();
  RowDecoding decoding(model.loaded, {4, 9}, {}, {});
  expect_error(ErrorKind::kShape, "there are 2 tokens for 1 rows", [&] { decoding.step({1, 2}, {}); });
  expect_error(ErrorKind::kShape, "no tokens", [&] { decoding.step({}, {}); });
  expect_error(ErrorKind::kShape, "1 parents for 2 tokens", [&] { decoding.step({1, 2}, {0}); });
  expect_error(ErrorKind::kUsage, "no row 1 to continue", [&] { decoding.step({1}, {1}); });
  expect_error(ErrorKind::kUsage, "no id 30 (number 2 ", [&] { decoding.step({1, 30}, {0, 0}); });
  for (int n = 2; n < 20; ++n) decoding.step({1}, {});
  expect_error(ErrorKind::kUsage, "which is the model's maximum", [&] { decoding.step({1}, {}); });
}

TEST(Forward, Errors) {
  const TestInspected language_model = small_language_model(), transformer = small_transformer(true);
  const auto forward = [](const TestInspected& model, const std::vector<int32_t>& ids,
                          const std::vector<int32_t>& decoder_ids, const ForwardOptions& options = {}) {
    return [&model, ids, decoder_ids, options] { forward_pass(model.loaded, ids, decoder_ids, options); };
  };
  expect_error(ErrorKind::kUsage, "no ids for the model", forward(language_model, {}, {}));
  expect_error(ErrorKind::kUsage, "no id -1", forward(language_model, {4, -1}, {}));
  expect_error(ErrorKind::kUsage, "the model's maximum is 20",
               forward(language_model, std::vector<int32_t>(21, 1), {}));
  expect_error(ErrorKind::kUsage, "encoder and decoder", forward(language_model, {4}, {4}));
  expect_error(ErrorKind::kUsage, "no ids for the encoder", forward(transformer, {}, {29}));
  expect_error(ErrorKind::kUsage, "token types are for",
               forward(language_model, {4}, {}, {.types = std::vector<int32_t>{0}}));
  // Without decoder ids, the start token alone.
  EXPECT_EQ(forward_pass(transformer.loaded, kSource, {}, {}).logits.to_vector<float>(),
            forward_pass(transformer.loaded, kSource, {29}, {}).logits.to_vector<float>());
}

// ---- Hooks ------------------------------------------------------------------------------------------------

/// The names of the states that pass, and what is read there.
struct Read {
  std::vector<std::string> names;
  std::vector<std::vector<int>> positions;
  std::vector<std::vector<float>> values;
  Hook hook() {
    return [this](const HookedState& state) {
      names.push_back(state.name);
      positions.emplace_back(state.positions.begin(), state.positions.end());
      values.emplace_back(state.values.begin(), state.values.end());
    };
  }
};

TEST(Hooks, ReadHiddenStatesAndChangeNothing) {
  const TestInspected model = small_transformer(/*norm_first=*/false);
  Read read;
  const ForwardOptions options{.hidden_states = true,
                               .hooks = {{"encoder:embedding", read.hook()},
                                         {"encoder:all:layer", read.hook()},
                                         {"encoder:output", read.hook()}}};
  const ForwardResult hooked = forward_pass(model.loaded, kSource, kDecoderIds, options);
  EXPECT_EQ(read.names, (std::vector<std::string>{"encoder:embedding", "encoder:1:layer", "encoder:2:layer",
                                                  "encoder:output"}));
  EXPECT_EQ(read.positions[0], (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(read.values[0], hooked.encoder[0].to_vector<float>());
  EXPECT_EQ(read.values[1], hooked.encoder[1].to_vector<float>());
  EXPECT_EQ(read.values[3], hooked.encoder[2].to_vector<float>());
  expect_equal(hooked.logits, forward_pass(model.loaded, kSource, kDecoderIds, {}).logits, "logits");
}

TEST(Hooks, HeadsThatAreSetToZeroAreSwitchedOff) {
  const TestInspected model = small_transformer(/*norm_first=*/true);
  const Hook clear = [](const HookedState& state) { std::ranges::fill(state.values, 0.0F); };
  const Tensor found =
      forward_pass(model.loaded, kSource, kDecoderIds, {.hooks = {{"cross:2:1", clear}}}).logits;
  const nn::HeadScales off({{.layer_id = {Stack::kCross, 1}, .head = 0}});
  nn::Context context = model.loaded.context();
  context.head_scales = &off;
  Sequences source, target;
  source.append(kSource);
  target.append(kDecoderIds);
  expect_equal(found, model.loaded.seq2seq().logits(context, source, target), "logits");
  EXPECT_GT(largest_difference(found, forward_pass(model.loaded, kSource, kDecoderIds, {}).logits), 1e-4);
}

TEST(Hooks, StepsAreHookedAsForwardPassesAre) {
  for (const RunModel& each : run_models()) {
    const bool recurrent = each.model.loaded.model->attention_heads(Stack::kDecoder).layers == 0;
    Read read;
    // A later token may depend on what is replaced at an earlier position.
    const Hooks hooks{{"decoder:output",
                       [](const HookedState& state) {
                         for (float& value : state.values) value *= 1.5F;
                       }},
                      {recurrent ? "decoder:embedding" : "decoder:1:self-attention",
                       [](const HookedState& state) {
                         for (int n = 0; n < state.rows(); ++n) state.row(n)[3] += 0.25F;
                       }},
                      {"decoder:output", read.hook()}};
    const Tensor all = forward_pass(each.model.loaded, each.ids, each.decoder_ids, {.hooks = hooks}).logits;
    read = {};
    const RowDecoding decoding(each.model.loaded, each.ids, each.decoder_ids, hooks);
    const Tensor last = all.narrow(0, all.dim(0) - 1, 1).clone();
    EXPECT_LT(largest_difference(decoding.logits(), last), 1e-5);
    EXPECT_EQ(read.positions.back(), (std::vector<int>{static_cast<int>(decoding.length()) - 1}));
    EXPECT_GT(
        largest_difference(last, RowDecoding(each.model.loaded, each.ids, each.decoder_ids, {}).logits()),
        1e-3);
  }
}

TEST(Hooks, ExceptionsReachTheCaller) {
  const TestInspected model = small_transformer(/*norm_first=*/true);
  int calls = 0;
  const Hook second_fails = [&](const HookedState&) {
    if (++calls == 2) throw std::runtime_error("enough");
  };
  RowDecoding decoding(model.loaded, kSource, {}, {{"decoder:1:layer", second_fails}});
  EXPECT_THROW(decoding.step({4}, {}), std::runtime_error);
  expect_error(ErrorKind::kUsage, "ended with an exception", [&] { decoding.step({4}, {}); });
  const Hook spoils = [](const HookedState& state) {
    state.values[0] = std::numeric_limits<float>::quiet_NaN();
  };
  expect_error(ErrorKind::kNumeric, "the hook on 'encoder:2:feed-forward'", [&] {
    forward_pass(model.loaded, kSource, {}, {.hooks = {{"encoder:2:feed-forward", spoils}}});
  });
  expect_error(ErrorKind::kUsage, "has no function", [&] {
    forward_pass(model.loaded, kSource, {}, {.hooks = {{"encoder:2:feed-forward", {}}}});
  });
}

/// Every state that has a name passes, and no name is refused.
TEST(Hooks, AllNamesAreCalled) {
  for (const RunModel& each : run_models()) {
    std::vector<std::string> expected;
    Read read;
    Hooks hooks;
    for (const HookPoint& point : hook_points(*each.model.loaded.model)) {
      expected.push_back(hook_name(point));
      hooks.emplace_back(expected.back(), read.hook());
    }
    forward_pass(each.model.loaded, each.ids, each.decoder_ids, {.hooks = hooks});
    EXPECT_EQ(read.names, expected);
  }
}

TEST(Hooks, Names) {
  const TestInspected transformer = small_transformer(true), rnn = small_rnn();
  const auto count = [](const TestInspected& model, const std::string& name) {
    return hook_points_named(*model.loaded.model, name).size();
  };
  EXPECT_EQ(count(transformer, "cross:all:all"), 4U);
  EXPECT_EQ(count(transformer, "decoder:2:all"), 2U);
  EXPECT_EQ(count(transformer, "decoder:all:feed-forward"), 2U);
  EXPECT_EQ(count(rnn, "encoder:1:layer"), 1U);
  for (const char* name :
       {"", "encoder", "encoder:3:layer", "encoder:1:3", "cross:1:layer", "encoder:1",
        "encoder:1:cross-attention", "all:1:1", "encoder:0:1", "encoder:1:1:", "encoder:all"}) {
    expect_error(ErrorKind::kUsage, "it has encoder:embedding, encoder:1:1, encoder:1:self-attention",
                 [&] { count(transformer, name); });
  }
  expect_error(ErrorKind::kUsage, "no state 'cross:1:1'", [&] { count(rnn, "cross:1:1"); });
}

}  // namespace
}  // namespace heed
