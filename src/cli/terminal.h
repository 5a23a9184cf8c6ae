// The terminal that the command talks to, if it is one: its width, its colours, and one live line of
// progress.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "inspect/terminal_text.h"

namespace heed::cli {

bool stdout_is_terminal();
/// For progress.
bool stderr_is_terminal();

/// $COLUMNS, else the width of the terminal, else 80.
int terminal_columns();

/// Of standard output; none where NO_COLOR is set.
TerminalColours stdout_colours();

/// "0:01:05"
std::string duration(double seconds);

/// How long work will still take of which a fraction was done in so many seconds. Nothing where that says too
/// little: what is done first, or while caches are cold, takes longer than the rest.
std::optional<double> seconds_left(double seconds, double fraction);

/// "120 / 5000 lines  340 lines/s  0:00:14 left", written over itself; nothing where it is not `live`.
class ProgressLine {
 public:
  /// `total` 0: not known. `unit` is what is counted, in the plural.
  ProgressLine(std::string unit, uint64_t total, bool live);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// So many are done, which is this fraction of the work (negative: not known); draws at most ten times a
  /// second.
  void show(uint64_t done, double fraction);
  void show(uint64_t done) {
    show(done, total_ == 0 ? -1 : static_cast<double>(done) / static_cast<double>(total_));
  }
  /// Removes the line.
  void clear();
  /// Since the construction.
  double seconds() const;

 private:
  std::string unit_;
  uint64_t total_;
  bool live_, shown_ = false;
  double begin_, last_ = -1;
};

}  // namespace heed::cli
