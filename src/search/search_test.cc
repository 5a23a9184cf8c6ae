// Batched search: batch invariance, equality with teacher forcing, and agreement with Hugging Face.
#include "search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <thread>

#include "kernels/reduction/softmax.h"
#include "models/directory/loaded_model.h"
#include "reference.h"
#include "search/test_seq2seq.h"

namespace heed::search {
namespace {

using Results = std::vector<std::vector<Hypothesis>>;

void expect_same_bits(const Results& actual, const Results& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t n = 0; n < actual.size(); ++n) {
    ASSERT_EQ(actual[n].size(), expected[n].size()) << what << ", sentence " << n;
    for (size_t h = 0; h < actual[n].size(); ++h) {
      EXPECT_EQ(actual[n][h].ids, expected[n][h].ids) << what << ", sentence " << n;
      EXPECT_EQ(actual[n][h].log_probabilities, expected[n][h].log_probabilities)
          << what << ", sentence " << n;
      EXPECT_EQ(actual[n][h].score, expected[n][h].score) << what << ", sentence " << n;
    }
  }
}

Results one_by_one(const Search& search, const std::vector<SearchSentence>& sentences) {
  Results results;
  for (SearchSentence sentence : sentences) {
    const uint64_t number = sentence.number;
    bool given = false;
    search.run(
        [&](const SearchRoom&) {
          return std::exchange(given, true) ? std::vector<SearchSentence>{} : std::vector{sentence};
        },
        [&](uint64_t done, std::vector<Hypothesis> hypotheses) {
          EXPECT_EQ(done, number);
          results.push_back(std::move(hypotheses));
        });
  }
  return results;
}

/// A shortlist for 97 tokens: the first ten, and for each token itself and the next three.
std::shared_ptr<const models::Shortlist> small_shortlist() {
  std::vector<int32_t> common(10);
  std::iota(common.begin(), common.end(), 0);
  std::vector<std::vector<int32_t>> translations;
  for (int32_t id = 0; id < 97; ++id) {
    translations.push_back({(id + 1) % 97, (id + 2) % 97, (id + 3) % 97});
  }
  return std::make_shared<models::Shortlist>(common, translations);
}

TEST(Search, IsBatchInvariant) {
  const TinyTransformer tiny;
  const auto sentences = random_sentences(23, 20, 96, 3);
  for (const auto& [sample, shortlist] :
       {std::pair(false, false), std::pair(true, false), std::pair(false, true)}) {
    for (const int beams : {1, 4}) {
      SearchOptions options;
      if (shortlist) options.shortlist = small_shortlist();
      options.beam_size = options.nbest = beams;
      options.sample = sample;
      options.no_repeat_ngram_size = 2;  // an untrained model repeats itself
      const Results alone = one_by_one(Search(tiny.model, tiny.context(), options), sentences);
      for (const size_t rows : {1, 7, 16, 50, 400}) {
        for (const size_t tokens : {1, 60, 10000}) {
          const Search search(tiny.model, tiny.context(), options, {.rows = rows, .source_tokens = tokens});
          expect_same_bits(search.run(sentences), alone,
                           fmt::format("beam {}, {} rows, {} tokens", beams, rows, tokens));
        }
      }
    }
  }
}

// Logits of a shortlist give the same result as forbidding all other tokens.
/// The logits depend on the last two tokens alone, so texts repeat themselves.
FunctionModel::Logits repeating_logits(int64_t vocabulary) {
  const FunctionModel::Logits all = scrambled_logits(vocabulary, 3, 5);
  return [all](const std::vector<int32_t>& source, const std::vector<int32_t>& ids) {
    return all(source, ids.size() < 2 ? ids : std::vector<int32_t>(ids.end() - 2, ids.end()));
  };
}

TEST(Search, DraftsChangeNothingButTheNumberOfSteps) {
  const FunctionModel model(17, 300, repeating_logits(17));
  nn::Context context;
  for (const bool sample : {false, true}) {
    SearchOptions options = continuation_options();
    options.beam_size = 1;
    options.sample = sample;
    options.sampling.top_k = 2;
    options.max_new = 200;
    options.end_ids = {};
    options.forbidden_ids = {model.end_id()};
    std::vector<SearchSentence> sentences{{0, {3, 4, 5}}, {1, {7, 8}}};
    size_t steps[2] = {};
    Results results[2];
    for (const bool drafts : {false, true}) {
      options.draft_tokens = drafts ? 5 : 0;
      const Search search(model, context, options);
      for (const SearchSentence& sentence : sentences) {
        search.run(
            [&, given = false](const SearchRoom&) mutable {
              return std::exchange(given, true) ? std::vector<SearchSentence>{} : std::vector{sentence};
            },
            [&](uint64_t, std::vector<Hypothesis> hypotheses) { results[drafts].push_back(hypotheses); });
      }
      steps[drafts] = model.steps;
      model.steps = 0;
    }
    expect_same_bits(results[1], results[0], sample ? "sampled" : "greedy");
    EXPECT_GT(model.drafts, 0U);
    EXPECT_LT(steps[1], sample ? steps[0] : steps[0] / 2) << "drafts are never right";
    model.drafts = 0;
  }
}

TEST(Search, MaxLengthOfALanguageModelIsNotShortened) {
  const FunctionModel model(17, 10000, repeating_logits(17));
  const auto longest = [&](std::optional<int64_t> max_length, std::optional<int64_t> max_new) {
    models::LoadedModel loaded;
    loaded.generation.max_length = max_length;
    loaded.generation.max_new = max_new;
    return max_translation_length(continuation_options_of(loaded), model, {.prompt = 10});
  };
  EXPECT_EQ(longest(4096, {}), 4086);  // as of Llama 2
  EXPECT_EQ(longest({}, {}), kUsualMaxNew);
  EXPECT_EQ(longest(4096, 7), 7);
  EXPECT_EQ(longest({}, 5000), 5000);
}

TEST(Search, ShortlistForbidsAllOtherTokens) {
  const int64_t vocabulary = 97;
  const FunctionModel model(vocabulary, 30, scrambled_logits(vocabulary, 3, 5));
  const TinyTransformer tiny;
  const auto sentences = random_sentences(12, 10, 96, 4);
  SearchOptions options;
  options.nbest = 4;
  options.no_repeat_ngram_size = 2;
  options.max_length = 20;
  SearchOptions with_list = options;
  with_list.shortlist = small_shortlist();
  for (const models::AutoregressiveModel* generator :
       {static_cast<const models::AutoregressiveModel*>(&model),
        static_cast<const models::AutoregressiveModel*>(&tiny.model)}) {
    const Results listed = Search(*generator, tiny.context(), with_list).run(sentences);
    for (size_t n = 0; n < sentences.size(); ++n) {
      const std::vector<int32_t> words = with_list.shortlist->tokens(sentences[n].source);
      SearchOptions forbidding = options;
      for (int32_t id = 0; id < vocabulary; ++id) {
        if (!std::binary_search(words.begin(), words.end(), id)) forbidding.forbidden_ids.push_back(id);
      }
      SearchSentence sentence = sentences[n];
      sentence.number = 0;
      const auto expected = Search(*generator, tiny.context(), forbidding).run({sentence}).front();
      ASSERT_EQ(listed[n].size(), expected.size());
      for (size_t h = 0; h < expected.size(); ++h) {
        EXPECT_EQ(listed[n][h].ids, expected[h].ids) << "sentence " << n << ", translation " << h;
        EXPECT_NEAR(listed[n][h].score, expected[h].score, 1e-4);
      }
    }
  }
}

TEST(Search, ShortlistMustMatchAndIsNotForSampling) {
  const FunctionModel model(50, 30, scrambled_logits(50, 3, 5));
  const TinyTransformer tiny;
  SearchOptions options;
  options.shortlist = small_shortlist();
  EXPECT_THROW(Search(model, tiny.context(), options), Error);
  const auto sentences = random_sentences(5, 10, 96, 4);
  options.sample = true;
  SearchOptions without = options;
  without.shortlist = nullptr;
  expect_same_bits(Search(tiny.model, tiny.context(), options).run(sentences),
                   Search(tiny.model, tiny.context(), without).run(sentences), "drawn");
}

TEST(Search, DoesNotDependOnTheOrder) {
  const TinyTransformer tiny;
  auto sentences = random_sentences(17, 20, 96, 4);
  const Search search(tiny.model, tiny.context(), {}, {.rows = 20});
  const Results straight = search.run(sentences);
  Random random(RandomKey::from_seed(1));
  shuffle(sentences, random);
  expect_same_bits(search.run(sentences), straight, "shuffled");
}

TEST(Search, DoesNotDependOnThreads) {
  const TinyTransformer tiny;
  const auto sentences = random_sentences(40, 20, 96, 5);
  const Search search(tiny.model, tiny.context(), {}, {.rows = 16});
  const Results expected = search.run(sentences);
  for (const int threads : {2, 4}) {
    Results results(sentences.size());
    WorkQueue queue(sentences, threads);
    std::vector<std::thread> crew;
    for (int t = 0; t < threads; ++t) {
      crew.emplace_back([&] {
        search.run(
            [&](const SearchRoom& room) { return queue.take(room); },
            [&](uint64_t n, std::vector<Hypothesis> hypotheses) { results[n] = std::move(hypotheses); });
      });
    }
    for (std::thread& thread : crew) thread.join();
    expect_same_bits(results, expected, fmt::format("{} threads", threads));
  }
}

TEST(Search, TheInvarianceTestsCouldFail) {
  const TinyTransformer one(1), other(2);
  const auto sentences = random_sentences(3, 20, 96, 3);
  const Results a = Search(one.model, one.context(), {}).run(sentences);
  const Results b = Search(other.model, other.context(), {}).run(sentences);
  EXPECT_NE(a[0][0].log_probabilities, b[0][0].log_probabilities);
  EXPECT_NE(a[0][0].log_probabilities, a[1][0].log_probabilities);
}

TEST(Search, StaysWithinItsBudget) {
  const FunctionModel model(20, 40, scrambled_logits(20, 1, 1));
  SearchOptions options;
  options.beam_size = 3;
  const auto sentences = random_sentences(50, 10, 18, 1);
  const Results results = Search(model, {}, options, {.rows = 10}).run(sentences);
  EXPECT_LE(model.largest_step, 10u);
  EXPECT_GE(model.largest_step, 9u);
  for (const auto& hypotheses : results) EXPECT_EQ(hypotheses.size(), 1u);
}

TEST(Search, StepsEqualTeacherForcing) {
  const TinyTransformer tiny;
  for (const SearchSentence& sentence : random_sentences(6, 20, 96, 6)) {
    SearchOptions options;
    options.nbest = 4;
    const Results results = one_by_one(Search(tiny.model, tiny.context(), options), {sentence});
    for (const Hypothesis& found : results.front()) {
      models::Sequences source, input;
      source.append(sentence.source);
      std::vector<int32_t> shifted{tiny.model.start_id()};
      shifted.insert(shifted.end(), found.ids.begin(), found.ids.end() - 1);
      input.append(shifted);
      nn::Context context = tiny.context();
      Tensor logits = tiny.model.logits(context, source, input);
      for (int64_t t = 0; t < logits.dim(0); ++t) logits.data<float>()[t * 97 + 96] = -INFINITY;
      log_softmax({logits.dim(0), 97, logits.data<float>(), logits.data<float>()});
      for (size_t t = 0; t + 1 < found.ids.size(); ++t) {
        // Float32 sums of widths up to 97 through four layers, of numbers of size 1 to 10.
        EXPECT_NEAR(found.log_probabilities[t], logits.data<float>()[t * 97 + found.ids[t]], 1e-4);
      }
    }
  }
}

TEST(Search, EveryTranslationBeginsWithItsPrefix) {
  const TinyTransformer tiny;
  auto sentences = random_sentences(8, 20, 96, 7);
  const Results freely = Search(tiny.model, tiny.context(), {}).run(sentences);
  for (size_t n = 0; n < sentences.size(); ++n)
    sentences[n].prefix.assign(n % 4, static_cast<int32_t>(10 + n));
  for (const bool sample : {false, true}) {
    SearchOptions options;
    options.sample = sample;
    options.nbest = 2;
    const Results results = Search(tiny.model, tiny.context(), options).run(sentences);
    for (size_t n = 0; n < sentences.size(); ++n) {
      const auto& prefix = sentences[n].prefix;
      for (const Hypothesis& found : results[n]) {
        ASSERT_GT(found.ids.size(), prefix.size());
        EXPECT_TRUE(std::equal(prefix.begin(), prefix.end(), found.ids.begin()));
        const auto counted = static_cast<double>(found.ids.size() - prefix.size());
        EXPECT_DOUBLE_EQ(found.score, found.log_probability / counted);
      }
    }
    if (!sample) {
      EXPECT_EQ(results[0][0].ids, freely[0][0].ids);  // an empty prefix
    }
  }
}

TEST(Search, PrefixContinuesAsTheUnforcedSearch) {
  const TinyTransformer tiny;
  SearchOptions options;
  options.beam_size = 1;
  options.no_repeat_ngram_size = 2;
  options.max_length_factor = 0;  // it does not count the prefix
  options.max_length = 30;
  auto sentences = random_sentences(6, 20, 96, 8);
  const Search search(tiny.model, tiny.context(), options);
  const Results greedy = search.run(sentences);
  for (size_t n = 0; n < sentences.size(); ++n) {
    const auto& ids = greedy[n][0].ids;
    sentences[n].prefix.assign(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2));
  }
  const Results again = search.run(sentences);
  for (size_t n = 0; n < sentences.size(); ++n) EXPECT_EQ(again[n][0].ids, greedy[n][0].ids);
}

