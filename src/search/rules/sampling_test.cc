#include "search/rules/sampling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/test_seq2seq.h"

namespace heed::search {
namespace {

constexpr int64_t kSampledVocabulary = 8;
// Of the tokens 0 to 6; 7 is padding.
const std::vector<float> kLogits{-1, 1.5F, 0.2F, 0.9F, -0.4F, 0.1F, 1.2F, 6};

FunctionModel steady_model() {
  return {kSampledVocabulary, 40, [](const auto&, const auto&) { return kLogits; }};
}

SearchOptions sampling_options() {
  SearchOptions options;
  options.sample = true;
  options.max_length_factor = 0;
  options.max_length = 3;  // one token and the forced end
  return options;
}

/// Counts of the first sampled tokens of sentences 0 .. count - 1.
std::vector<double> draws_of(const SearchOptions& options, size_t count) {
  std::vector<SearchSentence> sentences(count);
  for (size_t n = 0; n < count; ++n) sentences[n] = {n, {3, 0}};
  const FunctionModel model = steady_model();
  std::vector<double> counts(kSampledVocabulary);
  for (const auto& hypotheses : Search(model, {}, options).run(sentences))
    ++counts[hypotheses.front().ids.front()];
  return counts;
}

std::vector<double> probabilities(const std::vector<int32_t>& ids, double temperature) {
  std::vector<double> p(kSampledVocabulary);
  double total = 0;
  for (const int32_t id : ids) total += p[id] = std::exp(kLogits[id] / temperature);
  for (double& share : p) share /= total;
  return p;
}

/// Pearson's chi-square of counts; infinite if an impossible token was sampled.
double chi_square(const std::vector<double>& counts, const std::vector<double>& p) {
  double count = 0, sum = 0;
  for (const double c : counts) count += c;
  for (size_t id = 0; id < p.size(); ++id) {
    const double expected = count * p[id];
    if (expected == 0 && counts[id] > 0) return INFINITY;
    if (expected > 0) sum += (counts[id] - expected) * (counts[id] - expected) / expected;
  }
  return sum;
}

// Of 6 degrees of freedom or fewer, chi-square is above 27.9 with probability 1e-4. The seed is fixed, so the
// test either always holds or never.
constexpr double kLimit = 27.9;

TEST(Sampling, FollowsTheProbabilities) {
  const std::vector<int32_t> all{0, 1, 2, 3, 4, 5, 6};
  SearchOptions options = sampling_options();
  const auto counts = draws_of(options, 4000);
  EXPECT_LT(chi_square(counts, probabilities(all, 1)), kLimit);
  EXPECT_GT(chi_square(counts, probabilities(all, 2)), kLimit);  // the test has power
  options.sampling.temperature = 2;
  EXPECT_LT(chi_square(draws_of(options, 4000), probabilities(all, 2)), kLimit);
}

TEST(Sampling, KeepsTheTopKAndTheNucleus) {
  SearchOptions options = sampling_options();
  options.sampling.top_k = 3;
  EXPECT_LT(chi_square(draws_of(options, 2000), probabilities({1, 6, 3}, 1)), kLimit);
  options.sampling.top_k = 0;
  options.sampling.top_p = 0.6;  // 1 has 0.32, 6 has 0.24: together 0.56, so 3 is needed too
  EXPECT_LT(chi_square(draws_of(options, 2000), probabilities({1, 6, 3}, 1)), kLimit);
  options.sampling.top_p = 0.3;
  EXPECT_EQ(draws_of(options, 100)[1], 100);
  options.sampling.top_k = 2;
  options.sampling.top_p = 0.5;  // of the two, 1 alone has 0.57
  EXPECT_EQ(draws_of(options, 100)[1], 100);
}

TEST(Sampling, ATopKOfTheWholeVocabularyIsNone) {
  SearchOptions options = sampling_options();
  const std::vector<double> all = draws_of(options, 200);
  for (const int64_t k : {kSampledVocabulary, kSampledVocabulary + 1, int64_t{1} << 30}) {
    options.sampling.top_k = static_cast<int>(k);
    EXPECT_EQ(draws_of(options, 200), all) << k;
  }
}

TEST(Sampling, NucleusIsNeverEmptyAndKeepsEverythingAtMost) {
  const std::vector<WeightedToken> tokens{{4, 1}, {5, 3}, {6, 3}, {7, 1}};
  const auto kept = [&](double top_p) {
    auto copy = tokens;
    keep_nucleus(copy, top_p);
    std::vector<int32_t> ids;
    for (const auto& token : copy) ids.push_back(token.id);
    return ids;
  };
  EXPECT_EQ(kept(1e-9), (std::vector<int32_t>{5}));
  EXPECT_EQ(kept(0.5), (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(kept(0.8), (std::vector<int32_t>{5, 6, 4}));
  EXPECT_EQ(kept(1).size(), 4u);
}

TEST(Sampling, InverseCdf) {
  const std::vector<WeightedToken> tokens{{4, 1}, {5, 0}, {6, 3}};
  EXPECT_EQ(sample_token(tokens, 0), 4);
  EXPECT_EQ(sample_token(tokens, 0.2499), 4);
  EXPECT_EQ(sample_token(tokens, 0.25), 6);
  EXPECT_EQ(sample_token(tokens, 1 - 1e-16), 6);
}

TEST(Sampling, IsAFunctionOfSeedAndNumber) {
  const FunctionModel model(50, 40, scrambled_logits(50, 1, 5));
  SearchOptions options;
  options.sample = true;
  options.nbest = 3;
  const auto sentences = random_sentences(10, 8, 40, 2);
  const auto together = Search(model, {}, options).run(sentences);
  const auto cramped = Search(model, {}, options, {.rows = 4, .source_tokens = 20}).run(sentences);
  options.sampling.seed = 2;
  const auto other = Search(model, {}, options).run(sentences);
  size_t differences = 0;
  for (size_t n = 0; n < sentences.size(); ++n) {
    ASSERT_EQ(together[n].size(), 3u);
    EXPECT_NE(together[n][0].ids, together[n][1].ids);
    EXPECT_GE(together[n][0].score, together[n][1].score);
    for (size_t draw = 0; draw < 3; ++draw) EXPECT_EQ(together[n][draw].ids, cramped[n][draw].ids);
    differences += other[n][0].ids != together[n][0].ids;
  }
  EXPECT_EQ(differences, sentences.size());
}

TEST(Sampling, LogProbabilitiesAreTheModels) {
  SearchOptions options = sampling_options();
  options.sampling.temperature = 3;
  const FunctionModel model = steady_model();
  const auto found = Search(model, {}, options).run({{0, {3, 0}}}).front().front();
  const auto p = probabilities({0, 1, 2, 3, 4, 5, 6}, 1);
  EXPECT_NEAR(found.log_probabilities[0], std::log(p[found.ids[0]]), 1e-5);
}

TEST(KeepLikely, IsRelativeToTheMostProbable) {
  std::vector<WeightedToken> tokens{{0, 0.5}, {1, 2.0}, {2, 0.2}, {3, 0.19}};
  keep_likely(tokens, 0.1);
  std::vector<int32_t> ids;
  for (const WeightedToken& token : tokens) ids.push_back(token.id);
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 1, 2}));
  keep_likely(tokens, 1);
  EXPECT_EQ(tokens.size(), 1U);
}

TEST(Sampling, MinP) {
  SearchOptions options = sampling_options();
  options.sampling.min_p = 0.6;
  // Of tokens 1, 3 and 6 with logits 1.5, 0.9 and 1.2: exp(-0.3) is above 0.6, exp(-0.6) is below.
  const std::vector<double> counts = draws_of(options, 300);
  EXPECT_EQ(counts[1] + counts[6], 300);
  EXPECT_GT(counts[6], 0);
  options.sampling.min_p = 0.5;
  EXPECT_GT(draws_of(options, 300)[3], 0);
}

}  // namespace
}  // namespace heed::search
