// What the connections of a server share: options, handlers, the thread of input and output, and their list.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "serve/http/http_server.h"

namespace heed::serve {

class HttpConnection;

/// What the connections of a server share.
struct HttpConnections : std::enable_shared_from_this<HttpConnections> {
  HttpConnections(const HttpServerOptions& settings, HttpServer::Handler handle, HttpServer::Done tell);
  std::string next_id();
  /// Adds or removes a connection.
  void insert(std::shared_ptr<HttpConnection> connection);
  void erase(const std::shared_ptr<HttpConnection>& connection);

  HttpServerOptions options;
  HttpServer::Handler handler;
  HttpServer::Done done;
  boost::asio::io_context io{1};
  bool draining = false;  ///< shutting down: no connection is kept alive
  std::set<std::shared_ptr<HttpConnection>> open;
  std::atomic<size_t> count = 0;  ///< of `open`, for other threads
  std::atomic<size_t> held = 0;   ///< bytes of all responses that are not sent completely

 private:
  std::string id_prefix_;
  uint64_t requests_ = 0;
};

}  // namespace heed::serve
