// Short trainings: the batches follow the limits, are decided once and stored.
#include "train/loop/batch_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "train/test_trainings.h"

namespace heed::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(BatchFit, SmallerBatchesWhereTheRecipesAreTooFew) {
  const Recipe recipe = recipe_with({});
  const double without_end = std::numeric_limits<double>::infinity();
  EXPECT_EQ(fitted_batch_tokens(recipe, without_end), 4096);
  EXPECT_EQ(fitted_batch_tokens(recipe, 4.1e6), 4096) << "a thousand updates";
  EXPECT_EQ(fitted_batch_tokens(recipe, 1.1e6), 1024) << "three minutes on two cores";
  EXPECT_EQ(fitted_batch_tokens(recipe, 1e5), 512);
  EXPECT_EQ(fitted_batch_tokens(recipe, 0), 512);
  EXPECT_EQ(measured_batch_tokens(recipe), 1024);
}

TEST(BatchFit, NeverLargerThanTheRecipes) {
  const Recipe recipe = recipe_with({{"training.batch_tokens", "300"}, {"training.fit_batch", "true"}});
  EXPECT_EQ(measured_batch_tokens(recipe), 300);
  EXPECT_EQ(fitted_batch_tokens(recipe, 0), 300);
}

TEST(BatchFit, ABatchOfALanguageModelHasTwoBlocks) {
  Recipe recipe = make_recipe("small", "lm", {});
  recipe.block_size = 700;
  EXPECT_EQ(fitted_batch_tokens(recipe, 0), 1400);
  EXPECT_EQ(measured_batch_tokens(recipe), 1400);
}

TEST(BatchFit, ExplicitSettingsAreTakenAsTheyAre) {
  EXPECT_TRUE(recipe_with({}).fit_batch);
  EXPECT_FALSE(recipe_with({{"training.batch_tokens", "4096"}}).fit_batch);
  EXPECT_FALSE(recipe_with({{"training.gradient_accumulation", "2"}}).fit_batch);
}

/// More text than a batch of 2,048 tokens holds.
class FittedBatches : public ::testing::Test {
 protected:
  TrainerOptions options(const std::string& output, const std::map<std::string, std::string>& more = {}) {
    std::map<std::string, std::string> settings{{"training.batch_tokens", "2048"},
                                                {"training.fit_batch", "true"}};
    for (const auto& [key, value] : more) settings[key] = value;
    const auto task = models::Task::kTranslation;
    TrainerOptions made = small_training(folder_, task, output, small_recipe(task, settings));
    made.data = small_text(folder_, task, "more", 1500);
    made.max_steps = 0;
    made.on_message = [this](const std::string& text) { said_ += text + "\n"; };
    return made;
  }
  TrainerOptions epochs(const std::string& output, const std::map<std::string, std::string>& more = {}) {
    TrainerOptions made = options(output, more);
    made.max_epochs = 2;
    return made;
  }
  Files files(const std::string& output) const { return files_of(folder_.path(output)); }

  TestFolder folder_;
  std::string said_;
};

TEST_F(FittedBatches, GiveAShortTrainingMoreSteps) {
  const TrainingSummary fitted = train(epochs("fitted"));
  EXPECT_THAT(said_, HasSubstr("the batches are fitted to the length of the training: 512 tokens instead of "
                               "2048"));
  said_.clear();
  const TrainingSummary control = train(epochs("control", {{"training.fit_batch", "false"}}));
  EXPECT_THAT(said_, Not(HasSubstr("the batches are fitted")));
  EXPECT_GE(fitted.steps, 3 * control.steps);
}

TEST_F(FittedBatches, AreSmallerWhereAnUpdateHasSeveral) {
  const auto fitted = [&](const std::string& accumulation, double epochs_in_all) {
    TrainerOptions made = epochs(fmt::format("{}-batches-for-{}", accumulation, epochs_in_all),
                                 {{"training.gradient_accumulation", accumulation}});
    made.max_epochs = epochs_in_all;
    made.on_step = [](const Metrics&) { throw std::runtime_error("killed"); };
    said_.clear();
    EXPECT_THROW(train(made), std::runtime_error);
    const size_t begin = std::min(said_.find("the batches are fitted"), said_.size());
    return said_.substr(begin, said_.find('\n', begin) - begin);
  };
  EXPECT_EQ(fitted("2", 400), fitted("1", 200));
  EXPECT_NE(fitted("2", 200), fitted("1", 200));
}

TEST_F(FittedBatches, FollowEpochsWithoutAClockAndSurviveAKill) {
  train(epochs("whole"));
  TrainerOptions killed = epochs("killed");
  killed.checkpoint_minutes = 0;
  killed.on_step = [](const Metrics& m) {
    if (m.step == 9) throw std::runtime_error("killed");
  };
  EXPECT_THROW(train(killed), std::runtime_error);
  said_.clear();
  train(epochs("killed"));
  EXPECT_THAT(said_, HasSubstr("resuming from step 8"));
  EXPECT_THAT(said_, Not(HasSubstr("the batches are fitted"))) << "decided before";
  EXPECT_EQ(different_files(files("whole"), files("killed")), kNone);
}

TEST_F(FittedBatches, FollowTheTime) {
  TrainerOptions made = options("short");
  made.max_minutes = 1e-4;
  train(made);
  EXPECT_THAT(said_, HasSubstr("512 tokens instead of 2048"));
  said_.clear();
  made = options("long");
  made.max_minutes = 1e6;
  made.on_step = [](const Metrics&) { throw std::runtime_error("killed"); };
  EXPECT_THROW(train(made), std::runtime_error);
  EXPECT_THAT(said_, Not(HasSubstr("the batches are fitted"))) << "the control";
}

TEST_F(FittedBatches, AreTheRecipesWhereStepsAreCounted) {
  TrainerOptions made = epochs("steps");
  made.max_steps = 2;
  train(made);
  EXPECT_THAT(said_, Not(HasSubstr("the batches are fitted")));
}

}  // namespace
}  // namespace heed::train
