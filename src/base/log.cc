#include "base/log.h"

#include <mutex>

namespace heed {
namespace {

std::mutex& mutex() {
  static std::mutex instance;
  return instance;
}

LogHandler& handler() {
  static LogHandler instance;
  return instance;
}

}  // namespace

void set_log_handler(LogHandler new_handler) {
  const std::lock_guard lock(mutex());
  handler() = std::move(new_handler);
}

void log_message(LogLevel level, const std::string& message) {
  const std::lock_guard lock(mutex());
  if (handler()) handler()(level, message);
}

}  // namespace heed
