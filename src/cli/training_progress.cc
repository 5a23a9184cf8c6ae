#include "cli/training_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/terminal.h"

namespace heed::cli {
namespace {

constexpr double kSecondsBetweenLines = 15, kSecondsBetweenDrawings = 0.5;

std::string scores(const train::Metrics& m) {
  std::string text = fmt::format("  valid loss {:.4f}", *m.valid_loss);
  for (const train::Score& score : m.scores) text += fmt::format("  {} {:.4g}", score.name, score.value);
  return text;
}

}  // namespace

void StepMeans::add(const train::Metrics& step) {
  ++steps_;
  loss_ += step.loss;
  tokens_ += step.step_tokens;
  seconds_ += step.step_seconds;
}

void TrainingProgress::message(const std::string& text) {
  clear_line();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void TrainingProgress::clear_line() const {
  if (live_) std::fprintf(stderr, "\r\x1b[K");
}

void TrainingProgress::step(const train::Metrics& m) {
  since_line_.add(m);
  since_drawing_.add(m);
  if (first_seconds_ < 0) {
    first_seconds_ = m.seconds;
    first_step_ = m.step;
  }
  if (m.valid_loss || (!live_ && m.seconds - last_line_ >= kSecondsBetweenLines)) {
    message(describe(m, std::exchange(since_line_, {})) + (m.valid_loss ? scores(m) : ""));
    last_line_ = m.seconds;
    since_drawing_ = {};
  } else if (live_ && m.seconds - last_drawing_ >= kSecondsBetweenDrawings) {
    std::fprintf(stderr, "\r\x1b[K%s", describe(m, std::exchange(since_drawing_, {})).c_str());
    std::fflush(stderr);
    last_drawing_ = m.seconds;
  }
}

std::string TrainingProgress::describe(const train::Metrics& m, const StepMeans& means) const {
  std::string line =
      fmt::format("step {}  loss {:.3f}  rate {:.2e}  {:.0f} tokens/s  {}", m.step, means.loss(),
                  m.learning_rate, means.tokens_per_second(), duration(m.seconds));
  const double left = seconds_left(m);
  if (left >= 0) line += fmt::format("  {} left", duration(left));
  return line;
}

double TrainingProgress::seconds_left(const train::Metrics& m) const {
  double left = -1;
  if (limits_.max_minutes > 0) left = std::max(0.0, 60 * limits_.max_minutes - m.seconds);
  if (limits_.max_steps > 0 && m.step > first_step_) {
    const double each = (m.seconds - first_seconds_) / static_cast<double>(m.step - first_step_);
    const double by_steps = each * static_cast<double>(limits_.max_steps - m.step);
    left = left < 0 ? by_steps : std::min(left, by_steps);
  }
  return left;
}

}  // namespace heed::cli
