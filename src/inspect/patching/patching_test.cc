#include "inspect/patching/patching.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "inspect/draw/test_pictures.h"
#include "inspect/json/patching_json.h"
#include "inspect/patching/patch_plan.h"
#include "inspect/patching/patching_table.h"
#include "inspect/reading/model_to_inspect.h"
#include "inspect/test_inspected_models.h"
#include "paths.h"

namespace heed {
namespace {

/// small_reading() with another second token.
Reading other_reading() {
  Reading reading = small_reading();
  reading.source_ids[1] = 9;
  reading.encoder_tokens[1] = "\u25819";
  return reading;
}

/// The same with a token more.
Reading longer_reading() {
  Reading reading = small_reading();
  reading.source_ids = {3, 9, 12, 11, 0};
  reading.encoder_tokens = {"\u25813", "\u25819", "\u258112", "\u258111", "\u25810"};
  reading.source_special = {false, false, false, false, true};
  return reading;
}

/// A text of four tokens, which a language model continues with 5 and 8.
Reading prompt_reading(int32_t second) {
  Reading reading;
  reading.decoder_ids = {3, second, 11, 4, 5, 8};
  reading.decoder_tokens = {"3", std::to_string(second), "11", "4", "5", "8"};
  reading.decoder_special.assign(6, false);
  reading.target_ids = {5, 8};
  reading.target_tokens = {"5", "8"};
  reading.rows = {3, 4};
  reading.first_target_row = 4;
  return reading;
}

Patching patching_of(const TestInspected& model, const PatchOptions& options, int threads = 2) {
  ThreadPool pool(threads);
  return patch(model.view(), small_reading(), other_reading(), options, pool);
}

/// The n-th state of one kind, of a text read alone, is the recorded one in some rows and columns.
class OneReplaced : public nn::StateHook {
 public:
  OneReplaced(nn::StateId id, Tensor clean) : id_(id), clean_(std::move(clean)) {}
  bool wants(nn::StateKind kind) const override { return kind == id_.kind; }
  Var pass(const nn::StateId& id, const Var& state) override {
    if (id.stack != id_.stack || id.layer != id_.layer || id.sub_layer != id_.sub_layer) return state;
    Tensor changed = state.value().clone();
    for (int64_t row = 0; row < changed.dim(0); ++row) {
      for (int64_t column = first_column; column < last_column; ++column) {
        const int64_t at = row * changed.dim(1) + column;
        changed.data<float>()[at] = clean_.data<float>()[at];
      }
    }
    return changed;
  }
  int64_t first_column = 0, last_column = 0;

