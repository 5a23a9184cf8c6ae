// Writes lines to a file on a thread of its own, so that whoever writes them never waits for what reads them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace heed::serve {

/// Thread-safe. Of lines that come faster than they are written, as many as take 4 MiB wait; others are lost.
class LogWriter {
 public:
  /// Lines of this many bytes wait.
  static constexpr size_t kMaxBytes = 4 << 20;

  struct Options {
    int file = -1;
    bool owned = false;  ///< close the file at the end
    /// The line that tells, when lines are written again, that so many were lost.
    std::function<std::string(size_t count)> lost_line = {};
    /// Of flush() and the destructor together, for a file that takes no more.
    double patience_seconds = 3;
  };
  explicit LogWriter(Options options);
  /// Writes what waits, as flush().
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// Starts the thread. Throws std::system_error if the system starts none.
  void start();
  /// A line with its end. Does not wait. Lines are written in whole, in this order.
  void write(std::string line);
  /// Waits until everything is written; false if that takes too long.
  bool flush();

 private:
  // Shared with the thread, which nobody can stop while the file takes no more.
  struct Shared;
  static void run(Shared& shared);

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace heed::serve
