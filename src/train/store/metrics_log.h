// metrics.jsonl: one line for each update.
#pragma once

#include <cstdint>
#include <functional>
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
  double epochs = 0;                    ///< epochs so far
  int64_t step_tokens = 0;              ///< of this step; not in the log
  double step_seconds = 0;              ///< of this step; not in the log
  std::optional<double> valid_loss;     ///< the mean, without smoothing
  std::vector<Score> scores;            ///< other validation metrics
  bool best = false;                    ///< whether this validation is the best so far
};

/// A line of the log, with its line end, and its parser. Validation scores that are not finite are left out.
/// Throws kFormat, naming `origin`.
std::string to_line(const Metrics& metrics);
Metrics metrics_of_line(const std::string& line, const std::string& origin);

/// Appends lines. On resume, lines after the resumed step and an incomplete last line are dropped. Other
/// invalid lines are dropped with a call of `report`, if set.
class MetricsLog {
 public:
  MetricsLog(std::string path, int64_t resume_step,
             const std::function<void(const std::string&)>& report = {});
  void append(const Metrics& metrics);

 private:
  std::string path_;
};

/// All lines of a log, in order, without an incomplete last line. Other invalid lines are skipped with a
/// warning in the log of the library. Throws kNotFound or kFile.
std::vector<Metrics> read_metrics(const std::string& path);

}  // namespace heed::train
