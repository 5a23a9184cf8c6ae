#include "serve/http/response_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace heed::serve {
namespace {

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

}  // namespace

void ResponseStream::append_head(const HttpResponse& response) {
  if (in_parts_ && framing_.http_1_0) framing_.keep_alive = false;
  bytes_ += fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status, reason_phrase(response.status),
                        http_date());
  if (!framing_.request_id.empty()) bytes_ += "X-Request-Id: " + framing_.request_id + "\r\n";
  bytes_ +=
      "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n";
  append_headers(response.headers);
  if (framing_.headers != nullptr) append_headers(*framing_.headers);
  if (std::ranges::none_of(response.headers, [](const auto& h) { return h.first == "Cache-Control"; })) {
    bytes_ += "Cache-Control: no-store\r\n";
  }
  // These statuses have no content (RFC 9110, section 8.6).
  const bool has_content = response.status != 204 && response.status != 304;
  if (has_content) bytes_ += "Content-Type: " + response.content_type + "\r\n";
  if (in_parts_ && !framing_.http_1_0) {
    bytes_ += "Transfer-Encoding: chunked\r\n";
  } else if (!in_parts_ && has_content) {
    bytes_ += fmt::format("Content-Length: {}\r\n", response.body.size());
  }
  if (!framing_.keep_alive) bytes_ += "Connection: close\r\n";
  if (framing_.keep_alive && framing_.http_1_0) bytes_ += "Connection: keep-alive\r\n";
  bytes_ += "\r\n";
}

void ResponseStream::append_headers(const HttpHeaders& headers) {
  for (const auto& [name, value] : headers) bytes_ += fmt::format("{}: {}\r\n", name, value);
}

void ResponseStream::send(const HttpResponse& response) {
  append_head(response);
  if (!framing_.head_only) bytes_ += response.body;
  complete_ = true;
}

void ResponseStream::begin(const HttpResponse& head) {
  in_parts_ = true;
  append_head(head);
  write(head.body);
}

bool ResponseStream::write(std::string_view part) {
  if (complete_ || !in_parts_) return false;
  if (framing_.head_only || part.empty()) return true;
  if (framing_.http_1_0) {
    bytes_ += part;
  } else {
    bytes_ += fmt::format("{:x}\r\n{}\r\n", part.size(), part);
  }
  return true;
}

bool ResponseStream::end() {
  if (complete_ || !in_parts_) return false;
  if (!framing_.http_1_0 && !framing_.head_only) bytes_ += "0\r\n\r\n";
  complete_ = true;
  return true;
}

void ResponseStream::mark_sent(size_t bytes) {
  sent_ += bytes;
  if (sent_ < bytes_.size()) return;
  bytes_.clear();
  sent_ = 0;
}

}  // namespace heed::serve
