#include "base/option_error.h"

namespace heed {
namespace {

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || c == '_';
}

std::string with_names(const std::string& text,
                       const std::function<std::string(const std::string&)>& name_of) {
  std::string message;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (text[at] == '$' && end < text.size() && is_name(text[end])) ++end;
    if (end > at + 1) {
      message += name_of(text.substr(at + 1, end - at - 1));
    } else {
      message += text[at];
    }
    at = end;
  }
  return message;
}

}  // namespace

OptionError::OptionError(std::string text)
    : Error(ErrorKind::kUsage, with_names(text, [](const std::string& name) { return name; })),
      text_(std::move(text)) {}

std::string OptionError::message(const std::function<std::string(const std::string&)>& name_of) const {
  return with_names(text_, name_of);
}

}  // namespace heed
