// Searches of many callers on shared threads give the same results as separate searches.
#include "search/shared_search.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "search/test_seq2seq.h"

namespace heed::search {
namespace {

using ResultsById = std::map<uint64_t, std::vector<Hypothesis>>;

void expect_same(const ResultsById& actual, const std::vector<std::vector<Hypothesis>>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t n = 0; n < expected.size(); ++n) {
    const std::vector<Hypothesis>& found = actual.at(n);
    ASSERT_EQ(found.size(), expected[n].size()) << n;
    for (size_t h = 0; h < found.size(); ++h) {
      EXPECT_EQ(found[h].ids, expected[n][h].ids) << n;
      EXPECT_EQ(found[h].log_probabilities, expected[n][h].log_probabilities) << n;
      EXPECT_EQ(found[h].score, expected[n][h].score) << n;
    }
  }
}

struct Outcome {
  ResultsById results;
  bool whole = false;
};
Outcome run(SharedSearch& shared, const Search& search, const std::vector<SearchSentence>& sentences,
            const std::atomic<bool>* cancelled = nullptr) {
  Outcome done;
  std::mutex mutex;
  const auto take = [&](uint64_t number, std::vector<Hypothesis> hypotheses) {
    const std::lock_guard lock(mutex);
    done.results[number] = std::move(hypotheses);
  };
  try {
    shared.run(search, sentences, take, {.stop = Stop(cancelled)});
    done.whole = true;
  } catch (const Cancelled&) {
  }
  return done;
}

TEST(SharedSearch, CallersWithDifferentOptionsAndModelsShareBatches) {
  const TinyTransformer first(1), second(2);
  std::atomic<size_t> largest = 0, sentences_done = 0;
  SharedSearch shared({.threads = 2,
                       .on_step = [&](size_t rows) { largest = std::max<size_t>(largest, rows); },
                       .on_sentence = [&](size_t, size_t) { ++sentences_done; }});
  std::vector<std::thread> callers;
  for (uint64_t caller = 0; caller < 24; ++caller) {
    callers.emplace_back([&, caller] {
      const TinyTransformer& tiny = caller % 3 == 0 ? second : first;
      SearchOptions options;
      options.beam_size = options.nbest = caller % 2 == 0 ? 4 : 1;
      options.sample = caller % 5 == 0;
      options.sampling.seed = caller;
      const Search search(tiny.model, tiny.context(), options);
      const auto sentences = random_sentences(1 + caller % 7, 20, 96, caller);
      const Outcome done = run(shared, search, sentences);
      EXPECT_TRUE(done.whole);
      expect_same(done.results, search.run(sentences));
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_GT(largest, 4u);  // more than any one sentence has
  size_t expected = 0;
  for (uint64_t caller = 0; caller < 24; ++caller) expected += 1 + caller % 7;
  EXPECT_EQ(sentences_done, expected);
  EXPECT_EQ(shared.waiting(), 0u);
}

/// A model that never ends a sentence by itself, for searches that are to be cancelled.
FunctionModel endless(std::atomic<size_t>& steps, int64_t longest) {
  return FunctionModel(9, longest, [&steps](const std::vector<int32_t>&, const std::vector<int32_t>&) {
    ++steps;
    std::vector<float> logits(9, 0.0F);
    logits[0] = -50;
    return logits;
  });
}

TEST(SharedSearch, CancelledSentencesLeaveTheBatch) {
  std::atomic<size_t> steps = 0;
  const FunctionModel model = endless(steps, 1 << 20);
  SharedSearch shared({.threads = 1});
  SearchOptions options;
  options.beam_size = 1;
  options.max_length_factor = 0;
  const Search search(model, {}, options);
  std::atomic<bool> cancelled = false;
  Outcome gone, other;
  // More sentences than a batch holds, so that some are cancelled while they wait.
  std::thread caller([&] { gone = run(shared, search, random_sentences(100, 5, 8, 1), &cancelled); });
  while (steps < 100) std::this_thread::yield();
  SearchOptions short_options = options;
  short_options.max_new = 3;
  const Search short_search(model, {}, short_options);
  cancelled = true;
  other = run(shared, short_search, random_sentences(2, 5, 8, 2));
  caller.join();
  EXPECT_FALSE(gone.whole);
  EXPECT_TRUE(gone.results.empty());
  EXPECT_TRUE(other.whole);
  EXPECT_EQ(other.results.size(), 2u);
}

TEST(SharedSearch, ErrorsReachOnlyTheirCaller) {
  const TinyTransformer tiny;
  SharedSearch shared({.threads = 1});
  const Search search(tiny.model, tiny.context(), {});
  auto bad = random_sentences(3, 10, 96, 4);
  bad[1].source = {500};  // outside the vocabulary
  const auto good = random_sentences(9, 10, 96, 5);
  std::thread other([&] { expect_same(run(shared, search, good).results, search.run(good)); });
  EXPECT_THROW(run(shared, search, bad), Error);
  other.join();

  // An error of the model fails all sentences of the batch, but none after it.
  std::atomic<bool> broken = true;
  const FunctionModel model(9, 20, [&](const std::vector<int32_t>&, const std::vector<int32_t>&) {
    if (broken) throw std::runtime_error("broken");
    return std::vector<float>{9, 0, 0, 0, 0, 0, 0, 0, 0};
  });
  const Search failing(model, {}, {});
  EXPECT_THROW(run(shared, failing, random_sentences(3, 5, 8, 1)), std::runtime_error);
  broken = false;
  EXPECT_EQ(run(shared, failing, random_sentences(3, 5, 8, 1)).results.size(), 3u);
}

TEST(SharedSearch, AShortSentenceDoesNotWaitForALongDocument) {
  std::atomic<size_t> calls = 0, steps = 0, done = 0;
  const FunctionModel model = endless(calls, 50);
  std::atomic<SharedSearch*> waiting_for = nullptr;
  SharedSearch shared({.threads = 1,
                       .budget = {.rows = 4},
                       .on_step =
                           [&](size_t) {
                             if (++steps != 10) return;
                             // The short text comes between two steps.
                             const size_t before = waiting_for.load()->waiting();
                             while (waiting_for.load()->waiting() == before) std::this_thread::yield();
                           },
                       .on_sentence = [&](size_t, size_t) { ++done; }});
  waiting_for = &shared;
  SearchOptions options;
  options.beam_size = 1;
  options.max_length_factor = 0;
  const Search search(model, {}, options);
  std::thread caller([&] { run(shared, search, random_sentences(400, 5, 8, 1)); });
  while (steps < 10) std::this_thread::yield();
  size_t done_before = 0;
  const auto take = [&](uint64_t, const std::vector<Hypothesis>&) { done_before = done; };
  shared.run(search, random_sentences(1, 5, 8, 2), take, {});
  EXPECT_LT(done_before, 40U);
  caller.join();
}

TEST(SharedSearch, ALongDocumentLeavesRoomInTheBatch) {
  // Sentences that do not end, in a batch that holds fewer than there are.
  std::atomic<size_t> calls = 0, steps = 0, most_rows = 0;
  const FunctionModel model = endless(calls, 1 << 20);
  std::atomic<SharedSearch*> waiting_for = nullptr;
  SharedSearch shared({.threads = 1, .budget = {.rows = 16}, .on_step = [&](size_t rows) {
                         most_rows = std::max<size_t>(most_rows, rows);
                         if (++steps != 10) return;
                         // The short text comes between two steps.
                         const size_t before = waiting_for.load()->waiting();
                         while (waiting_for.load()->waiting() == before) std::this_thread::yield();
                       }});
  waiting_for = &shared;
  SearchOptions options;
  options.beam_size = 1;
  options.max_length_factor = 0;
  const Search search(model, {}, options);
  std::atomic<bool> cancelled = false;
  Outcome document;
  std::thread caller([&] { document = run(shared, search, random_sentences(100, 5, 8, 1), &cancelled); });
  while (steps < 10) std::this_thread::yield();
  EXPECT_LE(most_rows, 12U);
  SearchOptions short_options = options;
  short_options.max_new = 3;
  const Search short_search(model, {}, short_options);
  size_t finished_after = 0;
  const auto take = [&](uint64_t, const std::vector<Hypothesis>&) { finished_after = steps; };
  // On a thread of its own, so that the test ends also where this waits for the document.
  std::thread other([&] { shared.run(short_search, random_sentences(1, 5, 8, 2), take, {}); });
  while (steps < 100) std::this_thread::yield();
  cancelled = true;
  caller.join();
  other.join();
  EXPECT_LE(finished_after, 15U);
  EXPECT_TRUE(document.results.empty());
}

TEST(SharedSearch, SharesAreFairByTokens) {
  // One caller's sentences have ten times the tokens of the other's, and each batch holds one sentence.
  std::atomic<size_t> calls = 0;
  const FunctionModel model = endless(calls, 50);
  std::atomic<SharedSearch*> engine = nullptr;
  std::atomic<bool> both = false;
  SharedSearch shared({.threads = 1, .budget = {.rows = 1}, .on_step = [&](size_t) {
                         while (!both && engine.load()->waiting() < 30) std::this_thread::yield();
                         both = true;
                       }});
  engine = &shared;
  std::vector<char> order;  // only the engine's thread writes
  const auto run_all = [&](char name, int64_t new_tokens, size_t count) {
    SearchOptions options;
    options.beam_size = 1;
    options.max_length_factor = 0;
    options.max_new = new_tokens;
    const Search search(model, {}, options);
    shared.run(search, random_sentences(count, 5, 8, 1),
               [&, name](uint64_t, const std::vector<Hypothesis>&) { order.push_back(name); }, {});
  };
  std::thread long_ones([&] { run_all('l', 40, 11); });
  while (shared.waiting() < 10) std::this_thread::yield();
  run_all('s', 4, 20);
  long_ones.join();
  const auto last_short = std::ranges::find(order.rbegin(), order.rend(), 's').base();
  EXPECT_LE(std::count(order.begin(), last_short, 'l'), 6);
}

TEST(SharedSearch, RunsOtherWork) {
  SharedSearch shared({.threads = 2});
  const auto here = std::this_thread::get_id();
  std::thread::id there = here;
  shared.call("", [&] { there = std::this_thread::get_id(); });
  EXPECT_NE(there, here);
  EXPECT_THROW(shared.call("", [] { throw std::runtime_error("no"); }), std::runtime_error);
}

TEST(SharedSearch, ClientsTakeTurnsWithOtherWork) {
  SharedSearch shared({.threads = 1});
  std::atomic<bool> all_wait = false;
  std::string order;  // written by the one thread that runs calls
  std::vector<std::thread> callers;
  const auto enqueue = [&](const std::string& client, size_t count) {
    const size_t before = shared.waiting();
    for (size_t n = 0; n < count; ++n) {
      callers.emplace_back([&shared, &order, client] { shared.call(client, [&] { order += client; }); });
    }
    while (shared.waiting() < before + count) std::this_thread::yield();
  };
  std::atomic<bool> busy = false;
  callers.emplace_back([&] {
    shared.call("first", [&] {
      busy = true;
      while (!all_wait) std::this_thread::yield();
    });
  });
  while (!busy) std::this_thread::yield();
  enqueue("a", 20);
  enqueue("b", 2);
  enqueue("c", 1);
  all_wait = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(order, "abcab" + std::string(18, 'a'));
}

}  // namespace
}  // namespace heed::search
