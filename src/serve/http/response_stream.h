// The bytes of an HTTP/1.1 response, complete or in chunks, until they are sent.
#pragma once

#include <string>
#include <string_view>

#include "serve/http/http_message.h"

namespace heed::serve {

/// The properties of a request that determine the framing of its response.
struct ResponseFraming {
  std::string request_id;
  bool head_only = false;                ///< HEAD: no body
  bool http_1_0 = false;                 ///< no chunks
  bool keep_alive = false;               ///< the connection stays open afterwards
  const HttpHeaders* headers = nullptr;  ///< of the server; null: none
};

class ResponseStream {
 public:
  /// Forgets the last response and its framing.
  void reset() { *this = {}; }
  void set_framing(ResponseFraming framing) { framing_ = std::move(framing); }

  /// A whole response. Not after has_begun().
  void send(const HttpResponse& response);
  /// The head of a response in parts; its body is the first part. HTTP/1.0 has no chunks, so there the end of
  /// the connection ends the response. Not after has_begun().
  void begin(const HttpResponse& head);
  /// Both are false and without effect outside a response in parts.
  bool write(std::string_view part);
  bool end();

  bool has_begun() const { return in_parts_ || complete_; }
  bool is_complete() const { return complete_; }
  bool keep_alive() const { return framing_.keep_alive; }
  /// The bytes that are not sent yet; valid until the next call.
  std::string_view pending() const { return std::string_view(bytes_).substr(sent_); }
  void mark_sent(size_t bytes);
  /// The memory that it takes.
  size_t size() const { return bytes_.size(); }

 private:
  void append_head(const HttpResponse& response);
  void append_headers(const HttpHeaders& headers);

  ResponseFraming framing_;
  std::string bytes_;
  size_t sent_ = 0;
  bool complete_ = false, in_parts_ = false;
};

}  // namespace heed::serve
