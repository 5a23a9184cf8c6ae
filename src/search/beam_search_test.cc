// Beam search against exhaustive search and against rules that can be checked by hand.
#include "search/beam_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "search/test_seq2seq.h"

namespace heed::search {
namespace {

constexpr int64_t kSearchVocabulary = 6;

SearchOptions exact_options() {
  SearchOptions options;
  options.max_length_factor = 0;
  return options;
}

std::vector<Hypothesis> search_one(const FunctionModel& model, const SearchOptions& options,
                                   SearchSentence sentence = {0, {3, 0}}) {
  sentence.number = 0;
  return Search(model, {}, options).run({sentence}).front();
}

/// All possible translations with their scores, by exhaustive enumeration.
void enumerate(const FunctionModel::Logits& logits, const SearchOptions& options, std::vector<int32_t>& ids,
               double sum, std::map<std::vector<int32_t>, double>& scores) {
  const auto limit = static_cast<size_t>(options.max_length - 1);
  if (ids.size() + 1 == limit) {
    auto ended = ids;
    ended.push_back(0);  // forced, at no cost
    scores[ended] = sum / std::pow(static_cast<double>(limit), options.length_penalty);
    return;
  }
  const auto z = logits({3, 0}, ids);
  double total = 0;
  for (int64_t id = 0; id < kSearchVocabulary - 1; ++id)
    total += std::exp(static_cast<double>(z[id]));  // not padding
  for (int32_t id = 0; id < kSearchVocabulary - 1; ++id) {
    const double next = sum + z[id] - std::log(total);
    ids.push_back(id);
    if (id == 0) {
      scores[ids] = next / std::pow(static_cast<double>(ids.size()), options.length_penalty);
    } else {
      enumerate(logits, options, ids, next, scores);
    }
    ids.pop_back();
  }
}

// Float32 log-probabilities of size about 10, a few of them.
constexpr double kTolerance = 1e-5;

TEST(BeamSearch, ExhaustiveBeamFindsTheOptimum) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const double penalty : {0.0, 0.6, 1.0, 2.0}) {
      SearchOptions options = exact_options();
      options.beam_size = 256;  // 4 words, at most 4 of them before the end: 4^4 run at most
      options.nbest = 5;
      options.length_penalty = penalty;
      options.max_length = 6;
      const auto logits = scrambled_logits(kSearchVocabulary, 2, seed);
      std::map<std::vector<int32_t>, double> scores;
      std::vector<int32_t> ids;
      enumerate(logits, options, ids, 0, scores);
      std::vector<double> sorted;
      for (const auto& [translation, score] : scores) sorted.push_back(score);
      std::sort(sorted.rbegin(), sorted.rend());

      const auto found = search_one(FunctionModel(kSearchVocabulary, 20, logits), options);
      ASSERT_EQ(found.size(), 5u);
      for (size_t n = 0; n < found.size(); ++n) {
        ASSERT_TRUE(scores.contains(found[n].ids));
        EXPECT_NEAR(found[n].score, scores[found[n].ids], kTolerance);
        EXPECT_NEAR(found[n].score, sorted[n], kTolerance);
      }
    }
  }
}

TEST(BeamSearch, GreedyTakesTheMostProbableToken) {
  const auto logits = scrambled_logits(kSearchVocabulary, 2, 7);
  SearchOptions options = exact_options();
  options.beam_size = 1;
  options.max_length = 12;
  const auto found = search_one(FunctionModel(kSearchVocabulary, 50, logits), options).front();
  std::vector<int32_t> ids;
  while (ids.empty() || (ids.back() != 0 && ids.size() < 10)) {
    const auto z = logits({3, 0}, ids);
    ids.push_back(static_cast<int32_t>(std::max_element(z.begin(), z.end() - 1) - z.begin()));
  }
  if (ids.back() != 0) ids.push_back(0);
  EXPECT_EQ(found.ids, ids);
  double sum = 0;
  for (const float log_probability : found.log_probabilities) sum += log_probability;
  EXPECT_NEAR(found.log_probability, sum, kTolerance);
}

/// Token 1 is more probable at first, but after token 2 the next token is certain.
std::vector<float> garden_path(const std::vector<int32_t>&, const std::vector<int32_t>& ids) {
  if (ids.empty()) return {-20, 1, 0.9F, -20, -20, -20};
  if (ids.back() == 1) return {1, 0.9F, 0.9F, 0.9F, 0.9F, -20};
  return {20, -20, -20, -20, -20, -20};
}

TEST(BeamSearch, SeesFurtherThanGreedySearch) {
  const FunctionModel model(kSearchVocabulary, 20, garden_path);
  SearchOptions options = exact_options();
  options.length_penalty = 0;
  options.beam_size = 1;
  EXPECT_EQ(search_one(model, options).front().ids, (std::vector<int32_t>{1, 0}));
  options.beam_size = 2;
  EXPECT_EQ(search_one(model, options).front().ids, (std::vector<int32_t>{2, 0}));
}

TEST(BeamSearch, HypothesesAreDistinctSortedAndScored) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SearchOptions options = exact_options();
    options.beam_size = options.nbest = 6;
    options.length_penalty = 0.7;
    options.max_length = 15;
    const auto found = search_one(FunctionModel(20, 50, scrambled_logits(20, 2, seed)), options);
    ASSERT_EQ(found.size(), 6u);
    std::set<std::vector<int32_t>> distinct;
    for (size_t n = 0; n < found.size(); ++n) {
      distinct.insert(found[n].ids);
      if (n > 0) {
        EXPECT_GE(found[n - 1].score, found[n].score);
      }
      EXPECT_DOUBLE_EQ(found[n].score,
                       found[n].log_probability / std::pow(static_cast<double>(found[n].ids.size()), 0.7));
      EXPECT_LE(found[n].ids.size(), 14u);
      EXPECT_EQ(found[n].ids.back(), 0);
    }
    EXPECT_EQ(distinct.size(), 6u);
  }
}

