// Messages of the library. It prints nothing itself: whoever uses it may listen.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

namespace heed {

enum class LogLevel { kInfo, kWarning };
using LogHandler = std::function<void(LogLevel, const std::string&)>;

/// Replaces the listener of the process; none by default. May be called at any time, from any thread.
/// The listener hears one message at a time, and must neither log nor set a listener itself.
void set_log_handler(LogHandler handler);
void log_message(LogLevel level, const std::string& message);

template <typename... Arguments>
void log_info(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log_message(LogLevel::kInfo, fmt::format(format, std::forward<Arguments>(arguments)...));
}
template <typename... Arguments>
void log_warning(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log_message(LogLevel::kWarning, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace heed
