// What the connections of a server share: options, handlers, the thread of input and output, and their list.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "serve/http/http_server.h"

namespace heed::serve {

class HttpConnection;

/// Bytes that are counted in a sum while this exists.
class CountedBytes {
 public:
  explicit CountedBytes(std::shared_ptr<std::atomic<size_t>> sum) : sum_(std::move(sum)) {}
  ~CountedBytes() { *sum_ -= bytes_; }
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;
  void set(size_t bytes) { *sum_ += bytes - std::exchange(bytes_, bytes); }

 private:
  std::shared_ptr<std::atomic<size_t>> sum_;
  size_t bytes_ = 0;
};

/// What the connections of a server share.
struct HttpConnections : std::enable_shared_from_this<HttpConnections> {
  HttpConnections(const HttpServerOptions& settings, HttpServer::Handler handle, HttpServer::Done tell);
  std::string next_id();
  /// Adds or removes a connection.
  void insert(std::shared_ptr<HttpConnection> connection);
  void erase(const std::shared_ptr<HttpConnection>& connection);
  /// `work` may erase the connection that it gets.
  template <typename Work>
  void for_each(const Work& work) const {
    for (auto next = open.begin(); next != open.end();) {
      const std::shared_ptr<HttpConnection> connection = *next++;
      work(*connection);
    }
  }

  HttpServerOptions options;
  HttpServer::Handler handler;
  HttpServer::Done done;
  boost::asio::io_context io{1};
  bool draining = false;  ///< shutting down: no connection is kept alive
  std::set<std::shared_ptr<HttpConnection>> open;
  std::atomic<size_t> count = 0;  ///< of `open`, for other threads
  std::atomic<size_t> held = 0;   ///< bytes of all responses that are not sent completely
  /// Bytes of the bodies of all requests, which handlers may keep until after the server is gone.
  std::shared_ptr<std::atomic<size_t>> received = std::make_shared<std::atomic<size_t>>(0);

 private:
  std::string id_prefix_;
  uint64_t requests_ = 0;
};

}  // namespace heed::serve
