// Short trainings: the schedule follows the limits, is decided once and stored.
#include "train/loop/schedule_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "train/store/checksummed_tensors.h"
#include "train/test_trainings.h"

namespace heed::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ScheduleFit, AShortTrainingReachesItsPeakHalfway) {
  const Recipe recipe = recipe_with({});
  const TrainingPlan plan = make_plan(recipe, 264);
  EXPECT_EQ(plan.schedule.warmup_steps, 132);
  EXPECT_DOUBLE_EQ(plan.schedule.at(132), recipe.learning_rate);
  EXPECT_DOUBLE_EQ(plan.schedule.at(264), recipe.learning_rate * std::sqrt(0.5)) << "its own kind";
  EXPECT_EQ(plan.validate_every, 52);
  EXPECT_LT(recipe.make_schedule().at(264), 0.14 * recipe.learning_rate) << "the control: the recipe's own";
}

TEST(ScheduleFit, ALongTrainingKeepsTheRecipe) {
  const Recipe recipe = recipe_with({});
  for (const int64_t parts : {2, 10}) {
    const TrainingPlan plan = make_plan(recipe, parts * recipe.warmup_steps);
    for (const int64_t n : {1, 2000, 20000, 90000}) {
      EXPECT_EQ(plan.schedule.at(n), recipe.make_schedule().at(n)) << parts << " " << n;
    }
  }
  EXPECT_EQ(describe_fit(recipe, make_plan(recipe, 20000), 20000), "");
}

TEST(ScheduleFit, NoamKeepsItsPeak) {
  const Recipe recipe =
      recipe_with({{"schedule.kind", "noam"}, {"schedule.fit", "true"}, {"schedule.learning_rate", "1"}});
  const double peak = recipe.make_schedule().at(recipe.warmup_steps);
  EXPECT_DOUBLE_EQ(make_plan(recipe, 264).schedule.at(132), peak);
  EXPECT_EQ(make_plan(recipe, 4000).schedule.at(2000), peak);
}

TEST(ScheduleFit, SchedulesWithAnEndTakeTheNumberOfSteps) {
  for (const char* kind : {"cosine", "linear"}) {
    const Recipe recipe = recipe_with({{"schedule.kind", kind}});
    const TrainingPlan plan = make_plan(recipe, 40000);
    EXPECT_EQ(plan.schedule.total, 40000) << kind;
    EXPECT_NEAR(plan.schedule.at(40000), kFittedFloor * recipe.learning_rate, 1e-12) << kind;
  }
}

TEST(ScheduleFit, ExplicitSettingsAreTakenAsTheyAre) {
  for (const char* key : {"schedule.warmup_steps", "schedule.total_steps"}) {
    const Recipe recipe = recipe_with({{key, "3000"}});
    EXPECT_FALSE(recipe.fit_schedule);
    EXPECT_EQ(make_plan(recipe, 264).schedule.at(264), recipe.make_schedule().at(264)) << key;
    EXPECT_EQ(make_plan(recipe, 264).validate_every, 52) << key;
  }
  EXPECT_FALSE(recipe_with({{"schedule.kind", "inverse_sqrt"}}).fit_schedule);
  EXPECT_EQ(make_plan(recipe_with({{"validation.every", "900"}}), 264).validate_every, 900);
  const Recipe both = recipe_with({{"schedule.warmup_steps", "20"}, {"schedule.fit", "true"}});
  EXPECT_EQ(make_plan(both, 30).schedule.warmup_steps, 15);
  EXPECT_EQ(make_plan(both, 190).schedule.warmup_steps, 20);
}

TEST(ScheduleFit, ARecordedRecipeIsFittedAsTheOriginal) {
  for (const Recipe& recipe : {recipe_with({}), recipe_with({{"schedule.warmup_steps", "7"}})}) {
    const Recipe again = make_recipe("tiny", "", read_settings(to_toml(recipe), "test"));
    EXPECT_EQ(differences(recipe, again), kNone);
    EXPECT_EQ(again.fit_schedule, recipe.fit_schedule);
  }
}

TEST(ScheduleFit, StepsFollowFromTheFirstOnes) {
  EXPECT_EQ(fitted_steps({0, 0}, 264, false), 264) << "steps alone need no measurement";
  EXPECT_EQ(fitted_steps({0, 0}, 0, false), kNeverFitted) << "early stopping alone";
  EXPECT_EQ(fitted_steps({0, 0}, 0, true), kNotYetFitted);
  EXPECT_EQ(fitted_steps({9, 0.06}, 0, true), kNotYetFitted) << "too few steps";
  EXPECT_EQ(fitted_steps({10, 0.04}, 0, true), kNotYetFitted) << "too little of the time";
  EXPECT_EQ(fitted_steps({10, 0.05}, 0, true), 200);
  EXPECT_EQ(fitted_steps({50, 0.001}, 0, true), 50000);
  EXPECT_EQ(fitted_steps({1, 0.2}, 0, true), 5) << "slow steps";
  EXPECT_EQ(fitted_steps({10, 0.05}, 100, true), 100) << "the nearest limit counts";
}

