// The server: models, routes and limits behind HTTP. What `heed serve` runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/model_directory.h"
#include "serve/http_server.h"
#include "serve/served_models.h"
#include "serve/service.h"

namespace heed::serve {

struct ServerOptions {
  HttpServerOptions http = {};
  RequestLimits limits = {};
  std::vector<ModelSource> models = {};  ///< at least one
  models::LoadOptions load = {};
  int threads = 0;                 ///< that compute; 0: one per processor
  size_t queue = 256;              ///< requests that wait; more are answered with 503
  double requests_per_minute = 0;  ///< of each address or key; 0: no limit
  std::string api_keys = {};       ///< file of keys, empty: none are needed
  std::string cors = {};           ///< the origin whose pages may use the API, or *; empty: none
  std::string web = {};            ///< folder of the explorer page, empty: the one that was compiled in
  std::string access_log = {};     ///< file, "-" for standard output, empty: none
  bool log_text = false;           ///< requests are logged with their texts
  bool trust_proxy = false;        ///< clients are told apart by X-Forwarded-For
};

class Server {
 public:
  /// Reads keys and models and binds the address. Throws what these throw.
  explicit Server(const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Begins to answer.
  void start();
  /// Answers what is under way, at most for so many seconds, and nothing new.
  void drain(double seconds);

  std::string url() const;
  /// What the operator should know, a sentence each.
  std::vector<std::string> warnings() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace heed::serve
