// A training on several ranks writes the files of a training on one, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "base/files/file_lock.h"
#include "distributed/agreement.h"
#include "distributed/test_thread_ranks.h"
#include "train/reduce/parameter_slices.h"
#include "train/test_trainings.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;
using distributed::Communicator;
using distributed::ThreadRanks;
using ::testing::HasSubstr;

constexpr int kRecipeShards = 5;

class SeveralRanks : public ::testing::TestWithParam<models::Task> {
 protected:
  TrainerOptions options(const std::string& output, std::map<std::string, std::string> settings = {}) {
    // Large enough for several slices of the optimizer.
    settings.insert({{"model.width", "64"},
                     {"model.feed_forward_width", "512"},
                     {"training.shards", std::to_string(kRecipeShards)},
                     {"training.batch_tokens", "160"},
                     {"optimizer.clip_norm", "0.5"}});
    TrainerOptions made = small_training(folder_, GetParam(), output, small_recipe(GetParam(), settings));
    made.threads = 1;
    return made;
  }
  /// Trains on so many ranks; `change` may change the options of one.
  TrainingSummary train_on(int ranks, const TrainerOptions& options,
                           const std::function<void(int rank, TrainerOptions&)>& change = nullptr) {
    TrainingSummary summary;
    ThreadRanks::run(ranks, [&](Communicator& communicator) {
      TrainerOptions own = options;
      own.ranks = &communicator;
      if (change) change(communicator.rank(), own);
      const TrainingSummary found = train(own);
      if (communicator.is_first()) summary = found;
    });
    return summary;
  }
  std::string error_on(int ranks, const TrainerOptions& options,
                       const std::function<void(int rank, TrainerOptions&)>& change = nullptr) {
    try {
      train_on(ranks, options, change);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  Files files(const std::string& output) const { return files_of(folder_.path(output)); }

  TestFolder folder_;
};

TEST_P(SeveralRanks, WriteTheFilesOfOne) {
  for (const char* averaging : {"running", "last"}) {
    const std::map<std::string, std::string> settings{
        {"averaging.kind", averaging}, {"averaging.snapshot_every", "1"}, {"averaging.snapshots", "2"}};
    train_on(1, options(std::string("one-") + averaging, settings));
    const Files one = files(std::string("one-") + averaging);
    for (const int ranks : {2, 3, kRecipeShards}) {
      const std::string name = std::to_string(ranks) + averaging;
      train_on(ranks, options(name, settings));
      EXPECT_EQ(different_files(files(name), one), kNone) << name;
    }
  }
  const Files other_shards = [&] {
    train_on(1, options("other", {{"training.shards", "4"}}));
    return files("other");
  }();
  EXPECT_NE(different_files(other_shards, files("one-running")), kNone)
      << "the control: other sums, other bits";
}

// Gradients travel while the backward pass is still running.
TEST_P(SeveralRanks, WriteTheFilesOfOneAlsoWithSeveralSections) {
  for (const int ranks : {1, 2}) {
    TrainerOptions large = options(std::to_string(ranks), {{"model.feed_forward_width", "8192"}});
    large.max_steps = 2;
    large.threads = 2;
    train_on(ranks, large);
  }
  const auto parameters = static_cast<int64_t>(fs::file_size(folder_.path("1/model.safetensors")) / 4);
  EXPECT_GT(ParameterSlices(parameters, 2, 0).sections(), 1U);
  EXPECT_EQ(different_files(files("2"), files("1")), kNone);
}

TEST_P(SeveralRanks, ResumeWithAnyNumberAfterAKill) {
  train_on(1, options("whole"));
  for (const int victim : {0, 1}) {
    const std::string name = "killed-" + std::to_string(victim);
    const auto kill = [&](int rank, TrainerOptions& o) {
      o.on_step = [](const Metrics& m) {
        if (m.step == 3) throw std::runtime_error("killed");
      };
      if (rank == victim && victim > 0) o.on_ready = [] { throw std::runtime_error("killed"); };
    };
    EXPECT_THROW(train_on(3, options(name), kill), std::runtime_error);
    EXPECT_NE(different_files(files(name), files("whole")), kNone);
    train_on(2, options(name));
    EXPECT_EQ(different_files(files(name), files("whole")), kNone) << name;
  }
}

TEST_P(SeveralRanks, ASignalToOneStopsAllAndSaves) {
  train_on(1, options("whole"));
  std::atomic<bool> stop = false;
  const TrainingSummary summary = train_on(3, options("stopped"), [&](int rank, TrainerOptions& o) {
    if (rank == 2) o.stop = &stop;
    o.on_step = [&](const Metrics& m) { stop = m.step == 3; };
  });
  EXPECT_EQ(summary.end, TrainingEnd::kStopped);
  EXPECT_EQ(summary.steps, 3);
  const TrainingSummary rest = train_on(4, options("stopped"));
  EXPECT_EQ(rest.resumed_from, 3);
  EXPECT_EQ(different_files(files("stopped"), files("whole")), kNone);
}

TEST_P(SeveralRanks, MustBeGivenTheSame) {
  const std::string recipe = error_on(3, options("model"), [&](int rank, TrainerOptions& o) {
    if (rank == 2) o.recipe.learning_rate = 0.5;
  });
  EXPECT_THAT(recipe, HasSubstr("the recipe differs"));
  EXPECT_THAT(recipe, HasSubstr("rank 2"));
  const std::string text = error_on(2, options("model"), [&](int rank, TrainerOptions& o) {
    if (rank == 1) o.data = small_text(folder_, GetParam(), "other", 61);
  });
  EXPECT_THAT(text, HasSubstr("the content of the training or validation text differs"));
  const std::string missing = error_on(2, options("model"), [&](int rank, TrainerOptions& o) {
    if (rank == 1)
      o.data = {.pairs = {.pairs = o.data.pairs.pairs.empty() ? "" : "none"},
                .text = o.data.text.empty() ? "" : "none"};
  });
  EXPECT_THAT(missing, HasSubstr(distributed::describe_rank(1, distributed::host_name()) + ": "));
  EXPECT_FALSE(fs::exists(folder_.path("model"))) << "nothing is written before all agree";
  EXPECT_THAT(error_on(kRecipeShards + 1, options("model")),
              HasSubstr("6 processes cannot share the 5 shards"));
}

class SeveralRanksWithPairs : public SeveralRanks {};

// Machines may have them in different places.
TEST_P(SeveralRanksWithPairs, CompareTheContentOfHeldOutText) {
  TrainerOptions one = options("model");
  one.recipe.cleaning.held_out = {folder_.write("here.tsv", "a b\tA B\n")};
  const auto on_the_second = [&](const std::vector<std::string>& paths) {
    return error_on(2, one, [&](int rank, TrainerOptions& o) {
      if (rank == 1) o.recipe.cleaning.held_out = paths;
    });
  };
  EXPECT_THAT(on_the_second({folder_.write("other.tsv", "a c\tA C\n")}),
              HasSubstr("the content of the training or validation text differs"));
  EXPECT_THAT(on_the_second({}), HasSubstr("the recipe differs"));
  EXPECT_EQ(on_the_second({folder_.write("there.tsv", "a b\tA B\n")}), "");
}

TEST_P(SeveralRanks, TheLockIsOfTheFirstAndItsErrorThatOfAll) {
  fs::create_directories(folder_.path("model/training"));
  const FileLock lock = FileLock::take(folder_.path("model/training/lock"), "the test");
  EXPECT_THAT(error_on(2, options("model")), HasSubstr("is in use by process"));
}

INSTANTIATE_TEST_SUITE_P(, SeveralRanksWithPairs, ::testing::Values(models::Task::kTranslation),
                         [](const auto& each) { return task_kind(each.param).name; });
INSTANTIATE_TEST_SUITE_P(, SeveralRanks,
                         ::testing::Values(models::Task::kTranslation, models::Task::kLanguageModel,
                                           models::Task::kClassification),
                         [](const auto& each) { return task_kind(each.param).name; });

}  // namespace
}  // namespace heed::train
