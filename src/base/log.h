// Log messages of the library. The library itself never prints; the application can install a handler.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

namespace heed {

enum class LogLevel { kInfo, kWarning, kError };
using LogHandler = std::function<void(LogLevel, const std::string&)>;

/// Sets the log handler of the process; none by default. Thread-safe. Calls of the handler are serialized; it
/// must neither log nor set a handler.
void set_log_handler(LogHandler handler);
void log_message(LogLevel level, const std::string& message);

template <typename... Arguments>
void log_warning(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log_message(LogLevel::kWarning, fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// For an error that does not end the work, such as one of a thread that nobody waits for.
template <typename... Arguments>
void log_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log_message(LogLevel::kError, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace heed
