// An HTTP/1.1 server: connections, limits and time-outs, and nothing of what is served.
//
// One thread does all input and output without blocking, so that slow clients cost a socket and no thread.
// Every read has a deadline for the whole head and the whole body, not for each byte. No TLS: that is for a
// reverse proxy in front (docs/server.md). Boost.Beast parses requests; only http_server.cc includes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/http_message.h"

namespace heed::serve {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;            ///< 0: a free one
  size_t head_bytes = 8 << 10;  ///< of a request line with its headers; more: 431
  double head_seconds = 10;     ///< until the head is complete; longer: 408
  size_t body_bytes = 1 << 20;  ///< more: 413
  double body_seconds = 30;     ///< until the body is complete; longer: 408
  double write_seconds = 30;    ///< for each 64 KiB of an answer to be accepted
  double idle_seconds = 60;     ///< between the requests of a connection
  size_t connections = 4096;    ///< at once; more: 503
};

/// What became of a request, for the access log. Requests that could not be parsed have no method.
struct HttpRecord {
  std::string id, address, method, path;
  int status = 0;
  size_t bytes_in = 0, bytes_out = 0;
  double seconds = 0;  ///< from its first byte to the end of the answer
  bool gone = false;   ///< the client did not wait for all of it
};

class HttpServer {
 public:
  /// Called on the input/output thread for each request, so it must not block.
  using Handler = std::function<void(HttpRequest request, std::shared_ptr<HttpReply> reply)>;
  /// Called on the same thread when a request is over.
  using Done = std::function<void(const HttpRecord& record)>;

  /// Binds the address. Throws kFile where it cannot. `done` must not throw.
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
  /// Accepts connections from now on.
  void start();
  /// Accepts no more connections, answers the requests under way, and returns when that is done or the time
  /// is up; the requests that are left then are cancelled.
  void drain(double seconds);
  size_t open_connections() const;

 private:
  class State;
  class Session;
  class Reply;
  std::shared_ptr<State> state_;
};

}  // namespace heed::serve
