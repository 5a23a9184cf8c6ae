// Shows an activity, its progress if known, and its elapsed time on standard error.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace heed::cli {

/// On a terminal: one line, "aligning the tokens of 160,000 pairs  40%  0:00:07", updated every second.
/// Otherwise: a line after two seconds, then one every 30 seconds.
class WorkLine {
 public:
  explicit WorkLine(bool live) : live_(live) {}
  ~WorkLine() { end(); }
  WorkLine(const WorkLine&) = delete;
  WorkLine& operator=(const WorkLine&) = delete;

  /// Ends the previous activity.
  void begin(const std::string& what);
  /// The fraction that is done, from any thread. Ignored unless an activity is shown.
  void progress(double fraction) { fraction_ = fraction; }
  /// Ends the activity and removes its line from the terminal.
  void end();

 private:
  void show(const std::string& what);

  const bool live_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::atomic<double> fraction_ = 0;  // 0: unknown
  std::thread thread_;
};

}  // namespace heed::cli
