// Errors about options. The library calls an option by the name of its field, a command by that of its flag:
// the message holds the names apart from the text, so that each can say its own.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

#include "heed/error.h"

namespace heed {

class OptionError : public Error {
 public:
  /// In `text`, names of options stand as "$max_length". what() has them as they are, without the "$".
  explicit OptionError(std::string text);

  /// The message with the names that `name_of` gives the options.
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