TEST(Search, NoRepeatedNgrams) {
  const TinyTransformer tiny;
  SearchOptions options;
  options.max_length = 50;
  options.max_length_factor = 0;
  options.min_length = 40;
  const auto repeats = [](const std::vector<int32_t>& ids) {
    for (size_t a = 0; a + 2 < ids.size(); ++a) {
      for (size_t b = a + 1; b + 2 < ids.size(); ++b) {
        if (ids[a] == ids[b] && ids[a + 1] == ids[b + 1]) return true;
      }
    }
    return false;
  };
  const auto sentences = random_sentences(5, 10, 96, 9);
  const Results free = Search(tiny.model, tiny.context(), options).run(sentences);
  EXPECT_TRUE(
      std::any_of(free.begin(), free.end(), [&](const auto& found) { return repeats(found[0].ids); }));
  options.no_repeat_ngram_size = 2;
  for (const auto& found : Search(tiny.model, tiny.context(), options).run(sentences)) {
    EXPECT_FALSE(repeats(found[0].ids));
    EXPECT_GE(found[0].ids.size(), 39u);
    EXPECT_LE(found[0].ids.size(), 49u);
  }
}

TEST(Search, StopsWhenCancelled) {
  const FunctionModel model(20, 40, scrambled_logits(20, 1, 1));
  std::atomic<bool> cancelled = false;
  WorkQueue queue(random_sentences(50, 10, 18, 1), 1);
  size_t done = 0;
  const Search search(model, {}, {}, {.rows = 4});
  EXPECT_THROW(search.run([&](const SearchRoom& room) { return queue.take(room); },
                          [&](uint64_t, auto) { cancelled = ++done == 3; }, {.stop = Stop(&cancelled)}),
               Cancelled);
  EXPECT_EQ(done, 3u);
}

