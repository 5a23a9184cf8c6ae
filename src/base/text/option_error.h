// Errors and messages about options. The same option is a struct field in the library, a flag on the command
// line and an argument in Python, so texts mark option names, and each interface substitutes its own.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "heed/error.h"

namespace heed {

/// How an interface calls the option that is the field `option` of the library's options struct.
using OptionNames = std::function<std::string(const std::string& option)>;

/// A format in which option names are written "$max_length", with each as an unprintable mark instead: the
/// values that are formatted into it may contain a "$".
std::string marked_options(std::string_view format);

/// A text that names options, written "$max_length" in the format. with_option_names() turns it into what is
/// shown; it may also be a value of another such text.
template <typename... Arguments>
std::string option_text(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const auto written = static_cast<fmt::string_view>(format);
  return fmt::vformat(marked_options({written.data(), written.size()}), fmt::make_format_args(arguments...));
}

/// The text with each option named by `name_of`, or if that is empty by its field.
std::string with_option_names(std::string_view text, const OptionNames& name_of = {});

class OptionError : public Error {
 public:
  /// `text` is of option_text(). what() names the fields.
  OptionError(ErrorKind kind, std::string text);

  /// As it was given.
  const std::string& text() const { return text_; }
  /// The message with each option named by `name_of`.
  std::string message(const OptionNames& name_of) const { return with_option_names(text_, name_of); }

 private:
  std::string text_;
};

/// Throws an OptionError (kUsage) with the option_text() of the arguments.
template <typename... Arguments>
[[noreturn]] void fail_option(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw OptionError(ErrorKind::kUsage, option_text(format, std::forward<Arguments>(arguments)...));
}

}  // namespace heed
