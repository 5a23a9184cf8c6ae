#include "distributed/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "base/stop.h"
#include "distributed/test_thread_ranks.h"

namespace heed::distributed {
namespace {

using ::testing::HasSubstr;

/// The message of the error that all of three ranks throw; empty if they throw none.
std::string message_of(const std::function<void(Communicator&)>& work) {
  std::vector<std::string> messages(3);
  ThreadRanks::run(3, [&](Communicator& ranks) {
    try {
      work(ranks);
    } catch (const AgreedError& error) {
      messages[static_cast<size_t>(ranks.rank())] = error.what();
    }
  });
  EXPECT_EQ(messages[1], messages[0]);
  EXPECT_EQ(messages[2], messages[0]);
  return messages[0];
}

/// The message when these ranks fail.
std::string message_of_failing(const std::vector<int>& failing) {
  return message_of([&](Communicator& ranks) {
    together(ranks, [&] {
      if (std::ranges::count(failing, ranks.rank()) > 0) fail(ErrorKind::kFile, "no such file");
    });
  });
}

TEST(Together, AnErrorOfOneRankIsAnErrorOfAll) {
  EXPECT_EQ(message_of_failing({}), "");
  EXPECT_EQ(message_of_failing({0, 1, 2}), "no such file") << "all alike";
  EXPECT_EQ(message_of_failing({0}), "no such file") << "the rank that works with the files";
  const std::string some = message_of_failing({1, 2});
  EXPECT_THAT(some, HasSubstr(describe_rank(1, host_name()) + ": no such file"));
  EXPECT_THAT(some, HasSubstr(describe_rank(2, host_name()) + ": no such file"));
}

TEST(Together, OptionsKeepTheirMarks) {
  ThreadRanks::run(2, [](Communicator& ranks) {
    try {
      together(ranks, [] { fail_option("give $max_steps"); });
      ADD_FAILURE() << "no error";
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.message([](const std::string&) { return "--max-steps"; }), "give --max-steps");
    }
  });
}

TEST(Together, StoppingOneRankStopsAll) {
  int stopped = 0;
  std::mutex mutex;
  ThreadRanks::run(3, [&](Communicator& ranks) {
    try {
      together(ranks, [&] {
        if (ranks.rank() == 1) throw Cancelled();
      });
    } catch (const Cancelled&) {
      const std::lock_guard lock(mutex);
      ++stopped;
    }
  });
  EXPECT_EQ(stopped, 3);
}

TEST(RequireEqual, NamesTheRanksThatDiffer) {
  const auto check = [](const std::vector<std::string>& values) {
    return message_of([&](Communicator& ranks) {
      require_equal(ranks, {{"the weather", "sun"},
                            {"the recipe", values[static_cast<size_t>(ranks.rank())], "give all the same"}});
    });
  };
  EXPECT_EQ(check({"a = 1\nb = 2\n", "a = 1\nb = 2\n", "a = 1\nb = 2\n"}), "");
  const std::string message = check({"a = 1\nb = 2\n", "a = 1\nb = 2\n", "a = 1\nb = 3\n"});
  EXPECT_THAT(message, HasSubstr("the recipe differs"));
  EXPECT_THAT(message, HasSubstr(describe_rank(0, host_name()) + " has 'b = 2'"));
  EXPECT_THAT(message, HasSubstr(describe_rank(2, host_name()) + " has 'b = 3'; give all the same"));
  EXPECT_THAT(message, ::testing::Not(HasSubstr("rank 1")));
  EXPECT_THAT(check({"a", "a\nb", "a\nb"}), HasSubstr("has 'nothing'"));
}

}  // namespace
}  // namespace heed::distributed
