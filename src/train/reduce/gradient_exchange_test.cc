#include "train/reduce/gradient_exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "distributed/test_thread_ranks.h"

namespace heed::train {
namespace {

using distributed::Communicator;
using distributed::Incoming;
using distributed::Outgoing;
using distributed::ThreadRanks;

constexpr int64_t kElements = 5'000'000;  // several sections, the last one shorter

nn::ParameterTable table_of(int64_t elements) {
  nn::ParameterTable table;
  table.add({"weights", {elements}, {}, {}});
  return table;
}

/// Different numbers for every shard, whose sum depends on the order of the additions.
void fill(nn::ParameterArray& gradients, size_t shard) {
  float* const g = gradients.flat().data<float>();
  for (int64_t n = 0; n < kElements; ++n) {
    g[n] = static_cast<float>((n * 7919 + static_cast<int64_t>(shard) * 104'729) % 1'000'003) * 1e-3F + 0.1F;
  }
}

/// What one rank needs for a step.
struct Step {
  Step(Communicator& ranks, size_t shards)
      : slices(table, ranks),
        tree(shards),
        own(distributed::Slices(static_cast<int64_t>(shards), ranks.size()).of(ranks.rank())),
        gradients(table, slices),
        exchange(slices, ranks, gradients) {
    gradients.begin(tree, own);
    exchange.begin(tree);
  }
  void put_all(size_t section) {
    for (int64_t shard = own.begin; shard < own.end; ++shard) {
      gradients.put(static_cast<size_t>(shard), section);
    }
  }
  /// The sum over all shards, in this rank's slices.
  nn::ParameterArray finish(ThreadPool& pool) {
    exchange.finish();
    std::vector<nn::ParameterArray> sums = gradients.sums();
    exchange.add_up(pool, sums);
    return sums[0];
  }

  const nn::ParameterTable table = table_of(kElements);
  ParameterSlices slices;
  ReductionTree tree;
  Range own;
  GradientTree gradients;
  RankGradientExchange exchange;
};

/// The sums over all shards, each rank's slices in its own array.
std::vector<nn::ParameterArray> sums_on(int ranks, size_t shards) {
  std::vector<nn::ParameterArray> sums(static_cast<size_t>(ranks));
  ThreadRanks::run(ranks, [&](Communicator& communicator) {
    ThreadPool pool(2);
    Step step(communicator, shards);
    pool.run(static_cast<size_t>(step.own.size()), [&](size_t item) {
      const size_t shard = static_cast<size_t>(step.own.begin) + item;
      nn::ParameterArray gradients = step.gradients.take(shard);
      fill(gradients, shard);
      for (size_t section = step.slices.sections(); section-- > 0;) step.gradients.put(shard, section);
    });
    sums[static_cast<size_t>(communicator.rank())] = step.finish(pool);
  });
  return sums;
}

TEST(GradientExchange, GivesTheBitsOfOneRank) {
  constexpr size_t kShards = 5;
  const std::vector<nn::ParameterArray> one = sums_on(1, kShards);
  const std::vector<float> whole = one[0].flat().to_vector<float>();
  for (const int ranks : {2, 3, 5}) {
    const std::vector<nn::ParameterArray> sums = sums_on(ranks, kShards);
    for (int rank = 0; rank < ranks; ++rank) {
      const ParameterSlices slices(kElements, ranks, rank);
      ASSERT_GT(slices.sections(), 2U);
      const float* const found = sums[static_cast<size_t>(rank)].flat().data<float>();
      for (size_t section = 0; section < slices.sections(); ++section) {
        const auto& [begin, end] = slices.own(section);
        EXPECT_TRUE(std::equal(found + begin, found + end, whole.begin() + begin)) << ranks << " " << rank;
      }
    }
  }
}

/// Counts the exchanges that have ended.
class Counting : public Communicator {
 public:
  explicit Counting(Communicator& ranks) : ranks_(ranks) {}
  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  void give_up() override { ranks_.give_up(); }
  void exchange(const std::vector<Outgoing>& outgoing, const std::vector<Incoming>& incoming) override {
    ranks_.exchange(outgoing, incoming);
    ++exchanges_;
  }
  /// Whether there have been so many within some seconds.
  bool reaches(size_t exchanges) const {
    for (int tick = 0; tick < 5000 && exchanges_ < exchanges; ++tick) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return exchanges_ == exchanges;
  }

 private:
  Communicator& ranks_;
  std::atomic<size_t> exchanges_ = 0;
};

TEST(GradientExchange, SendsASectionBeforeTheOthersAreComplete) {
  ThreadRanks::run(2, [](Communicator& communicator) {
    Counting ranks(communicator);
    ThreadPool pool(1);
    Step step(ranks, 4);
    for (int64_t shard = step.own.begin; shard < step.own.end; ++shard) {
      nn::ParameterArray gradients = step.gradients.take(static_cast<size_t>(shard));
      fill(gradients, static_cast<size_t>(shard));
    }
    size_t sent = 0;
    for (size_t section = step.slices.sections(); section-- > 0;) {
      step.put_all(section);
      EXPECT_TRUE(ranks.reaches(++sent));
    }
    step.finish(pool);
  });
}

TEST(GradientExchange, ARankThatIsInterruptedDoesNotStopTheOthers) {
  ThreadRanks::run(3, [](Communicator& ranks) {
    ThreadPool pool(1);
    Step step(ranks, 6);
    if (ranks.rank() == 1) {
      step.gradients.take(static_cast<size_t>(step.own.begin));
      step.gradients.give_up();
    } else {
      for (int64_t shard = step.own.begin; shard < step.own.end; ++shard) {
        step.gradients.take(static_cast<size_t>(shard));
      }
      for (size_t section = step.slices.sections(); section-- > 0;) step.put_all(section);
    }
    step.exchange.finish();
  });
}

TEST(GradientExchange, AnErrorOfOneRankEndsAll) {
  const auto work = [](Communicator& ranks) {
    Step step(ranks, 2);
    step.gradients.take(static_cast<size_t>(ranks.rank()));
    if (ranks.rank() == 1) throw std::runtime_error("the error");
    for (size_t section = step.slices.sections(); section-- > 0;) step.put_all(section);
    step.exchange.finish();
  };
  try {
    ThreadRanks::run(2, work);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the error");
  }
}

TEST(ParameterSlices, ShareEverySectionEvenly) {
  for (const int64_t elements : {int64_t{1}, kOptimizerChunk, kElements, 40 * kElements}) {
    for (const int ranks : {1, 2, 3, 8, 48, 64}) {
      int64_t total = 0, least = elements, most = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const ParameterSlices slices(elements, ranks, rank);
        int64_t end = 0, own = 0;
        for (size_t n = 0; n < slices.sections(); ++n) {
          EXPECT_EQ(slices.section(n).begin, end);
          end = slices.section(n).end;
          EXPECT_EQ(slices.own_offset(n), own);
          EXPECT_TRUE(slices.section(n).contains(slices.own(n)));
          EXPECT_EQ(slices.own(n), slices.of(n, rank));
          own += slices.own(n).size();
        }
        EXPECT_EQ(end, elements);
        EXPECT_EQ(slices.own_size(), own);
        total += own;
        least = std::min(least, own);
        most = std::max(most, own);
      }
      EXPECT_EQ(total, elements);
      EXPECT_LE(most - least, kOptimizerChunk) << elements << " on " << ranks;
    }
  }
}

}  // namespace
}  // namespace heed::train