TEST(Search, RefusesInvalidSentences) {
  const TinyTransformer tiny;
  const Search search(tiny.model, tiny.context(), {});
  EXPECT_THROW(search.run({{0, {}}}), Error);
  EXPECT_THROW(search.run({{0, std::vector<int32_t>(65, 1)}}), Error);
  EXPECT_THROW(search.run({{0, {97, 0}}}), Error);
  EXPECT_NO_THROW(search.run({{0, std::vector<int32_t>(64, 1)}}));
}

TEST(Search, ErrorsCountSentencesFromOne) {
  const TinyTransformer tiny;
  const Search search(tiny.model, tiny.context(), {});
  for (const std::vector<int32_t>& bad : {std::vector<int32_t>{}, std::vector<int32_t>(65, 1), {97, 0}}) {
    try {
      search.run({{0, {1, 0}}, {1, bad}});
      ADD_FAILURE() << "nothing thrown for " << bad.size() << " tokens";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("sentence 2 "), 0u) << error.what();
    }
  }
}

// ---- Hugging Face ----------------------------------------------------------------------------------------

models::EarlyStopping early_stopping_of(const nlohmann::json& value) {
  if (value.is_string()) return models::EarlyStopping::kNever;
  return value.get<bool>() ? models::EarlyStopping::kTrue : models::EarlyStopping::kFalse;
}

