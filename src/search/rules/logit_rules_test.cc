#include "search/rules/logit_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "search/test_seq2seq.h"
#include "test_folder.h"

namespace heed::search {
namespace {

constexpr int64_t kTokenCount = 8;

const FunctionModel& model() {
  static const FunctionModel model(kTokenCount, 40, scrambled_logits(kTokenCount, 1, 1));
  return model;
}

std::set<int32_t> forbidden_behind(const SearchOptions& options, const std::vector<int32_t>& ids) {
  const LogitRules rules(options, model(), {{}, 30});
  std::vector<int32_t> history{model().start_id()};
  history.insert(history.end(), ids.begin(), ids.end());
  std::vector<float> logits(kTokenCount, 1);
  rules.apply(static_cast<int64_t>(ids.size()), history, 0, {logits});
  std::set<int32_t> forbidden;
  for (int32_t id = 0; id < kTokenCount; ++id) {
    if (std::isinf(logits[id])) forbidden.insert(id);
  }
  return forbidden;
}

TEST(LogitRules, PaddingIsAlwaysForbidden) {
  EXPECT_EQ(forbidden_behind({}, {}), (std::set<int32_t>{7}));
  EXPECT_EQ(forbidden_behind({.forbidden_ids = {2, 5}}, {1}), (std::set<int32_t>{2, 5, 7}));
}

TEST(LogitRules, NoNgramTwice) {
  SearchOptions options;
  options.no_repeat_ngram_size = 3;
  EXPECT_EQ(forbidden_behind(options, {1, 2, 3, 4, 1}), (std::set<int32_t>{7}));
  EXPECT_EQ(forbidden_behind(options, {1, 2, 3, 1, 2, 4, 1, 2}), (std::set<int32_t>{3, 4, 7}));
  options.no_repeat_ngram_size = 2;
  EXPECT_EQ(forbidden_behind(options, {1, 1}), (std::set<int32_t>{1, 7}));
  EXPECT_EQ(forbidden_behind(options, {1}), (std::set<int32_t>{7}));
  options.no_repeat_ngram_size = 1;
  EXPECT_EQ(forbidden_behind(options, {4, 2}), (std::set<int32_t>{2, 4, 7}));
}

TEST(LogitRules, NoEndBeforeTheMinimumLength) {
  SearchOptions options;
  options.min_length = 3;  // start token and two ids
  EXPECT_TRUE(forbidden_behind(options, {1}).contains(0));
  EXPECT_FALSE(forbidden_behind(options, {1, 2}).contains(0));
}

TEST(LogitRules, AllEndsAreEnds) {
  SearchOptions options;
  options.end_ids = {3, 5, 7};  // 7 is padding too, which would be forbidden
  EXPECT_TRUE(forbidden_behind(options, {1}).empty());
  options.min_new = 2;
  EXPECT_EQ(forbidden_behind(options, {1}), (std::set<int32_t>{3, 5, 7}));
  EXPECT_TRUE(forbidden_behind(options, {1, 2}).empty());
  options.max_length = 6;
  EXPECT_EQ(LogitRules(options, model(), {{}, 5}).forced(4), 3);
  options.forced_end_id = 5;
  EXPECT_EQ(LogitRules(options, model(), {{}, 5}).forced(4), 5);
  options.force_end = false;
  EXPECT_EQ(LogitRules(options, model(), {{}, 5}).forced(4), std::nullopt);
  expect_error(ErrorKind::kUsage, "prefix contains the id 5", [&] {
    LogitRules(options, model(), {{2, 5}, 9});
  });
}

TEST(LogitRules, BeginSuppressTokens) {
  SearchOptions options;
  options.begin_forbidden_ids = {2, 4};
  EXPECT_EQ(forbidden_behind(options, {}), (std::set<int32_t>{2, 4, 7}));
  EXPECT_EQ(forbidden_behind(options, {1}), (std::set<int32_t>{7}));
  options.forced_begin_id = 6;
  const LogitRules rules(options, model(), {{1, 3}, 9});
  EXPECT_EQ(rules.forced(0), 6);
  EXPECT_EQ(rules.forced(1), 1);
  EXPECT_EQ(rules.forced(2), 3);
  EXPECT_EQ(rules.forced(3), std::nullopt);
  EXPECT_EQ(forbidden_behind(options, {}), (std::set<int32_t>{7}));
  EXPECT_EQ(forbidden_behind(options, {6}), (std::set<int32_t>{2, 4, 7}));
}

TEST(LogitRules, SecondForbiddenIds) {
  SearchOptions options;
  options.second_forbidden_ids = {2};
  EXPECT_EQ(forbidden_behind(options, {}), (std::set<int32_t>{7}));
  EXPECT_EQ(forbidden_behind(options, {1}), (std::set<int32_t>{2, 7}));
  EXPECT_EQ(forbidden_behind(options, {1, 3}), (std::set<int32_t>{7}));
}

// A prompt counts for min_length, and not for min_new.
TEST(LogitRules, APromptCounts) {
  SearchOptions options;
  options.min_length = 6;
  const auto forbids_end = [&](int64_t length) {
    std::vector<float> logits(kTokenCount, 1);
    LogitRules(options, model(), {{}, 30, 4}).apply(length, {}, 0, {logits});
    return std::isinf(logits[0]);
  };
  EXPECT_TRUE(forbids_end(1));
  EXPECT_FALSE(forbids_end(2));
  options.min_new = 3;
  EXPECT_TRUE(forbids_end(2));
  EXPECT_FALSE(forbids_end(3));
}

TEST(LogitRules, RepetitionPenalty) {
  SearchOptions options;
  options.repetition_penalty = 2;
  std::vector<float> logits{0, 3, -3, 3, 0, 0, 0, 0};
  options.beam_size = 1;
  LogitRules(options, model(), {{}, 30}).apply(3, std::vector<int32_t>{7, 1, 2, 1}, 0, {logits});
  EXPECT_EQ(logits[1], 1.5F);  // once, however often it occurs
  EXPECT_EQ(logits[2], -6);
  EXPECT_EQ(logits[3], 3);
  // In a beam search, of log-probabilities: log p = 3 - 4 doubles to -2, which is a logit of 2.
  options.beam_size = 4;
  const LogitRules rules(options, model(), {{}, 30});
  EXPECT_TRUE(rules.reads_log_sum());
  logits = {0, 3, -3, 3, 0, 0, 0, 0};
  rules.apply(1, std::vector<int32_t>{7, 1}, 4, {logits});
  EXPECT_EQ(logits[1], 2);
}

TEST(LogitRules, PrefixComesFirstAndTheEndAtTheLimit) {
  const LogitRules rules({}, model(), {{4, 5}, 6});
  EXPECT_EQ(rules.forced(0), 4);
  EXPECT_EQ(rules.forced(1), 5);
  EXPECT_EQ(rules.forced(2), std::nullopt);
  EXPECT_EQ(rules.forced(5), 0);
  EXPECT_EQ(LogitRules({.force_end = false}, model(), {{}, 6}).forced(5), std::nullopt);
}

TEST(LogitRules, RefusesPrefixesThatAreTooLongOrInvalid) {
  EXPECT_THROW(LogitRules({}, model(), {{1, 2, 3}, 3}), Error);
  EXPECT_THROW(LogitRules({}, model(), {{8}, 6}), Error);
  EXPECT_THROW(LogitRules({}, model(), {{1, 0}, 6}), Error);
}

TEST(SearchOptions, RefusesInvalidOptions) {
  const auto refused = [](auto change) {
    SearchOptions options;
    change(options);
    EXPECT_THROW(require_valid(options, model()), Error);
  };
  EXPECT_NO_THROW(require_valid({}, model()));
  refused([](SearchOptions& o) { o.beam_size = 0; });
  refused([](SearchOptions& o) { o.nbest = 5; });
  refused([](SearchOptions& o) { o.max_length = 1; });
  refused([](SearchOptions& o) { o.length_penalty = NAN; });
  refused([](SearchOptions& o) { o.forbidden_ids = {8}; });
  refused([](SearchOptions& o) { o.repetition_penalty = 0; });
  refused([](SearchOptions& o) { o.sample = true, o.sampling.temperature = -0.1; });
  refused([](SearchOptions& o) { o.sample = true, o.sampling.top_p = 1.5; });
}

TEST(SearchOptions, TheSmallestLimitHolds) {
  SearchOptions options;  // 3 times the source and 10, and the model's 40
  EXPECT_EQ(max_translation_length(options, model(), {.source = 2}), 16);
  EXPECT_EQ(max_translation_length(options, model(), {.source = 2, .prefix = 5}), 21);
  EXPECT_EQ(max_translation_length(options, model(), {.source = 20}), 40);
  options.max_length = 9;  // the start token is one of them
  EXPECT_EQ(max_translation_length(options, model(), {.source = 20}), 8);
  options.max_length_factor = 0;
  options.max_length = 0;
  EXPECT_EQ(max_translation_length(options, model(), {.source = 2}), 40);
}

}  // namespace
}  // namespace heed::search
