// Says on standard error that something is going on whose progress is not known, and for how long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace heed::cli {

/// On a terminal one line, "training the tokenizer  0:00:07", written over itself every second. Elsewhere a
/// line of its own once the work takes more than two seconds, and then one every half minute.
class WorkLine {
 public:
  explicit WorkLine(bool live) : live_(live) {}
  ~WorkLine() { end(); }
  WorkLine(const WorkLine&) = delete;
  WorkLine& operator=(const WorkLine&) = delete;

  /// Ends what was going on before.
  void begin(const std::string& what);
  /// Removes the line from a terminal.
  void end();

 private:
  void show(const std::string& what);

  const bool live_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace heed::cli