std::vector<SearchSentence> sentences_of(const nlohmann::json& search) {
  std::vector<SearchSentence> sentences;
  for (const auto& row : search.at("greedy")) {
    sentences.push_back({sentences.size(), row.at("source").get<std::vector<int32_t>>()});
  }
  return sentences;
}

class HuggingFaceSearch : public testing::Test {
 protected:
  void SetUp() override {
    if (fixture_cases("").empty()) GTEST_SKIP() << missing_fixtures();
    for (const std::string& name : fixture_cases("")) {
      ReferenceCase reference(name);
      if (!reference.json().contains("search") || !reference.json()["search"].contains("beam")) continue;
      cases_.push_back(std::move(reference));
    }
    ASSERT_FALSE(cases_.empty());
  }
  static SearchOptions options_of(const models::LoadedModel& loaded, int64_t max_length) {
    SearchOptions options = search_options_of(loaded);
    options.max_length = max_length;
    options.max_length_factor = 0;
    return options;
  }
  std::vector<ReferenceCase> cases_;
};

TEST_F(HuggingFaceSearch, Greedy) {
  for (const ReferenceCase& reference : cases_) {
    const auto& search = reference.json()["search"];
    const auto loaded = models::load_model((reference.folder() / "model").string());
    SearchOptions options = options_of(loaded, search.at("greedy_max_length"));
    options.beam_size = 1;
    const Results results = Search(loaded.seq2seq(), loaded.context(), options).run(sentences_of(search));
    for (size_t n = 0; n < results.size(); ++n) {
      const auto& row = search["greedy"][n];
      SCOPED_TRACE(row.at("text").get<std::string>());
      if (row.at("sturdy").get<bool>()) {
        EXPECT_EQ(results[n][0].ids, row.at("ids").get<std::vector<int32_t>>());
      }
      if (row.contains("logprob")) {
        EXPECT_NEAR(results[n][0].log_probability, row["logprob"].get<double>(),
                    search["score_tolerance"]["absolute"].get<double>());
      }
    }
  }
}

