// Terminal properties (width, colours) and a live progress line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "inspect/terminal/terminal_text.h"

namespace heed::cli {

bool stdout_is_terminal();
/// For progress.
bool stderr_is_terminal();

/// $COLUMNS, else the width of the terminal, else 80.
int terminal_columns();

/// Colours of standard output: as `wanted`, else those of a terminal unless NO_COLOR is set.
TerminalColours stdout_colours(std::optional<bool> wanted = {});

/// "0:01:05"
std::string duration(double seconds);

/// Estimates the remaining time from the fraction done in `seconds`. Empty while the estimate would be
/// unreliable: the beginning runs slower, with cold caches.
std::optional<double> seconds_left(double seconds, double fraction);

/// "120 / 5000 lines  340 lines/s  0:00:14 left", overwritten in place; silent unless `live`.
class ProgressLine {
 public:
  /// `total` 0: unknown. `unit` is a plural noun.
  ProgressLine(std::string unit, uint64_t total, bool live);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows the number of items done and the fraction of the work (negative: unknown), at most ten times a
  /// second.
  void show(uint64_t done, double fraction);
  void show(uint64_t done) {
    show(done, total_ == 0 ? -1 : static_cast<double>(done) / static_cast<double>(total_));
  }
  /// Removes the line.
  void clear();
  /// Time since construction.
  double seconds() const;

 private:
  std::string unit_;
  uint64_t total_;
  bool live_, shown_ = false;
  double begin_, last_ = -1;
};

}  // namespace heed::cli
