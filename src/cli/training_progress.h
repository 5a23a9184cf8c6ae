// What heed train shows while it works.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/work_line.h"
#include "train/metrics_log.h"

namespace heed::cli {

/// The means over some steps: those since the last line that was shown.
class StepMeans {
 public:
  void add(const train::Metrics& step);
  bool empty() const { return steps_ == 0; }
  double loss() const { return loss_ / static_cast<double>(steps_); }
  double tokens_per_second() const { return static_cast<double>(tokens_) / seconds_; }

 private:
  int64_t steps_ = 0, tokens_ = 0;
  double loss_ = 0, seconds_ = 0;
};

struct TrainingLimits {
  int64_t max_steps = 0;   ///< 0: none
  double max_minutes = 0;  ///< 0: none
  double max_epochs = 0;   ///< 0: none
};

/// How much of a training is done, by the limit that will be reached first, and how long the rest will take:
/// with validations and checkpoints, which the training's own seconds leave out, at the rate of this sitting.
class TrainingForecast {
 public:
  explicit TrainingForecast(const TrainingLimits& limits) : limits_(limits) {}

  /// After each step; `now` are seconds of any clock.
  void add(const train::Metrics& step, double now);

  struct State {
    double fraction = 0;                 ///< 0 to 1
    std::optional<double> seconds_left;  ///< nothing before the second step of a sitting
  };
  /// Nothing where there is no limit that can be told from steps (patience alone).
  std::optional<State> state() const;

 private:
  TrainingLimits limits_;
  std::optional<train::Metrics> first_;  // of this sitting
  train::Metrics last_;
  double first_now_ = 0, last_now_ = 0;
};

/// One live line on a terminal; elsewhere a line every now and then. A line shows means over the steps since
/// the last one: those of the training's log.
class TrainingProgress {
 public:
  TrainingProgress(const TrainingLimits& limits, bool live) : forecast_(limits), live_(live), work_(live) {}

  void message(const std::string& text);
  /// Something begins that may take long; the next call of any function ends it.
  void work(const std::string& what) { work_.begin(what); }
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