TEST_F(HuggingFaceSearch, BeamSearch) {
  for (const ReferenceCase& reference : cases_) {
    const auto& search = reference.json()["search"];
    const double tolerance = search["score_tolerance"]["absolute"];
    const auto loaded = models::load_model((reference.folder() / "model").string());
    const auto sentences = sentences_of(search);
    for (const auto& run : search["beam"]) {
      SCOPED_TRACE(fmt::format("{} beams, length penalty {}, early stopping {}, max length {}",
                               run["num_beams"].get<int>(), run["length_penalty"].get<double>(),
                               run["early_stopping"].dump(), run["max_length"].get<int>()));
      SearchOptions options = options_of(loaded, run["max_length"]);
      options.beam_size = run["num_beams"];
      options.nbest = run["n_best"];
      options.length_penalty = run["length_penalty"];
      options.early_stopping = early_stopping_of(run["early_stopping"]);
      const Results results = Search(loaded.seq2seq(), loaded.context(), options).run(sentences);
      for (const auto& row : run["rows"]) {
        const auto& found = results[row["sentence"].get<size_t>()];
        const auto& expected = row["hypotheses"];
        ASSERT_EQ(found.size(), expected.size());
        for (size_t h = 0; h < found.size(); ++h) {
          EXPECT_NEAR(found[h].score, expected[h]["score"].get<double>(), tolerance);
          const bool sturdy = row[h == 0 ? "sturdy_best" : "sturdy_all"];
          if (sturdy) {
            EXPECT_EQ(found[h].ids, expected[h]["ids"].get<std::vector<int32_t>>());
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace heed::search
