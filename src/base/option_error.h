// Errors about options. The same option is a struct field in the library and a flag on the command line, so
// the message marks option names, and each can substitute its own.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

#include "heed/error.h"

namespace heed {

class OptionError : public Error {
 public:
  /// In `text`, option names are marked "$max_length". what() contains them without the "$".
  explicit OptionError(std::string text);

  /// The message with each option name replaced by `name_of(name)`.
  std::string message(const std::function<std::string(const std::string& option)>& name_of) const;

 private:
  std::string text_;
};

/// Throws an OptionError (kUsage) with a formatted message.
template <typename... Arguments>
[[noreturn]] void fail_option(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw OptionError(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace heed
