// What heed train shows while it works.
#pragma once

#include <cstdint>
#include <string>

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
};

/// One live line on a terminal; elsewhere a line every now and then. A line shows means over the steps since
/// the last one: those of the training's log.
class TrainingProgress {
 public:
  TrainingProgress(const TrainingLimits& limits, bool live) : limits_(limits), live_(live) {}

  void message(const std::string& text);
  void step(const train::Metrics& metrics);
  void clear_line() const;

 private:
  std::string describe(const train::Metrics& metrics, const StepMeans& means) const;
  double seconds_left(const train::Metrics& metrics) const;

  TrainingLimits limits_;
  bool live_;
  StepMeans since_line_, since_drawing_;
  double last_line_ = -1e9, last_drawing_ = -1e9, first_seconds_ = -1;
  int64_t first_step_ = 0;
};

}  // namespace heed::cli
