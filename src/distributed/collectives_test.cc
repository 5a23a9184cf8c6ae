#include "distributed/collectives.h"

#include <gtest/gtest.h>

#include <numeric>

#include "distributed/test_thread_ranks.h"

namespace heed::distributed {
namespace {

class CollectivesTest : public ::testing::TestWithParam<int> {};

/// 0, 1, 2, ... on `rank`'s slice, or everywhere, and -1 elsewhere.
std::vector<int> counted(int64_t size, const Slices& slices, int rank) {
  std::vector<int> values(static_cast<size_t>(size), -1);
  const Range range = slices.of(rank);
  for (int64_t n = range.begin; n < range.end; ++n) values[static_cast<size_t>(n)] = static_cast<int>(n);
  return values;
}

TEST(Slices, DivideTheElementsAtMultiplesOfTheBlock) {
  for (const int64_t elements : {0, 1, 9, 10, 11, 100, 101}) {
    for (int ranks = 1; ranks <= 7; ++ranks) {
      const Slices slices(elements, ranks, 10);
      int64_t end = 0, largest = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(slices.of(rank).begin, end);
        EXPECT_TRUE(end % 10 == 0 || end == elements);
        end = slices.of(rank).end;
        largest = std::max(largest, slices.of(rank).size());
      }
      EXPECT_EQ(end, elements);
      EXPECT_LE(largest, ((elements + 9) / 10 + ranks - 1) / ranks * 10) << "they are about equal";
    }
  }
}

TEST_P(CollectivesTest, MoveEverySliceToItsPlace) {
  for (const int64_t size : {1, 5, 1000}) {
    const Slices slices(size, GetParam());
    std::vector<int> whole(static_cast<size_t>(size));
    std::iota(whole.begin(), whole.end(), 0);
    ThreadRanks::run(GetParam(), [&](Communicator& ranks) {
      std::vector<int> values = counted(size, slices, ranks.rank());
      all_gather(ranks, {values.data(), sizeof(int), slices});
      EXPECT_EQ(values, whole);

      std::vector<int> one = counted(size, slices, ranks.rank()), other = one;
      all_gather(ranks, {{one.data(), sizeof(int), slices}, {other.data(), sizeof(int), slices}});
      EXPECT_EQ(one, whole);
      EXPECT_EQ(other, whole);

      std::vector<int> own(static_cast<size_t>(slices.of(ranks.rank()).size()), -1);
      scatter(ranks, {ranks.is_first() ? whole.data() : nullptr, sizeof(int), slices}, own.data());
      for (size_t n = 0; n < own.size(); ++n) {
        EXPECT_EQ(own[n], slices.of(ranks.rank()).begin + static_cast<int64_t>(n));
      }
      std::vector<int> gathered(ranks.is_first() ? whole.size() : 0);
      gather(ranks, {ranks.is_first() ? gathered.data() : nullptr, sizeof(int), slices}, own.data());
      EXPECT_EQ(gathered, ranks.is_first() ? whole : std::vector<int>());

      values = ranks.is_first() ? whole : std::vector<int>(whole.size(), -1);
      broadcast(ranks, {values.data(), sizeof(int), slices});
      EXPECT_EQ(values, whole);
    });
  }
}

TEST_P(CollectivesTest, ExchangeValuesAndStrings) {
  ThreadRanks::run(GetParam(), [](Communicator& ranks) {
    const std::vector<double> values = all_gather_values(ranks, 0.5 + ranks.rank());
    ASSERT_EQ(values.size(), static_cast<size_t>(ranks.size()));
    for (size_t n = 0; n < values.size(); ++n) EXPECT_EQ(values[n], 0.5 + static_cast<double>(n));
    EXPECT_EQ(broadcast_value(ranks, 7 + ranks.rank()), 7);

    const std::vector<std::string> own(static_cast<size_t>(ranks.rank()), std::string("a\0b", 3));
    const auto lists = all_gather_strings(ranks, own);
    for (size_t n = 0; n < lists.size(); ++n) {
      EXPECT_EQ(lists[n], std::vector<std::string>(n, std::string("a\0b", 3)));
    }
    const std::vector<std::string> told{"", "long enough for slices", std::to_string(ranks.rank())};
    EXPECT_EQ(broadcast_strings(ranks, told), (std::vector<std::string>{"", "long enough for slices", "0"}));
  });
}

INSTANTIATE_TEST_SUITE_P(, CollectivesTest, ::testing::Values(1, 2, 3, 8),
                         [](const auto& each) { return "Ranks" + std::to_string(each.param); });

}  // namespace
}  // namespace heed::distributed
