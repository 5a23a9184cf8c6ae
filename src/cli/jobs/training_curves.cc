#include "cli/jobs/training_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/text/ascii.h"
#include "train/store/metrics_log.h"

namespace heed::cli {
namespace {

/// The training loss is averaged over this many intervals of equal length, since the loss of single batches
/// is noisy.
constexpr size_t kPoints = 150;

Curve smoothed(const Curve& curve) {
  Curve means{curve.name, {}, {}};
  const size_t stretch = (curve.x.size() + kPoints - 1) / kPoints;
  for (size_t begin = 0; begin < curve.x.size(); begin += stretch) {
    const size_t end = std::min(begin + stretch, curve.x.size());
    double x = 0, y = 0;
    for (size_t n = begin; n < end; ++n) {
      x += curve.x[n];
      y += curve.y[n];
    }
    means.x.push_back(x / static_cast<double>(end - begin));
    means.y.push_back(y / static_cast<double>(end - begin));
  }
  return means;
}

/// training-log.jsonl, training-log-further.jsonl, training-log-further-2.jsonl, ..., as far as they exist.
std::vector<std::string> training_logs(const std::string& directory) {
  std::vector<std::string> names;
  for (std::string name = "training-log.jsonl"; std::filesystem::is_regular_file(directory + "/" + name);) {
    names.push_back(std::move(name));
    const size_t before = names.size();
    name = before == 1 ? "training-log-further.jsonl" : fmt::format("training-log-further-{}.jsonl", before);
  }
  return names;
}

/// The steps of each training follow those of the one before.
std::vector<train::Metrics> read_logs(const std::string& directory) {
  const std::string own = directory + "/training/metrics.jsonl";
  if (std::filesystem::is_regular_file(own)) return train::read_metrics(own);
  std::vector<train::Metrics> all;
  for (const std::string& name : training_logs(directory)) {
    const int64_t before = all.empty() ? 0 : all.back().step;
    for (train::Metrics& each : train::read_metrics(directory + "/" + name)) {
      each.step += before;
      all.push_back(std::move(each));
    }
  }
  return all;
}

const double* score_named(const train::Metrics& metrics, const std::string& name) {
  const auto found = std::ranges::find(metrics.scores, name, &train::Score::name);
  return found == metrics.scores.end() ? nullptr : &found->value;
}

/// The validation that the log marks as the best. In logs of earlier versions without the mark, the one with
/// the highest BLEU or accuracy, else the lowest loss.
const train::Metrics* best_of(const std::vector<train::Metrics>& log) {
  const train::Metrics* best = nullptr;
  const auto quality = [](const train::Metrics& each) {
    for (const char* name : {"bleu", "accuracy"}) {
      if (const double* score = score_named(each, name)) return *score;
    }
    return -*each.valid_loss;
  };
  const bool marked = std::ranges::any_of(log, &train::Metrics::best);
  for (const train::Metrics& each : log) {
    if (!each.valid_loss) continue;
    if (marked ? each.best : best == nullptr || quality(each) > quality(*best)) best = &each;
  }
  return best;
}

std::string title_of(const std::string& score) {
  if (score == "bleu") return "BLEU";
  if (score == "chrf") return "chrF";
  std::string title = score;
  std::ranges::replace(title, '_', ' ');
  if (!title.empty()) title[0] = ascii_upper(title[0]);
  return title;
}

/// A curve of the points for which `value` returns a number.
template <typename Value>
Curve curve_of(const std::string& name, const std::vector<train::Metrics>& log, Value value) {
  Curve curve{name, {}, {}};
  for (const train::Metrics& each : log) {
    if (const std::optional<double> y = value(each)) {
      curve.x.push_back(static_cast<double>(each.step));
      curve.y.push_back(*y);
    }
  }
  return curve;
}

Curve mark(const train::Metrics& best, double y) {
  return {.name = fmt::format("best: step {}", best.step),
          .x = {static_cast<double>(best.step)},
          .y = {y},
          .marked = true};
}

}  // namespace

std::vector<CurvePlot> training_curves(const std::string& directory) {
  using train::Metrics;
  const std::vector<Metrics> log = read_logs(directory);
  if (log.empty()) return {};
  const Metrics* best = best_of(log);
  std::vector<CurvePlot> plots;
  plots.push_back({"Loss", "loss", {smoothed(curve_of("training", log, [](const Metrics& m) {
                     return std::optional(m.loss);
                   }))}});
  if (best != nullptr) {
    plots[0].curves.push_back(curve_of("validation", log, [](const Metrics& m) { return m.valid_loss; }));
    plots[0].curves.push_back(mark(*best, *best->valid_loss));
    for (const train::Score& score : best->scores) {
      const std::string title = title_of(score.name);
      plots.push_back({title,
                       title,
                       {curve_of("validation", log,
                                 [&](const Metrics& m) {
                                   const double* value = score_named(m, score.name);
                                   return value == nullptr ? std::nullopt : std::optional(*value);
                                 }),
                        mark(*best, score.value)}});
    }
  }
  plots.push_back({"Learning rate", "learning rate", {curve_of("", log, [](const Metrics& m) {
                     return std::optional(m.learning_rate);
                   })}});
  return plots;
}

}  // namespace heed::cli
