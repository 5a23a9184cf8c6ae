// Who may use the server: names that it answers to, pages of other sites, API keys and the rate of requests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "serve/http/api_keys.h"
#include "serve/http/fields.h"
#include "serve/http/http_message.h"
#include "serve/http/metrics.h"
#include "serve/http/rate_limit.h"
#include "serve/server.h"

namespace heed::serve {

/// Thread-safe. Whatever is refused is a RequestError.
class Admission {
 public:
  /// Reads the keys, and throws their errors, and kUsage for a name that is none. Both outlive this.
  Admission(const ServerOptions& options, Metrics& metrics);

  bool requires_keys() const { return keys_.has_value(); }

  /// 403 for a request by the name of another site.
  void require_own_name(const HttpRequest& request) const;
  /// 415 for what a page of another site may send without asking.
  void require_own_page(const HttpRequest& request) const;

  /// The headers that a page of another site may send, in answer to its question (CORS).
  std::string allowed_headers(const HttpRequest& request) const;

  /// Whom a request is counted for.
  struct Client {
    std::string name;          ///< a key's number, or an address
    bool key_in_body = false;  ///< admit_body() decides
  };
  /// Before anything is read of the body: 400, 401 or 403 without a valid key, 429 beyond the rate limit. A
  /// request with a key in its body, as those of LibreTranslate's clients, counts for its address until it is
  /// read.
  Client admit(const HttpRequest& request);
  /// The same for a key in the body; nothing if there is none.
  void admit_body(const Client& client, const HttpRequest& request, const Fields& fields);

 private:
  bool allows_origin(const HttpRequest& request) const;
  std::string address_of(const HttpRequest& request) const;
  std::string key_in_query(const HttpRequest& request) const;
  [[noreturn]] void refuse_key(const HttpRequest& request, const std::string& key);
  void count(const std::string& client, const std::string& limit);
  std::string count_key(size_t number);

  const ServerOptions& options_;
  Metrics& metrics_;
  std::optional<ApiKeys> keys_;
  RateLimit rate_;
  std::vector<std::string> names_;  // that this server answers to besides local ones, in lower case
};

}  // namespace heed::serve