 private:
  nn::StateId id_;
  Tensor clean_;
};

/// f of a whole reading, computed without patching's batches.
double value_of(const TestInspected& model, const Reading& reading, nn::StateHook& hook) {
  nn::Context context = model.loaded.context();
  context.states = &hook;
  double sum = 0;
  const Var found = log_probabilities(*model.loaded.model, context, reading.input(),
                                      {.rows = reading.rows, .ids = reading.target_ids});
  for (const double each : found.value().to_vector<double>()) sum += each;
  return sum;
}

TEST(Patching, AHeadIsTheColumnsOfItsOutput) {
  for (const bool norm_first : {false, true}) {
    const TestInspected model = small_transformer(norm_first);
    const PatchedText text = patched_text(small_reading(), {0, 1, 2}, -1);
    const CleanRun clean = run_clean(model.view(), text, {nn::StateKind::kHeads});
    ASSERT_EQ(clean.states.size(), 6u);  // 2 layers of an encoder, 2 with two attentions of a decoder
    const Patching found = patching_of(model, {});
    const RecordedState& cross = clean.states[5];
    EXPECT_EQ(cross.id.sub_layer, nn::SubLayer::kCrossAttention);
    for (int64_t head = 0; head < 2; ++head) {
      OneReplaced hook(cross.id, cross.value);
      hook.first_column = head * 8;
      hook.last_column = head * 8 + 8;
      const double patched = value_of(model, other_reading(), hook);
      hook.last_column = hook.first_column;
      const double corrupted = value_of(model, other_reading(), hook);
      const double expected = (patched - corrupted) / (found.clean - corrupted);
      EXPECT_NEAR(found.cross.effects[static_cast<size_t>(2 + head)], expected, 1e-4);
      EXPECT_GT(std::abs(expected), 1e-3);
    }
    EXPECT_EQ(found.cross.rows, (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(found.encoder.columns, (std::vector<std::string>{"1", "2"}));
  }
}

/// All that the first layer reads is that of the clean text, so all of the difference comes back.
TEST(Patching, AllPositionsBringEverythingBack) {
  for (const TestInspected& model : {small_transformer(false), small_transformer(true), small_rnn()}) {
    const PatchedText text = patched_text(small_reading(), {0, 1, 2}, -1);
    const PatchedText other = patched_text(other_reading(), {0, 1, 2}, -1);
    const CleanRun clean = run_clean(model.view(), text, {nn::StateKind::kResidual});
    const RowAlignment rows{{0, 1, 2, 3}, {0, 1, 2}};
    const std::vector<double> values =
        run_patched(model.view(), other, clean, rows, {{}, {.states = {0}}, {.states = {0}, .row = 1}});
    EXPECT_NE(values[0], clean.value);
    EXPECT_EQ(values[1], clean.value);
    EXPECT_EQ(values[2], clean.value) << "the texts differ there alone";
    const Patching positions = patching_of(model, {.what = PatchedPart::kPositions});
    EXPECT_EQ(positions.encoder.columns, small_reading().encoder_tokens);
    EXPECT_EQ(std::vector<float>(positions.encoder.effects.begin(), positions.encoder.effects.begin() + 4),
              (std::vector<float>{0, 1, 0, 0}));
    EXPECT_EQ(positions.decoder.effects[0], 0) << "the target is the same";
  }
}

TEST(Patching, LayersHaveTheirSubLayers) {
  const Patching found = patching_of(small_transformer(true), {.what = PatchedPart::kLayers});
  EXPECT_EQ(found.encoder.columns, (std::vector<std::string>{"layer", "self-attention", "feed-forward"}));
  EXPECT_EQ(found.decoder.columns,
            (std::vector<std::string>{"layer", "self-attention", "cross-attention", "feed-forward"}));
  EXPECT_EQ(found.decoder.effects.size(), 8u);
  EXPECT_NE(found.decoder.effects[0], 0);
  EXPECT_EQ(found.decoder.effects[1], 0) << "the first self-attention has not read the source";
  EXPECT_TRUE(found.cross.rows.empty());
  const Patching recurrent = patching_of(small_rnn(), {.what = PatchedPart::kLayers});
  EXPECT_EQ(recurrent.encoder.columns, std::vector<std::string>{"recurrence"});
  EXPECT_EQ(recurrent.encoder.effects, std::vector<float>{1}) << "the decoder reads nothing else";
  EXPECT_EQ(recurrent.decoder.rows.size(), 2u);
}

TEST(Patching, IsIndependentOfBatchAndThreads) {
  for (const TestInspected& model : {small_transformer(false), small_transformer(true), small_rnn()}) {
    const bool recurrent = dynamic_cast<const models::RnnSeq2Seq*>(model.loaded.model.get()) != nullptr;
    for (const PatchedPart what : {PatchedPart::kHeads, PatchedPart::kLayers, PatchedPart::kPositions}) {
      if (recurrent && what == PatchedPart::kHeads) continue;
      EXPECT_EQ(patching_to_json(patching_of(model, {.what = what}, 1)),
                patching_to_json(patching_of(model, {.what = what}, 3)));
    }
    const PatchedText text = patched_text(small_reading(), {0, 1, 2}, -1);
    const PatchedText other = patched_text(other_reading(), {0, 1, 2}, -1);
    const CleanRun clean = run_clean(model.view(), text, {nn::StateKind::kResidual});
    const RowAlignment rows{{0, 1, 2, 3}, {0, 1, 2}};
    std::vector<Patch> patches(37, Patch{.states = {1}, .row = 2});
    patches[20] = {.states = {2}, .row = 1};
    const std::vector<double> all = run_patched(model.view(), other, clean, rows, patches);
    for (const size_t n : {size_t{0}, size_t{20}, size_t{36}}) {
      EXPECT_EQ(run_patched(model.view(), other, clean, rows, {patches[n]})[0], all[n]);
    }
    EXPECT_NE(all[20], all[0]);
  }
}

/// With the sizes of a real model, whose products take other paths for one row than for many.
TEST(Patching, OfTheBundledModelIsIndependentOfTheBatch) {
  const ModelToInspect loaded(models::load_model(source_folder() + "/models/de-en"));
  const InspectedModel model = loaded.view();
  const Reading clean = read_text(model, "Der Mann liest ein Buch.", "");
  const Reading corrupted = read_another(model, "Die Frau liest ein Buch.", clean);
  EXPECT_EQ(corrupted.target_ids, clean.target_ids);
  std::vector<size_t> all;
  for (size_t n = 0; n < clean.target_ids.size(); ++n) all.push_back(n);
  const PatchedText other = patched_text(corrupted, all, -1);
  const CleanRun run = run_clean(model, patched_text(clean, all, -1), patched_kinds(PatchedPart::kHeads));
  const RowAlignment rows{aligned_rows(clean.source_ids, corrupted.source_ids),
                          aligned_rows(clean.decoder_ids, corrupted.decoder_ids)};
  const PatchPlan plan = plan_patches(PatchedPart::kHeads, run.states, rows, clean);
  ASSERT_EQ(plan.patches.size(), 96u);
  const std::vector<double> together = run_patched(model, other, run, rows, plan.patches);
  for (size_t n = 0; n < plan.patches.size(); n += 5) {
    EXPECT_EQ(run_patched(model, other, run, rows, {plan.patches[n]})[0], together[n]) << n;
  }
}

TEST(Patching, OfALanguageModel) {
  const TestInspected model = small_language_model();
  ThreadPool pool(2);
  const Patching found =
      patch(model.view(), prompt_reading(7), prompt_reading(9), {.what = PatchedPart::kPositions}, pool);
  EXPECT_TRUE(found.encoder.rows.empty());
  EXPECT_EQ(found.decoder.rows[0], "embedding");
  EXPECT_EQ(found.decoder.columns, (std::vector<std::string>{"3", "7", "11", "4", "5"}));
  EXPECT_EQ(found.decoder.effects[0], 0);
  EXPECT_EQ(found.decoder.effects[1], 1);
  // After the last layer, nothing is left to be carried from the differing token to those that predict.
  const float* last = &found.decoder.effects[found.decoder.effects.size() - 5];
  EXPECT_EQ(last[1], 0);
  EXPECT_NEAR(last[3] + last[4], 1, 1e-5) << "two predictions, of which each row carries its own";
  EXPECT_EQ(found.counterparts, (std::vector<int>{0, 1, 2, 3}));
  const Patching heads = patch(model.view(), prompt_reading(7), prompt_reading(9), {.token = "1"}, pool);
  EXPECT_EQ(heads.tokens, std::vector<int>{0});
  EXPECT_TRUE(heads.cross.rows.empty());
  EXPECT_FALSE(heads.decoder.rows.empty());
}

TEST(Patching, OfTextsOfDifferentLengths) {
  EXPECT_EQ(aligned_rows({1, 2, 3}, {1, 5, 3}), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(aligned_rows({1, 2, 3}, {1, 5, 6, 3}), (std::vector<int>{0, -1, 3}));
  EXPECT_EQ(aligned_rows({1, 2, 2, 3}, {1, 2, 3}), (std::vector<int>{0, 1, -1, 2}));
  EXPECT_EQ(aligned_rows({1, 2}, {3, 4, 5}), (std::vector<int>{-1, -1}));
  const TestInspected model = small_transformer(false);
  ThreadPool pool(2);
  const Patching found =
      patch(model.view(), small_reading(), longer_reading(), {.what = PatchedPart::kPositions}, pool);
  EXPECT_EQ(found.counterparts, (std::vector<int>{0, -1, 3, 4}));
  EXPECT_TRUE(std::isnan(found.encoder.effects[1]));
  EXPECT_FALSE(std::isnan(found.encoder.effects[2]));
  EXPECT_EQ(found.decoder.effects.size(), 9u);
  const auto json = nlohmann::json::parse(patching_to_json(found));
  EXPECT_TRUE(json["counterparts"][1].is_null());
  EXPECT_EQ(json["counterparts"][2], 4);
  EXPECT_TRUE(json["effects"]["encoder"][0][1].is_null());
  const Picture picture = patching_picture(found);
  EXPECT_TRUE(testing::faults(picture).empty());
  EXPECT_TRUE(testing::words(picture).contains("no counterpart"));
  EXPECT_FALSE(testing::words(picture).contains("\u2212\u221E"));
}

TEST(Patching, OfTwoTokensIsTheDifferenceOfBoth) {
  const TestInspected model = small_transformer(false);
  const Patching both = patching_of(model, {.token = "3", .instead = "17"});
  Reading clean = small_reading(), corrupted = other_reading();
  const Patching first = patching_of(model, {.token = "3"});
  clean.target_ids[2] = corrupted.target_ids[2] = 17;
  ThreadPool pool(1);
  const Patching second = patch(model.view(), clean, corrupted, {.token = "3"}, pool);
  EXPECT_NEAR(both.clean, first.clean - second.clean, 1e-5);
  EXPECT_NEAR(both.corrupted, first.corrupted - second.corrupted, 1e-5);
  EXPECT_EQ(both.instead, "\u258117");
}

TEST(Patching, WrongOptionsAreErrors) {
  const TestInspected model = small_transformer(false);
  const auto error_of = [](const TestInspected& of, const Reading& other, const PatchOptions& options) {
    ThreadPool pool(1);
    try {
      patch(of.view(), small_reading(), other, options, pool);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(error_of(model, small_reading(), {}).find("same tokens"), std::string::npos);
  EXPECT_NE(error_of(model, other_reading(), {.token = "4"}).find("number from 1 to 3"), std::string::npos);
  EXPECT_NE(error_of(model, other_reading(), {.instead = "7"}).find("one token of 3"), std::string::npos);
  EXPECT_NE(error_of(model, other_reading(), {.token = "1", .instead = "5"}).find("the prediction itself"),
            std::string::npos);
  Reading later = small_reading();  // differs after the first prediction
  later.decoder_ids[2] = 9;
  EXPECT_NE(error_of(model, later, {.token = "1"}).find("equally likely"), std::string::npos);
  EXPECT_NE(error_of(small_rnn(), other_reading(), {}).find("no attention heads"), std::string::npos);
  EXPECT_THROW(patched_part_named("words"), Error);
  EXPECT_EQ(error_of(model, other_reading(), {}), "");
}

TEST(Patching, TablesAndPicture) {
  const TestInspected model = small_transformer(false);
  for (const PatchedPart what : {PatchedPart::kHeads, PatchedPart::kLayers, PatchedPart::kPositions}) {
    const Patching found = patching_of(model, {.what = what});
    EXPECT_NE(patching_table(found, 80).find("largest effects"), std::string::npos);
    EXPECT_THROW(patching_table(found, 30), Error);
    EXPECT_TRUE(testing::faults(patching_picture(found)).empty());
  }
  const std::string positions = patching_table(patching_of(model, {.what = PatchedPart::kPositions}), 80);
  EXPECT_NE(positions.find("7/"), std::string::npos) << positions;
  const auto json = nlohmann::json::parse(patching_to_json(patching_of(model, {.token = "2"})));
  EXPECT_EQ(json["effects"]["encoder"].size(), 2u);
  EXPECT_EQ(json["effects"]["cross"][1].size(), 2u);
  EXPECT_EQ(json["tokens"], nlohmann::json({2}));
  EXPECT_EQ(json["what"], "heads");
}

}  // namespace
}  // namespace heed
