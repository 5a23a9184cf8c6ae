// The server of `heed serve`: models, routes and limits over HTTP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/directory/loaded_model.h"
#include "serve/http/http_server.h"
#include "serve/served_models.h"
#include "serve/service.h"

namespace heed::serve {

struct ServerOptions {
  HttpServerOptions http = {};
  RequestLimits limits = {};
  std::vector<ModelSource> models = {};  ///< at least one
  models::LoadOptions load = {};
  int threads = 0;                 ///< for computation; 0: one per processor
  size_t queue = 256;              ///< maximum number of waiting requests; more are answered with 503
  double requests_per_minute = 0;  ///< per address or key; 0: no limit
  std::string api_keys = {};       ///< file of keys; empty: no keys required
  std::string cors = {};           ///< allowed origin of web pages, or *; empty: none
  /// Names of this server besides local ones, for requests without keys.
  std::vector<std::string> allowed_hosts = {};
  std::string web = {};         ///< folder of the explorer page; empty: the built-in one
  std::string access_log = {};  ///< file, "-": standard output, empty: none
  bool log_text = false;        ///< include the texts of requests
  bool trust_proxy = false;     ///< identify clients by X-Forwarded-For
  /// Restrict what this process can open (sandbox.h): for good, from the thread that constructs the server.
  bool sandbox = false;
};

class Server {
 public:
  /// Loads keys and models and binds the address. Throws the errors of these.
  explicit Server(const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Starts to accept connections.
  void start();
  /// Stops accepting connections, completes running requests, cancels those that take long, and returns after
  /// at most this many seconds: false if requests still run, for which the destructor would wait.
  bool drain(double seconds);

  std::string url() const;
  /// Warnings for the operator.
  std::vector<std::string> warnings() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace heed::serve
