// An HTTP/1.1 server: connections, limits and time-outs, independent of the routes. One thread does all input
// and output without blocking, so that slow clients occupy a socket but no thread. Deadlines apply to the
// whole head and the whole body, not to single reads. TLS is left to a reverse proxy (docs/server.md).
// Boost.Beast parses requests; only http_connection.h and the files that include it use Boost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/http/http_message.h"

namespace heed::serve {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;            ///< 0: a free one
  size_t head_bytes = 8 << 10;  ///< maximum size of request line and headers (431)
  double head_seconds = 10;     ///< time-out for the complete head (408)
  size_t body_bytes = 1 << 20;  ///< maximum size of the body (413)
  double body_seconds = 30;     ///< time-out for the complete body (408)
  double write_seconds = 30;    ///< time-out for sending 64 KiB
  double idle_seconds = 60;     ///< time-out between the requests of a connection
  size_t connections = 4096;    ///< maximum number of open connections (503)
  /// Maximum size of the bodies of all requests that are received or worked on (503 for a large one).
  size_t request_bytes = size_t{256} << 20;
  /// Maximum size of all responses that clients have not received yet (503 for the next large one).
  size_t answer_bytes = size_t{256} << 20;
  HttpHeaders headers = {};  ///< of every response
};

/// A completed request, for the access log. Requests that could not be parsed have no method.
struct HttpRecord {
  std::string id, address, method, path;
  int status = 0;
  size_t bytes_in = 0, bytes_out = 0;
  double seconds = 0;  ///< from its first byte to the end of the response
  bool gone = false;   ///< the client closed the connection early
};

class HttpServer {
 public:
  /// Called on the input/output thread for each request, so it must not block.
  using Handler = std::function<void(HttpRequest request, std::shared_ptr<HttpReply> reply)>;
  /// Called on the same thread when a request is over.
  using Done = std::function<void(const HttpRecord& record)>;

  /// Binds the address. Throws kFile on failure. `done` must not throw.
  HttpServer(const HttpServerOptions& options, Handler handler, Done done);
  /// Closes all connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;
  /// "http://127.0.0.1:7333/"
  std::string url() const;
  /// Whether only this machine can connect.
  bool is_loopback() const;
  /// Starts to accept connections.
  void start();
  /// Stops accepting connections and completes running requests, for at most `seconds`; remaining requests
  /// are cancelled and have `cancel_seconds` to answer.
  void drain(double seconds, double cancel_seconds = 2);
  size_t open_connections() const;
  /// Bytes of the bodies of all requests that are received or worked on.
  size_t received_bytes() const;
  /// Whether the responses that clients have not received yet have reached their maximum size.
  bool is_full() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace heed::serve
