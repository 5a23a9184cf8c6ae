#include "base/text/option_error.h"

#include "base/text/ascii.h"

namespace heed {
namespace {

// Control characters: STX and ETX.
constexpr char kNameBegins = '\x02', kNameEnds = '\x03';

bool is_name(char c) {
  return is_ascii_lower(c) || c == '_';
}

}  // namespace

std::string marked_options(std::string_view format) {
  std::string marked;
  for (size_t at = 0; at < format.size();) {
    size_t end = at + 1;
    while (format[at] == '$' && end < format.size() && is_name(format[end])) ++end;
    if (end > at + 1) {
      marked += kNameBegins;
      marked += format.substr(at + 1, end - at - 1);
      marked += kNameEnds;
    } else {
      marked += format[at];
    }
    at = end;
  }
  return marked;
}

std::string with_option_names(std::string_view text, const OptionNames& name_of) {
  std::string named;
  for (;;) {
    const size_t begin = text.find(kNameBegins), end = text.find(kNameEnds, begin);
    if (end == std::string_view::npos) return named.append(text);
    const std::string option(text.substr(begin + 1, end - begin - 1));
    named.append(text.substr(0, begin)).append(name_of ? name_of(option) : option);
    text.remove_prefix(end + 1);
  }
}

OptionError::OptionError(ErrorKind kind, std::string text)
    : Error(kind, with_option_names(text)), text_(std::move(text)) {}

}  // namespace heed
