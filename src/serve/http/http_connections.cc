#include "serve/http/http_connections.h"

#include <fmt/format.h>

#include <random>
#include <utility>

namespace heed::serve {

HttpConnections::HttpConnections(const HttpServerOptions& settings, HttpServer::Handler handle,
                                 HttpServer::Done tell)
    : options(settings), handler(std::move(handle)), done(std::move(tell)) {
  std::random_device random;
  id_prefix_ = fmt::format("{:08x}{:08x}", random(), random());
}

std::string HttpConnections::next_id() {
  return fmt::format("{}-{}", id_prefix_, ++requests_);
}

void HttpConnections::insert(std::shared_ptr<HttpConnection> connection) {
  open.insert(std::move(connection));
  count = open.size();
}

void HttpConnections::erase(const std::shared_ptr<HttpConnection>& connection) {
  open.erase(connection);
  count = open.size();
}

}  // namespace heed::serve
