#include "serve/http/log_writer.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <utility>

#include "base/blocked_signals.h"
#include "base/files/descriptor_io.h"
#include "base/files/errno_reason.h"
#include "base/log.h"

namespace heed::serve {

struct LogWriter::Shared {
  explicit Shared(Options chosen) : options(std::move(chosen)) {}
  ~Shared() {
    if (options.owned) ::close(options.file);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  Options options;
  std::mutex mutex;  // guards everything below
  std::condition_variable wake, idle;
  std::list<std::string> lines;
  size_t bytes = 0;  // of these, and of those that are being written
  size_t lost = 0;   // after these
  bool writing = false, stopping = false;

  bool is_idle() const { return lines.empty() && lost == 0 && !writing; }
};

LogWriter::LogWriter(Options options) : shared_(std::make_shared<Shared>(std::move(options))) {}

LogWriter::~LogWriter() {
  if (!thread_.joinable()) return;
  const bool done = flush();
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->wake.notify_one();
  if (done) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void LogWriter::start() {
  thread_ = std::thread([shared = shared_] { run(*shared); });
}

void LogWriter::write(std::string line) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->bytes > 0 && shared_->bytes + line.size() > kMaxBytes) {
    ++shared_->lost;
    return;
  }
  const size_t size = line.size();
  shared_->lines.push_back(std::move(line));
  shared_->bytes += size;
  shared_->wake.notify_one();
}

bool LogWriter::flush() {
  std::unique_lock lock(shared_->mutex);
  double& patience = shared_->options.patience_seconds;
  const bool done = shared_->idle.wait_for(lock, std::chrono::duration<double>(patience),
                                           [&] { return shared_->is_idle(); });
  if (!done) patience = 0;
  return done;
}

/// One write per line, so that lines are not interleaved with those of others. Errors must not stop the
/// server: the first of several in a row is logged.
void LogWriter::run(Shared& shared) {
  block_signals();
  bool failing = false, losing = false;
  const auto write_line = [&](const std::string& line) {
    const bool failed = !write_all(shared.options.file, line.data(), line.size());
    if (failed && !failing) log_error("the access log lacks lines: {}", reason(errno));
    failing = failed;
  };
  std::unique_lock lock(shared.mutex);
  while (true) {
    shared.wake.wait(lock, [&] { return shared.stopping || !shared.is_idle(); });
    if (shared.is_idle()) return;
    std::list<std::string> lines;
    lines.splice(lines.end(), shared.lines);
    const size_t bytes = shared.bytes, lost = std::exchange(shared.lost, 0);
    shared.writing = true;
    lock.unlock();
    try {
      for (const std::string& line : lines) write_line(line);
      if (lost > 0) write_line(shared.options.lost_line(lost));
      if (lost > 0 && !losing) log_error("the access log lacks lines: what reads it is too slow");
    } catch (const std::exception&) {
      // Memory has run out for a message.
    }
    losing = lost > 0;
    lines.clear();
    lock.lock();
    shared.writing = false;
    shared.bytes -= bytes;
    if (shared.is_idle()) shared.idle.notify_all();
  }
}

}  // namespace heed::serve
