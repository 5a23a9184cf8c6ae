#include "cli/jobs/resumable/work_line.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <system_error>

#include "base/blocked_signals.h"
#include "cli/options/terminal.h"

namespace heed::cli {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr Seconds kFirstDrawing(0.3), kBetweenDrawings(1), kFirstLine(2), kBetweenLines(30);

}  // namespace

void WorkLine::begin(const std::string& what) {
  end();
  ended_ = false;
  fraction_ = 0;
  // Signals are handled by other threads.
  const BlockedSignals blocked;
  try {
    thread_ = std::thread([this, what] { show(what); });
  } catch (const std::system_error&) {
    // No thread available: the work continues without the display.
  }
}

void WorkLine::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WorkLine::show(const std::string& what) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  bool shown = false;
  Seconds wait = live_ ? kFirstDrawing : kFirstLine;
  while (!changed_.wait_for(lock, wait, [this] { return ended_; })) {
    const double passed = Seconds(std::chrono::steady_clock::now() - start).count(), fraction = fraction_;
    std::string line = what;
    if (fraction > 0) line += fmt::format("  {:.0f}%", 100 * fraction);
    if (live_ || shown) line += "  " + duration(passed);
    std::fprintf(stderr, live_ ? "\r\x1b[K%s" : "%s\n", line.c_str());
    std::fflush(stderr);
    shown = true;
    wait = live_ ? kBetweenDrawings : kBetweenLines;
  }
  if (live_ && shown) std::fprintf(stderr, "\r\x1b[K");
}

}  // namespace heed::cli
