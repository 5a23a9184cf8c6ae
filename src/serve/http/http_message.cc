#include "serve/http/http_message.h"

#include <nlohmann/json.hpp>

#include "text/unicode/utf8.h"

namespace heed::serve {

std::string_view HttpRequest::header(std::string_view name) const {
  for (auto entry = headers.rbegin(); entry != headers.rend(); ++entry) {
    if (entry->first == name) return entry->second;
  }
  return {};
}

HttpResponse error_response(int status, std::string_view message) {
  HttpResponse response{.status = status};
  response.body = nlohmann::json{{"error", replace_invalid_utf8(message)}}.dump() + "\n";
  return response;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 499:
      return "Client Closed Request";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string percent_decode(std::string_view text, bool plus_is_space) {
  std::string result;
  for (size_t n = 0; n < text.size(); ++n) {
    if (text[n] == '%' && n + 2 < text.size() && hex_value(text[n + 1]) >= 0 && hex_value(text[n + 2]) >= 0) {
      result += static_cast<char>(hex_value(text[n + 1]) * 16 + hex_value(text[n + 2]));
      n += 2;
    } else {
      result += plus_is_space && text[n] == '+' ? ' ' : text[n];
    }
  }
  return result;
}

}  // namespace heed::serve