TEST(ScheduleFit, WarnsWhereTheLimitsAllowTooFewSteps) {
  const Recipe recipe = recipe_with({});
  EXPECT_THAT(warning_of_length(recipe, 4096, 264), HasSubstr("about 264 steps"));
  EXPECT_THAT(warning_of_length(recipe, 4096, 264),
              HasSubstr("training.batch_tokens = 1024 instead of 4096"));
  EXPECT_THAT(warning_of_length(recipe, 512, 264), Not(HasSubstr("batch")));
  EXPECT_THAT(warning_of_length(recipe, std::nullopt, 264), Not(HasSubstr("batch")))
      << "a limit in steps allows no more with smaller batches";
  EXPECT_THAT(warning_of_length(recipe, 4096, 1), HasSubstr("about 1 step, too few"));
  EXPECT_EQ(warning_of_length(recipe, 4096, 500), "");
  EXPECT_EQ(warning_of_length(recipe, 4096, kNeverFitted), "");
}

TEST(ScheduleFit, ATrainingThatIsContinuedValidatesAsOneOfItsNewLength) {
  const Recipe recipe = recipe_with({{"schedule.kind", "cosine"}});
  const TrainingPlan trial = make_plan(recipe, 100), continued = make_plan(recipe, 100, 1000);
  EXPECT_EQ(trial.validate_every, 20);
  EXPECT_EQ(continued.validate_every, 200);
  EXPECT_EQ(continued.schedule.warmup_steps, trial.schedule.warmup_steps);
  EXPECT_EQ(continued.schedule.total, trial.schedule.total);
  EXPECT_EQ(make_plan(recipe, 1000, 100).validate_every, 200) << "a lower limit only ends it";
  EXPECT_EQ(make_plan(recipe, kNeverFitted, 1000).validate_every, 1000);
}

/// Trainings that last a fraction of a second.
class FittedTraining : public ::testing::Test {
 protected:
  TrainerOptions options(const std::string& output, const std::map<std::string, std::string>& more = {}) {
    const auto task = models::Task::kTranslation;
    TrainerOptions made = small_training(folder_, task, output, small_recipe(task, more));
    made.on_message = [this](const std::string& text) { said_ += text + "\n"; };
    made.max_steps = 16;
    return made;
  }
  std::vector<double> rates(const std::string& output) const {
    std::vector<double> found;
    for (const Metrics& m : read_metrics(folder_.path(output + "/training/metrics.jsonl"))) {
      found.push_back(m.learning_rate);
    }
    return found;
  }
  Files files(const std::string& output) const { return files_of(folder_.path(output)); }

  TestFolder folder_;
  std::string said_;
};

TEST_F(FittedTraining, StepsAloneGiveTheSameWeightsEveryTime) {
  train(options("one"));
  train(options("other"));
  EXPECT_EQ(different_files(files("one"), files("other")), kNone);
  const std::vector<double> found = rates("one");
  ASSERT_EQ(found.size(), 16U);
  EXPECT_DOUBLE_EQ(found[7], 0.003) << "the peak after half of the steps";
  EXPECT_DOUBLE_EQ(found.back(), 0.003 * std::sqrt(0.5));
  EXPECT_THAT(said_, HasSubstr("the schedule is fitted to 16 steps: warmup 8 instead of 100"));
  said_.clear();
  train(options("explicit", {{"schedule.warmup_steps", "100"}}));
  EXPECT_THAT(said_, Not(HasSubstr("is fitted"))) << "the control";
  EXPECT_NE(rates("explicit"), found);
}

// The number of steps is measured once; a kill, and another limit, do not change it.
TEST_F(FittedTraining, TheMeasuredLengthIsStored) {
  TrainerOptions timed = options("timed");
  timed.max_steps = 0;
  timed.max_minutes = 60;
  timed.on_step = [](const Metrics& m) {
    if (m.step == 53) throw std::runtime_error("killed");
  };
  EXPECT_THROW(train(timed), std::runtime_error);
  const auto content =
      read_checksummed(folder_.path("timed/training/checkpoint.safetensors"), "heed training checkpoint 2");
  EXPECT_THAT(content.texts.at("state"), HasSubstr("\"fitted_steps\":"));
  EXPECT_THAT(content.texts.at("state"), Not(HasSubstr("\"fitted_steps\":0,")));
  said_.clear();
  timed.on_step = {};
  timed.max_steps = 60;
  timed.max_minutes = 600;
  train(timed);
  EXPECT_THAT(said_, Not(HasSubstr("the schedule is fitted"))) << "decided before";
  EXPECT_EQ(rates("timed").size(), 60U);
}

