// An error that is reported to the client with an HTTP status.
#pragma once

#include <stdexcept>
#include <string>

#include "base/check.h"
#include "serve/http/http_message.h"

namespace heed::serve {

class RequestError : public std::runtime_error {
 public:
  RequestError(int status, const std::string& message, HttpHeaders headers = {})
      : std::runtime_error(message), status_(status), headers_(std::move(headers)) {}
  int status() const { return status_; }
  const HttpHeaders& headers() const { return headers_; }

 private:
  int status_;
  HttpHeaders headers_;
};

/// Throws a RequestError with a formatted message.
template <typename... Arguments>
[[noreturn]] void refuse(int status, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw RequestError(status, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace heed::serve
