// Progress and remaining time of a training.
#include "cli/jobs/training_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace heed::cli {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

train::Metrics at(int64_t step, double seconds, double epochs = 0) {
  train::Metrics metrics;
  metrics.step = step;
  metrics.seconds = seconds;
  metrics.epochs = epochs;
  return metrics;
}

TEST(TrainingForecast, PercentAndTimeFromTheFirstSteps) {
  TrainingForecast forecast({.max_steps = 1000});
  EXPECT_FALSE(forecast.state());
  forecast.add(at(1, 3), 100);  // the first step is slow and is ignored
  EXPECT_FALSE(forecast.state()->seconds_left);
  EXPECT_DOUBLE_EQ(forecast.state()->fraction, 0.001);
  forecast.add(at(11, 8), 105);
  EXPECT_DOUBLE_EQ(forecast.state()->fraction, 0.011);
  EXPECT_NEAR(*forecast.state()->seconds_left, 989 * 0.5, 1e-9);
}

TEST(TrainingForecast, CountsTheTimeOfValidations) {
  TrainingForecast forecast({.max_minutes = 10});
  forecast.add(at(1, 1), 0);
  forecast.add(at(100, 101), 150);  // 100 s of training took 150 s
  EXPECT_NEAR(*forecast.state()->seconds_left, (600 - 101) * 1.5, 1e-9);
  EXPECT_NEAR(forecast.state()->fraction, 101.0 / 600, 1e-12);
}

TEST(TrainingForecast, UsesTheFirstLimit) {
  TrainingForecast forecast({.max_steps = 1000, .max_minutes = 1, .max_epochs = 4});
  forecast.add(at(1, 1, 0.01), 0);
  forecast.add(at(11, 11, 0.11), 10);  // 1 step and 0.01 epochs a second
  EXPECT_NEAR(*forecast.state()->seconds_left, 49, 1e-9);
  EXPECT_NEAR(forecast.state()->fraction, 11.0 / 60, 1e-12);
  TrainingForecast epochs({.max_steps = 1000, .max_epochs = 4});
  epochs.add(at(1, 1, 0.01), 0);
  epochs.add(at(11, 11, 0.11), 10);
  EXPECT_NEAR(*epochs.state()->seconds_left, 389, 1e-9);
  EXPECT_NEAR(epochs.state()->fraction, 0.11 / 4, 1e-12);
}

// After resuming, the speed is that of this run, and the percentage refers to the whole training.
TEST(TrainingForecast, AfterResuming) {
  TrainingForecast forecast({.max_steps = 1000});
  forecast.add(at(501, 5000), 0);
  forecast.add(at(511, 5005), 5);
  EXPECT_NEAR(*forecast.state()->seconds_left, 489 * 0.5, 1e-9);
  EXPECT_DOUBLE_EQ(forecast.state()->fraction, 0.511);
}

TEST(TrainingForecast, EmptyWithoutALimit) {
  TrainingForecast forecast({});
  forecast.add(at(1, 1), 0);
  EXPECT_FALSE(forecast.state());
}

// Short work shows no line; otherwise its line is removed.
TEST(WorkLine, ShowsWorkThatTakesTime) {
  const auto written = [](std::chrono::milliseconds time) {
    testing::internal::CaptureStderr();
    {
      WorkLine line(true);
      line.begin("training the tokenizer");
      std::this_thread::sleep_for(time);
    }
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(written(std::chrono::milliseconds(0)), "");
  const std::string shown = written(std::chrono::milliseconds(1000));
  EXPECT_THAT(shown, StartsWith("\r\x1b[Ktraining the tokenizer  0:00:0"));
  EXPECT_THAT(shown, EndsWith("\r\x1b[K")) << "the line is removed";
}

TEST(WorkLine, ShowsTheFractionThatIsDone) {
  testing::internal::CaptureStderr();
  {
    WorkLine line(true);
    line.begin("aligning");
    line.progress(0.25);
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), StartsWith("\r\x1b[Kaligning  25%  0:00:0"));
}

}  // namespace
}  // namespace heed::cli