TEST_F(FittedTraining, IsFittedToEpochsWithoutAClock) {
  for (const char* output : {"one", "other"}) {
    TrainerOptions epochs = options(output);
    epochs.max_steps = 0;
    epochs.max_epochs = 2;
    train(epochs);
  }
  EXPECT_EQ(different_files(files("one"), files("other")), kNone);
  EXPECT_THAT(said_, HasSubstr("the schedule is fitted to"));
  const std::vector<double> found = rates("one");
  EXPECT_LT(found.back(), 0.9 * *std::ranges::max_element(found));
}

TEST_F(FittedTraining, ContinuedBehindItsEndWarns) {
  for (const char* kind : {"linear", "inverse_sqrt"}) {
    const std::map<std::string, std::string> settings{{"schedule.kind", kind}, {"schedule.fit", "true"}};
    train(options(kind, settings));
    TrainerOptions more = options(kind, settings);
    more.max_steps = 18;
    said_.clear();
    train(more);
    if (std::string(kind) == "linear") {
      EXPECT_THAT(said_, HasSubstr("was fitted to 16 steps"));
      EXPECT_NEAR(rates(kind).back(), 0.0003, 1e-9);
    } else {
      EXPECT_THAT(said_, Not(HasSubstr("was fitted"))) << "it has no end";
      EXPECT_DOUBLE_EQ(rates(kind).back(), 0.003 * std::sqrt(8.0 / 18));
    }
  }
}

// From twice the warm-up on, a limit in steps decides only where a training ends.
TEST_F(FittedTraining, ContinuedToMoreStepsIsTheTrainingOfThatLimit) {
  const auto different = [&](const std::string& name, const std::map<std::string, std::string>& settings) {
    for (const int64_t steps : {8, 12}) {
      TrainerOptions parts = options(name + "-in-parts", settings);
      parts.max_steps = steps;
      train(parts);
    }
    TrainerOptions whole = options(name, settings);
    whole.max_steps = 12;
    train(whole);
    return different_files(files(name + "-in-parts"), files(name));
  };
  EXPECT_EQ(different("long", {{"schedule.warmup_steps", "4"}, {"schedule.fit", "true"}}), kNone);
  EXPECT_NE(different("short", {}), kNone) << "the control: a warm-up fitted to 8 steps";
}

TEST_F(FittedTraining, ContinuedToMoreStepsValidatesAsOneOfThatLimit) {
  const std::map<std::string, std::string> settings{{"validation.every", "100"}, {"validation.fit", "true"}};
  const auto train_to = [&](int64_t steps) {
    TrainerOptions made = options("model", settings);
    made.max_steps = steps;
    train(made);
  };
  train_to(20);
  train_to(250);
  std::vector<int64_t> validated;
  for (const Metrics& m : read_metrics(folder_.path("model/training/metrics.jsonl"))) {
    if (m.valid_loss) validated.push_back(m.step);
  }
  EXPECT_EQ(validated, (std::vector<int64_t>{20, 50, 100, 150, 200, 250}));
}

TEST_F(FittedTraining, AFinishedTrainingSaysWhichLimitItReached) {
  train(options("model"));
  EXPECT_THAT(said_, Not(HasSubstr("is finished"))) << "the control: it trained";
  said_.clear();
  train(options("model"));
  EXPECT_THAT(said_, HasSubstr("is finished: its 16 steps reach max_steps 16"));
  said_.clear();
  TrainerOptions minutes = options("model");
  minutes.max_steps = 0;
  minutes.max_minutes = 1e-9;
  minutes.option_names = [](const std::string& field) { return "--" + field; };
  train(minutes);
  EXPECT_THAT(said_, HasSubstr("reach --max_minutes 1e-09"));
  said_.clear();
  TrainerOptions epochs = options("model");
  epochs.max_steps = 0;
  epochs.max_epochs = 0.1;
  train(epochs);
  EXPECT_THAT(said_, HasSubstr("reach max_epochs 0.1"));
}

TEST_F(FittedTraining, AFinishedTrainingSaysThatItsPatienceEnded) {
  // Without a learning rate, no validation is better than the first.
  const std::map<std::string, std::string> settings{{"schedule.learning_rate", "0"},
                                                    {"validation.patience", "2"}};
  EXPECT_EQ(static_cast<int>(train(options("model", settings)).end),
            static_cast<int>(TrainingEnd::kPatience));
  said_.clear();
  train(options("model", settings));
  EXPECT_THAT(said_, HasSubstr("is finished: 2 validations in a row"));
  EXPECT_THAT(said_, HasSubstr("validation.patience"));
}

}  // namespace
}  // namespace heed::train
