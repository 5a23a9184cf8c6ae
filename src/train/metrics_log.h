// metrics.jsonl: one line for each update.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed::train {

/// A score of a validation.
struct Score {
  std::string name;  ///< its key: "bleu"
  double value = 0;
};

struct Metrics {
  int64_t step = 0;
  double loss = 0;  ///< the mean, as trained on: with label smoothing and weights
  double learning_rate = 0;
  double gradient_norm = 0;
  int64_t target_tokens = 0;            ///< so far
  double target_tokens_per_second = 0;  ///< of this step
  double seconds = 0;                   ///< of training, so far
  std::optional<double> valid_loss;     ///< the mean, without smoothing
  std::vector<Score> scores;            ///< what else was validated
};

/// Appends lines; on resume, forgets those after the step where the run goes on.
class MetricsLog {
 public:
  MetricsLog(std::string path, int64_t resume_step);
  void append(const Metrics& metrics);

 private:
  std::string path_;
};

/// All lines of a log, in order. Throws kNotFound or kFormat.
std::vector<Metrics> read_metrics(const std::string& path);

}  // namespace heed::train
