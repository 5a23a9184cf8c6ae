// Scoring agrees with the scores of the search.
#include "search/scoring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/stop.h"
#include "models/stacks/transformer.h"
#include "models/test_models.h"
#include "search/search.h"
#include "test_folder.h"

namespace heed::search {
namespace {

models::TransformerConfig tiny_config() {
  models::TransformerConfig config;
  config.vocabulary = 30;
  config.width = 16;
  config.encoder_layers = config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_inner_width = config.decoder_inner_width = 16;
  config.max_length = 40;
  config.padding_id = config.start_id = 29;
  return config;
}

struct Case {
  std::string name;
  SearchOptions options;
};

std::vector<Case> cases() {
  std::vector<Case> all{{"as it is", {}}};
  const auto add = [&](const char* name, const auto& change) {
    all.push_back({name, {}});
    change(all.back().options);
  };
  add("not renormalized", [](SearchOptions& o) { o.renormalize = false; });
  add("forbidden, not renormalized", [](SearchOptions& o) {
    o.renormalize = false;
    o.forbidden_ids = {3, 4, 5, 6, 7};
  });
  add("forbidden", [](SearchOptions& o) { o.forbidden_ids = {3, 4, 5, 6, 7}; });
  add("no n-gram twice", [](SearchOptions& o) { o.no_repeat_ngram_size = 2; });
  add("repetition penalty", [](SearchOptions& o) { o.repetition_penalty = 1.5; });
  add("repetition penalty, greedy", [](SearchOptions& o) {
    o.repetition_penalty = 1.5;
    o.beam_size = 1;
  });
  add("repetition penalty, greedy, not renormalized", [](SearchOptions& o) {
    o.repetition_penalty = 1.5;
    o.beam_size = 1;
    o.renormalize = false;
  });
  add("forced first id", [](SearchOptions& o) { o.forced_begin_id = 11; });
  add("forbidden first ids", [](SearchOptions& o) { o.begin_forbidden_ids = {1, 2, 3, 4, 5, 6, 7, 8, 9}; });
  add("short and forced to end", [](SearchOptions& o) { o.max_length = 5; });
  add("long", [](SearchOptions& o) { o.min_length = 9; });
  add("several ends", [](SearchOptions& o) { o.end_ids = {0, 5, 9}; });
  add("a shortlist", [](SearchOptions& o) {
    std::vector<std::vector<int32_t>> translations(30);
    for (int32_t id = 0; id < 30; ++id) translations[id] = {(id * 7) % 29};
    o.shortlist = std::make_shared<models::Shortlist>(std::vector<int32_t>{0, 1, 2}, translations);
  });
  return all;
}

using Tiny = models::ModelWithWeights<models::Transformer>;

TEST(Scoring, AgreesWithSearch) {
  const Tiny tiny(tiny_config(), 5);
  const models::Sequences sources = models::random_sequences(6, 8, 28, 7);
  double largest = 0;
  for (const Case& each : cases()) {
    const Search search(tiny.model, tiny.context(), each.options);
    std::vector<ScoringPair> pairs;
    std::vector<Hypothesis> found;
    for (int b = 0; b < sources.count(); ++b) {
      const std::vector<int32_t> source(sources[b].begin(), sources[b].end());
      found.push_back(search.run({{.number = 0, .source = source}}).at(0).at(0));
      pairs.push_back({source, found.back().ids});
    }
    const auto scores = score_pairs(tiny.model, tiny.context(), each.options, pairs);
    const auto plain = score_pairs(tiny.model, tiny.context(), {}, pairs);
    for (size_t b = 0; b < pairs.size(); ++b) {
      ASSERT_EQ(scores[b].size(), found[b].log_probabilities.size());
      for (size_t t = 0; t < scores[b].size(); ++t) {
        EXPECT_NEAR(scores[b][t], found[b].log_probabilities[t], 2e-4) << each.name << ", id " << t;
        largest = std::max<double>(largest, std::abs(scores[b][t] - plain[b][t]));
      }
    }
  }
  EXPECT_GT(largest, 0.1) << "the options changed nothing";
}

// References contain tokens that the search would not generate.
TEST(Scoring, ForbiddenTokensHaveAProbability) {
  const Tiny tiny(tiny_config(), 5);
  SearchOptions options;
  options.no_repeat_ngram_size = 2;
  options.forbidden_ids = {4};
  const std::vector<ScoringPair> pairs{{{3, 5, 0}, {1, 2, 4, 1, 2, 0}}};
  const auto scores = score_pairs(tiny.model, tiny.context(), options, pairs);
  for (const float score : scores.at(0)) {
    EXPECT_TRUE(std::isfinite(score));
    EXPECT_LT(score, 0);
  }
}

// Of greedy search and sampling, it changes which tokens are chosen.
TEST(Scoring, ARepetitionPenaltyChangesNoLogProbability) {
  const Tiny tiny(tiny_config(), 5);
  SearchOptions options;
  options.repetition_penalty = 0.5;
  options.renormalize = false;
  options.max_length = 12;
  for (const bool sample : {false, true}) {
    options.beam_size = 1;
    options.sample = sample;
    const ScoringPair pair{{3, 5, 0}, {}};
    const Hypothesis found =
        Search(tiny.model, tiny.context(), options).run({{.number = 0, .source = pair.source}}).at(0).at(0);
    SearchOptions plain;
    plain.renormalize = false;
    const auto scores =
        score_pairs(tiny.model, tiny.context(), plain, std::vector<ScoringPair>{{pair.source, found.ids}});
    for (size_t t = 0; t + 1 < scores[0].size(); ++t) {  // the end is forced
      EXPECT_NEAR(found.log_probabilities[t], scores[0][t], 2e-4) << sample << ", id " << t;
    }
  }
}

TEST(Scoring, NanIsAnError) {
  Tiny tiny(tiny_config(), 5);
  for (int64_t i = 0; i < tiny.values.flat().size(); ++i) tiny.values.flat().data<float>()[i] *= 1e30F;
  expect_error(ErrorKind::kNumeric, "NaN or infinite", [&] {
    score_pairs(tiny.model, tiny.context(), {}, std::vector<ScoringPair>{{{3, 0}, {2, 0}}});
  });
}

TEST(Scoring, SumsAtOtherTemperatures) {
  const std::vector<float> logits{2, -1, 0.5F, 30, 31, -60};
  const std::vector<double> temperatures{0.05, 0.5, 1, 2};
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  const std::vector<float> sums = log_sums_at(temperatures, logits, static_cast<float>(std::log(sum)));
  ASSERT_EQ(sums.size(), temperatures.size());
  for (size_t n = 0; n < sums.size(); ++n) {
    double expected = 0;
    for (const float logit : logits)
      expected += std::pow(std::exp(static_cast<double>(logit)) / sum, 1 / temperatures[n]);
    EXPECT_NEAR(sums[n], std::log(expected), 1e-4) << temperatures[n];
  }
  EXPECT_NEAR(sums[2], 0, 1e-5);
}

TEST(Scoring, ForwardPassesEndInAScopeOfStop) {
  const Tiny tiny(tiny_config(), 5);
  std::atomic<bool> flag{false};
  const StopScope scope{Stop(&flag)};
  const std::vector<ScoringPair> pairs{{{3, 5, 0}, {1, 2, 0}}};
  EXPECT_NO_THROW(score_pairs(tiny.model, tiny.context(), {}, pairs));
  flag = true;
  EXPECT_THROW(score_pairs(tiny.model, tiny.context(), {}, pairs), Cancelled);
}

}  // namespace
}  // namespace heed::search
