#include "cli/options/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace heed::cli {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr double kSecondsBetweenRedraws = 0.1;

}  // namespace

bool stdout_is_terminal() {
  return ::isatty(STDOUT_FILENO) == 1;
}
bool stderr_is_terminal() {
  return ::isatty(STDERR_FILENO) == 1;
}

int terminal_columns() {
  if (const char* variable = std::getenv("COLUMNS")) {
    const std::string_view text = variable;
    int columns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (error == std::errc() && end == text.data() + text.size() && columns > 0) return columns;
  }
  struct winsize size {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

TerminalColours stdout_colours(std::optional<bool> wanted) {
  if (wanted == false) return TerminalColours::kNone;
  return terminal_colours({.no_color = wanted ? nullptr : std::getenv("NO_COLOR"),
                           .colorterm = std::getenv("COLORTERM"),
                           .term = std::getenv("TERM"),
                           .is_terminal = wanted || stdout_is_terminal()});
}

std::string duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

ProgressLine::ProgressLine(std::string unit, uint64_t total, bool live)
    : unit_(std::move(unit)), total_(total), live_(live), begin_(now()) {}

double ProgressLine::seconds() const {
  return now() - begin_;
}

std::optional<double> seconds_left(double seconds, double fraction) {
  constexpr double kMinSeconds = 2, kMinFraction = 0.02, kEnoughSeconds = 20;
  const bool enough = seconds >= kEnoughSeconds || (seconds >= kMinSeconds && fraction >= kMinFraction);
  if (!enough || !(fraction > 0) || fraction >= 1) return std::nullopt;
  return seconds * (1 - fraction) / fraction;
}

void ProgressLine::show(uint64_t done, double fraction) {
  const double passed = seconds();
  if (!live_ || (last_ >= 0 && passed - last_ < kSecondsBetweenRedraws)) return;
  last_ = passed;
  const double rate = static_cast<double>(done) / passed;
  std::string line = fmt::format("{}", done);
  if (total_ > 0) line += fmt::format(" / {}", total_);
  line += fmt::format(" {}  {:.{}f} {}/s", unit_, rate, rate < 10 ? 1 : 0, unit_);
  if (const auto left = seconds_left(passed, fraction)) line += fmt::format("  {} left", duration(*left));
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (std::exchange(shown_, false)) std::fprintf(stderr, "\r\x1b[K");
}

}  // namespace heed::cli