TEST(BeamSearch, TiesAreBrokenById) {
  SearchOptions options = exact_options();
  options.beam_size = options.nbest = 3;
  options.max_length = 3;
  const FunctionModel model(kSearchVocabulary, 20,
                            [](const auto&, const auto&) { return std::vector<float>(6, 1.0F); });
  const auto found = search_one(model, options);
  // The end token (id 0) has the probability of any other token; after two ids it is forced without cost,
  // which halves the mean.
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].ids, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(found[1].ids, (std::vector<int32_t>{2, 0}));
  EXPECT_EQ(found[2].ids, (std::vector<int32_t>{3, 0}));
}

TEST(BeamSearch, EarlyStopping) {
  // The end token has probability 1/2 at first, then 1/5; after token 1 the others are almost certain, so
  // with a length penalty the longest hypothesis is the best.
  const auto patience = [](const std::vector<int32_t>&, const std::vector<int32_t>& ids) {
    if (ids.empty()) return std::vector<float>{0, 0, -20, -20, -20, -20};
    return std::vector<float>{ids.size() < 6 ? -8.0F : 8.0F, 0, -9, -9, -9, -20};
  };
  const FunctionModel model(kSearchVocabulary, 30, patience);
  SearchOptions options = exact_options();
  options.beam_size = 2;
  options.max_length = 20;
  options.length_penalty = 1;
  options.early_stopping = models::EarlyStopping::kTrue;
  const size_t hasty = search_one(model, options).front().ids.size();
  options.early_stopping = models::EarlyStopping::kNever;
  const size_t patient = search_one(model, options).front().ids.size();
  EXPECT_LT(hasty, patient);
  EXPECT_EQ(patient, 7u);
}

TEST(BeamSearch, SeveralEndTokensLeaveHypothesesToContinue) {
  // Four end tokens are more probable than the token that leads to the best translation.
  const FunctionModel model(kSearchVocabulary, 30, [](const auto&, const std::vector<int32_t>& ids) {
    if (ids.empty()) return std::vector<float>{2, 2, 2, 2, 1, -20};
    return ids.size() < 4 ? std::vector<float>{-20, -20, -20, -20, 20, -20}
                          : std::vector<float>{20, -20, -20, -20, -20, -20};
  });
  SearchOptions options = exact_options();
  options.beam_size = 2;
  options.end_ids = {0, 1, 2, 3};
  options.length_penalty = 2;
  options.early_stopping = models::EarlyStopping::kNever;
  EXPECT_EQ(search_one(model, options).front().ids, (std::vector<int32_t>{4, 4, 4, 4, 0}));
}

TEST(BeamSearch, ForcedEndIsFreeAndOptional) {
  const FunctionModel model(kSearchVocabulary, 30,
                            [](const auto&, const auto&) { return std::vector<float>{-30, 5, 0, 0, 0, 0}; });
  SearchOptions options = exact_options();
  options.max_length = 5;
  auto found = search_one(model, options).front();
  EXPECT_EQ(found.ids, (std::vector<int32_t>{1, 1, 1, 0}));
  EXPECT_EQ(found.log_probabilities.back(), 0);
  options.force_end = false;
  found = search_one(model, options).front();
  EXPECT_EQ(found.ids, (std::vector<int32_t>{1, 1, 1, 1}));
}

TEST(BeamSearch, NeverGivesPaddingOrForbiddenIds) {
  const FunctionModel model(kSearchVocabulary, 30, [](const auto&, const auto& ids) {
    return std::vector<float>{
        ids.size() < 3 ? -5.0F : 5.0F, 1, 9, 2, 3, 50};  // padding is by far the most probable
  });
  for (const bool renormalize : {true, false}) {
    SearchOptions options = exact_options();
    options.forbidden_ids = {2};
    options.renormalize = renormalize;
    const auto found = search_one(model, options).front();
    EXPECT_EQ(found.ids, (std::vector<int32_t>{4, 4, 4, 0}));
    // After renormalization the best token has most of the probability; without, padding has almost all
    // of it.
    EXPECT_EQ(found.log_probabilities.front() > -1, renormalize);
  }
}

TEST(BeamSearch, EndsIfAllTokensAreForbidden) {
  SearchOptions options = exact_options();
  options.no_repeat_ngram_size = 1;  // each token once, and the end token is impossible
  options.forbidden_ids = {0};
  options.force_end = false;
  const FunctionModel model(kSearchVocabulary, 30, scrambled_logits(kSearchVocabulary, 1, 3));
  const auto found = search_one(model, options).front();
  EXPECT_EQ(std::set<int32_t>(found.ids.begin(), found.ids.end()), (std::set<int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(found.ids.size(), 4u);
}

TEST(BeamSearch, RefusesNanLogits) {
  const FunctionModel model(kSearchVocabulary, 30,
                            [](const auto&, const auto&) { return std::vector<float>(6, NAN); });
  EXPECT_THROW(search_one(model, exact_options()), Error);
}

}  // namespace
}  // namespace heed::search
