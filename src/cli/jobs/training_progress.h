// Progress display of heed train.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/jobs/resumable/work_line.h"
#include "train/store/metrics_log.h"

namespace heed::cli {

/// Mean loss and speed over the steps since the last displayed line.
class StepMeans {
 public:
  void add(const train::Metrics& step);
  bool empty() const { return steps_ == 0; }
  double loss() const { return loss_ / static_cast<double>(steps_); }
  /// Empty if no step has a duration: that whose validation is repeated on resume.
  std::optional<double> tokens_per_second() const;

 private:
  int64_t steps_ = 0, tokens_ = 0;
  double loss_ = 0, seconds_ = 0;
};

struct TrainingLimits {
  int64_t max_steps = 0;   ///< 0: none
  double max_minutes = 0;  ///< 0: none
  double max_epochs = 0;   ///< 0: none
};

/// Fraction done and remaining time of a training, by the limit that will be reached first. The estimate uses
/// the wall time of this run, including validations and checkpoints, which the logged training seconds
/// exclude.
class TrainingForecast {
 public:
  explicit TrainingForecast(const TrainingLimits& limits) : limits_(limits) {}

  /// Call after each step with the time in seconds of a monotonic clock.
  void add(const train::Metrics& step, double now);

  struct State {
    double fraction = 0;                 ///< 0 to 1
    std::optional<double> seconds_left;  ///< empty before the second step of a run
  };
  /// Empty if no limit is set (early stopping alone).
  std::optional<State> state() const;

 private:
  TrainingLimits limits_;
  std::optional<train::Metrics> first_;  // first step of this run
  train::Metrics last_;
  double first_now_ = 0, last_now_ = 0;
};

/// One live line on a terminal; otherwise a line every 15 seconds. A line shows the means over the steps
/// since the previous one.
class TrainingProgress {
 public:
  TrainingProgress(const TrainingLimits& limits, bool live) : forecast_(limits), live_(live), work_(live) {}

  void message(const std::string& text);
  /// Displays a long-running activity until the next call of any function.
  void work(const std::string& what) { work_.begin(what); }
  /// The fraction of that activity that is done.
  void work_progress(double fraction) { work_.progress(fraction); }
  void step(const train::Metrics& metrics);
  void clear_line();

 private:
  std::string describe(const train::Metrics& metrics, const StepMeans& means, const char* rate_name) const;

  TrainingForecast forecast_;
  bool live_;
  WorkLine work_;
  StepMeans since_line_, since_drawing_;
  double last_line_ = -1e9, last_drawing_ = -1e9;
};

}  // namespace heed::cli
