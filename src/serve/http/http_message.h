// The interface between HTTP server and routes: requests with complete bodies, and responses.
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
  std::string query;    ///< not decoded, without "?"
  std::string address;  ///< the client's address
  HttpHeaders headers;  ///< names in lower case, in the order of the message
  std::string body;
  /// Set when the client has closed the connection.
  std::shared_ptr<const std::atomic<bool>> gone;
  /// Counts the body among those of all requests while it exists.
  std::shared_ptr<const void> counted = {};

  /// The value of the last header of this name (in lower case), empty if there is none.
  std::string_view header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  HttpHeaders headers = {};
};

/// Sends the response of one request: either send(), or begin(), any number of write() and end().
/// Thread-safe; output after the connection was closed is dropped.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  virtual void send(HttpResponse response) = 0;
  /// Begins a chunked response; the body of `head` is the first chunk.
  virtual void begin(HttpResponse head) = 0;
  virtual void write(std::string part) = 0;
  virtual void end() = 0;
};

/// Keeps a response, whole or in parts, as one: for a caller without a connection. Not thread-safe.
class CollectedReply : public HttpReply {
 public:
  void send(HttpResponse response) override { response_ = std::move(response); }
  void begin(HttpResponse head) override { response_ = std::move(head); }
  void write(std::string part) override { response_.body += part; }
  void end() override {}
  const HttpResponse& response() const { return response_; }

 private:
  HttpResponse response_;
};

/// The message of the error 503 where the bodies of all requests take too much memory.
constexpr std::string_view kTooManyRequests =
    "too many large requests are being sent: try again in a moment, or send less";
/// The message of the error 503 where responses that clients do not receive take too much memory.
constexpr std::string_view kTooManyAnswers =
    "too many large responses are being sent: try again in a moment, or ask for less";

/// {"error": MESSAGE}
HttpResponse error_response(int status, std::string_view message);

/// "Bad Request" for 400.
std::string_view reason_phrase(int status);

/// Decodes "%41" and, in forms, "+"; malformed escapes are kept.
std::string percent_decode(std::string_view text, bool plus_is_space);

}  // namespace heed::serve
