#include "cli/jobs/training_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "cli/options/terminal.h"

namespace heed::cli {
namespace {

constexpr double kSecondsBetweenLines = 15, kSecondsBetweenDrawings = 0.5;

std::string scores(const train::Metrics& m) {
  std::string text = fmt::format("  valid loss {:.4f}", *m.valid_loss);
  for (const train::Score& score : m.scores) text += fmt::format("  {} {:.4g}", score.name, score.value);
  return text + (m.best ? "  (best so far)" : "");
}

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void StepMeans::add(const train::Metrics& step) {
  ++steps_;
  loss_ += step.loss;
  tokens_ += step.step_tokens;
  seconds_ += step.step_seconds;
}

std::optional<double> StepMeans::tokens_per_second() const {
  if (seconds_ <= 0) return std::nullopt;
  return static_cast<double>(tokens_) / seconds_;
}

void TrainingForecast::add(const train::Metrics& step, double now) {
  if (!first_) {
    first_ = step;
    first_now_ = now;
  }
  last_ = step;
  last_now_ = now;
}

std::optional<TrainingForecast::State> TrainingForecast::state() const {
  if (!first_) return std::nullopt;
  const double trained = last_.seconds - first_->seconds, passed = last_now_ - first_now_;
  std::optional<State> soonest;
  // `first` and `now`: progress towards the limit at the first step of this run and at the last step.
  const auto consider = [&](double limit, double first, double now) {
    if (!(limit > 0)) return;
    State state{std::clamp(now / limit, 0.0, 1.0), {}};
    if (now > first && trained > 0) {
      state.seconds_left = std::max(0.0, limit - now) / (now - first) * std::max(passed, trained);
    }
    const auto left = [](const State& s) { return s.seconds_left.value_or(0); };
    const bool sooner =
        !soonest || (state.seconds_left && soonest->seconds_left ? left(state) < left(*soonest)
                                                                 : state.fraction > soonest->fraction);
    if (sooner) soonest = state;
  };
  consider(static_cast<double>(limits_.max_steps), static_cast<double>(first_->step),
           static_cast<double>(last_.step));
  consider(60 * limits_.max_minutes, first_->seconds, last_.seconds);
  consider(limits_.max_epochs, first_->epochs, last_.epochs);
  return soonest;
}

void TrainingProgress::message(const std::string& text) {
  clear_line();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void TrainingProgress::clear_line() {
  work_.end();
  if (live_) std::fprintf(stderr, "\r\x1b[K");
}

void TrainingProgress::step(const train::Metrics& m) {
  work_.end();
  since_line_.add(m);
  since_drawing_.add(m);
  forecast_.add(m, clock_seconds());
  if (m.valid_loss || (!live_ && m.seconds - last_line_ >= kSecondsBetweenLines)) {
    message(describe(m, std::exchange(since_line_, {}), "learning rate") + (m.valid_loss ? scores(m) : ""));
    last_line_ = m.seconds;
    since_drawing_ = {};
  } else if (live_ && m.seconds - last_drawing_ >= kSecondsBetweenDrawings) {
    std::fprintf(stderr, "\r\x1b[K%s", describe(m, std::exchange(since_drawing_, {}), "lr").c_str());
    std::fflush(stderr);
    last_drawing_ = m.seconds;
  }
}

std::string TrainingProgress::describe(const train::Metrics& m, const StepMeans& means,
                                       const char* rate_name) const {
  const std::optional<TrainingForecast::State> forecast = forecast_.state();
  const std::string percent = forecast ? fmt::format(" ({:.0f}%)", 100 * forecast->fraction) : "";
  const std::optional<double> speed = means.tokens_per_second();
  std::string line = fmt::format("step {}{}  loss {:.3f}  {} {:.2e}  {}{}", m.step, percent, means.loss(),
                                 rate_name, m.learning_rate,
                                 speed ? fmt::format("{:.0f} tokens/s  ", *speed) : "", duration(m.seconds));
  if (forecast && forecast->seconds_left) line += fmt::format("  {} left", duration(*forecast->seconds_left));
  return line;
}

}  // namespace heed::cli
