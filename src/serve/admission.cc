#include "serve/admission.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>

#include "base/check.h"
#include "base/text/ascii.h"
#include "serve/http/request_error.h"
#include "serve/routes/route_table.h"

namespace heed::serve {
namespace {

constexpr const char* kKeyField = "api_key";

/// The name of a Host header such as "Heed.example:7333", in lower case.
std::string name_of(std::string_view host) {
  std::string name = ascii_lower(host.substr(0, host.starts_with('[') ? host.size() : host.find(':')));
  if (name.ends_with('.')) name.pop_back();
  return name;
}

/// Whether the name is an address, such as "127.0.0.1" or "[::1]", or one that nobody can register:
/// "localhost", or any other without a domain, or with one of those that are kept for local networks.
bool is_local(const std::string& name) {
  if (name.starts_with('[') || name.find_first_not_of("0123456789.") == std::string::npos) return true;
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return true;
  const std::string domain = name.substr(dot);
  return domain == ".localhost" || domain == ".local" || domain == ".internal" ||
         name.ends_with(".home.arpa");
}

/// The names of --allowed-host, and that of this machine.
std::vector<std::string> own_names(const std::vector<std::string>& allowed) {
  std::vector<std::string> names;
  for (const std::string& name : allowed) {
    if (name.empty() || name.find_first_of(":/?#@[] \t\r\n") != std::string::npos) {
      fail(ErrorKind::kUsage,
           "'{}' is no name of a host: give it alone, such as translate.example.org (--allowed-host)", name);
    }
    names.push_back(name_of(name));
  }
  char machine[HOST_NAME_MAX + 1] = {};
  if (::gethostname(machine, HOST_NAME_MAX) == 0) names.push_back(name_of(machine));
  return names;
}

/// The token of "Authorization: Bearer TOKEN"; the scheme in any case (RFC 9110, section 11.1).
std::optional<std::string> bearer_token(const HttpRequest& request) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view authorization = request.header("authorization");
  if (ascii_lower(authorization.substr(0, kBearer.size())) != kBearer) return {};
  return std::string(authorization.substr(kBearer.size()));
}

}  // namespace

Admission::Admission(const ServerOptions& options, Metrics& metrics)
    : options_(options),
      metrics_(metrics),
      rate_(options.requests_per_minute),
      names_(own_names(options.allowed_hosts)) {
  if (!options.api_keys.empty()) keys_ = ApiKeys::load(options.api_keys);
}

/// If that name leads to this machine (DNS rebinding), browsers give the answer to pages of the site.
void Admission::require_own_name(const HttpRequest& request) const {
  if (keys_ || options_.trust_proxy) return;
  const std::string name = name_of(request.header("host"));
  if (is_local(name) || std::ranges::count(names_, name) > 0) return;
  refuse(403,
         "a server without API keys answers to addresses, localhost and names of local networks; others need "
         "--allowed-host, or --trust-proxy behind a proxy");
}

/// Browsers send forms and plain text without asking this server first, so that any page could have a local
/// server work for it. Pages cannot have the origin of an extension.
void Admission::require_own_page(const HttpRequest& request) const {
  const std::string_view origin = request.header("origin");
  const bool of_a_page = origin == "null" || origin.starts_with("http://") || origin.starts_with("https://");
  if (!of_a_page || allows_origin(request)) return;
  const size_t host = origin.find("://");
  if (host != std::string_view::npos && origin.substr(host + 3) == request.header("host")) return;
  if (media_type_of(request) == "application/json") return;
  refuse(415,
         "requests of pages of other sites must be application/json, and the server must allow their origin "
         "(--cors)");
}

/// Whether a page may use this server from its site.
bool Admission::allows_origin(const HttpRequest& request) const {
  const std::string_view origin = request.header("origin");
  return !origin.empty() && (options_.cors == "*" || origin == options_.cors);
}

/// Those that it asks for, such as the X-Stainless-Lang of OpenAI's client, if its origin is allowed.
std::string Admission::allowed_headers(const HttpRequest& request) const {
  const std::string_view wanted = request.header("access-control-request-headers");
  const bool are_names = !wanted.empty() && std::ranges::all_of(wanted, [](char c) {
    return is_ascii_alphanumeric(c) || std::string_view("-_, ").find(c) != std::string_view::npos;
  });
  return std::string(are_names && allows_origin(request) ? wanted : "Authorization, Content-Type");
}

Admission::Client Admission::admit(const HttpRequest& request) {
  const std::string address = address_of(request);
  if (!keys_) {
    count(address, fmt::format("{:g} requests a minute are allowed", options_.requests_per_minute));
    return {address};
  }
  const std::optional<std::string> bearer = bearer_token(request);
  const bool key_in_body = !bearer && request.body.find(kKeyField) != std::string::npos;
  const std::string key = bearer ? *bearer : key_in_body ? "" : key_in_query(request);
  if (const std::optional<size_t> number = keys_->find(key)) return {count_key(*number)};
  // Wrong keys count against the rate limit, which slows down guessing.
  count(address, "too many requests without a valid key");
  if (!key_in_body) refuse_key(request, key);
  return {address, true};
}

void Admission::admit_body(const Client& client, const HttpRequest& request, const Fields& fields) {
  if (!client.key_in_body) return;
  std::string key = fields.text_or(kKeyField, "");
  if (key.empty()) key = key_in_query(request);  // the body has the name of the field elsewhere
  const std::optional<size_t> number = keys_->find(key);
  if (!number) refuse_key(request, key);
  rate_.give_back(client.name);
  count_key(*number);
}

/// Of the client or, behind a proxy, of whom the proxy has seen: the last address in X-Forwarded-For. Earlier
/// ones come from the client and cannot be trusted.
std::string Admission::address_of(const HttpRequest& request) const {
  if (options_.trust_proxy) {
    const std::string_view forwarded = request.header("x-forwarded-for");
    const size_t comma = forwarded.rfind(',');
    std::string_view last = comma == std::string_view::npos ? forwarded : forwarded.substr(comma + 1);
    while (last.starts_with(' ')) last.remove_prefix(1);
    if (!last.empty() && last.size() < 64) return client_of_address(std::string(last));
  }
  return client_of_address(request.address);
}

/// Beside a body, fields are not read from the query, but some clients put the key there.
std::string Admission::key_in_query(const HttpRequest& request) const {
  if (request.query.empty()) return "";
  HttpRequest query;
  query.query = request.query;
  return Fields(query, options_.limits.json_depth).text_or(kKeyField, "");
}

void Admission::refuse_key(const HttpRequest& request, const std::string& key) {
  metrics_.add_rejected("key");
  if (is_openai(request.path))
    refuse(401, "{}", key.empty() ? "an API key is needed" : "the API key is wrong");
  if (key.empty()) refuse(400, "Please contact the server operator to get an API key");
  refuse(403, "Invalid API key");
}

/// Counts a request of a client; 429 beyond the limit.
void Admission::count(const std::string& client, const std::string& limit) {
  const double wait = rate_.take(client);
  if (wait <= 0) return;
  metrics_.add_rejected("rate");
  throw RequestError(429, "Slowdown: " + limit, {{"Retry-After", fmt::format("{:.0f}", std::ceil(wait))}});
}

/// The same for a key; its name as a client.
std::string Admission::count_key(size_t number) {
  std::string client = fmt::format("key {}", number);
  count(client, fmt::format("{:g} requests a minute are allowed", options_.requests_per_minute));
  return client;
}

}  // namespace heed::serve
