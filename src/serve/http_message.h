// What the HTTP server and the routes say to each other: a request with its whole body, and its answer.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::serve {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string id;       ///< the client's X-Request-Id, or one that the server made
  std::string method;   ///< "GET"
  std::string path;     ///< decoded, without the query
  std::string query;    ///< as it came, without "?"
  std::string address;  ///< of the client's end of the connection
  HttpHeaders headers;  ///< names in lower case, in the order of the message
  std::string body;
  /// Set once the client has closed its end: nobody waits for the answer.
  std::shared_ptr<const std::atomic<bool>> gone;

  /// The value of the last header of this name (in lower case), empty if there is none.
  std::string_view header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  HttpHeaders headers = {};
};

/// Where the answer to one request goes: once send(), or begin(), any number of write(), end(). Thread-safe;
/// what comes after the connection was closed is dropped.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  virtual void send(HttpResponse response) = 0;
  /// An answer in parts, whose body in `head` is the first part.
  virtual void begin(HttpResponse head) = 0;
  virtual void write(std::string part) = 0;
  virtual void end() = 0;
};

/// {"error": MESSAGE}
HttpResponse error_response(int status, std::string_view message);

/// "Bad Request" for 400.
std::string_view reason_phrase(int status);

/// Decodes "%41" and, in forms, "+"; a malformed escape stays as it is.
std::string percent_decode(std::string_view text, bool plus_is_space);

}  // namespace heed::serve
