#include "serve/server.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>

#include "base/check.h"
#include "base/stop.h"
#include "base/text/ascii.h"
#include "serve/http/access_log.h"
#include "serve/http/api_keys.h"
#include "serve/http/rate_limit.h"
#include "serve/request_queue.h"
#include "serve/routes/page_files.h"
#include "serve/routes/route_table.h"
#include "serve/sandbox.h"

namespace heed::serve {
namespace {

/// Adds the headers for pages of other origins.
class CorsReply : public HttpReply {
 public:
  CorsReply(std::shared_ptr<HttpReply> reply, const std::string& origin)
      : reply_(std::move(reply)), origin_(origin) {}
  void send(HttpResponse response) override { reply_->send(with_origin(std::move(response))); }
  void begin(HttpResponse head) override { reply_->begin(with_origin(std::move(head))); }
  void write(std::string part) override { reply_->write(std::move(part)); }
  void end() override { reply_->end(); }

 private:
  HttpResponse with_origin(HttpResponse response) const {
    if (origin_.empty()) return response;
    response.headers.emplace_back("Access-Control-Allow-Origin", origin_);
    response.headers.emplace_back("Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
    if (origin_ != "*") response.headers.emplace_back("Vary", "Origin");
    return response;
  }
  std::shared_ptr<HttpReply> reply_;
  const std::string& origin_;
};

/// Whether a Host header names this machine for itself: "localhost:7333", "127.0.0.1", "[::1]:7333", or a
/// name without a domain, which nobody can register.
bool names_this_machine(std::string_view host) {
  if (host.starts_with('[')) return true;  // an address, like one of digits
  host = host.substr(0, host.find(':'));
  return host.find('.') == std::string_view::npos || host.ends_with(".localhost") ||
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

[[noreturn]] void refuse_for(double seconds, const std::string& message) {
  throw RequestError(429, message, {{"Retry-After", fmt::format("{:.0f}", std::ceil(seconds))}});
}

/// Origins are compared as browsers send them.
void require_origin(const std::string& origin) {
  if (origin.empty() || origin == "*") return;
  const size_t host = std::min(origin.find("://"), origin.size());
  const bool has_host = host > 0 && host + 3 < origin.size();
  if (has_host && origin.find_first_of("/?# \t\r\n", host + 3) == std::string::npos &&
      ascii_lower(origin) == origin)
    return;
  fail(ErrorKind::kUsage,
       "'{}' is no origin as browsers send it: give scheme, host and port alone, in lower case, such as "
       "https://example.org or http://localhost:3000, or * for all (--cors)",
       origin);
}

}  // namespace

class Server::State {
 public:
  explicit State(const ServerOptions& settings);

  void enter_sandbox();
  void handle(HttpRequest request, const std::shared_ptr<HttpReply>& plain_reply);
  void work(const RouteEntry& entry, const HttpRequest& request, HttpReply& reply);
  void send_metrics(const Exchange& exchange) const;
  bool has_own_name(const HttpRequest& request) const;
  void require_own_page(const HttpRequest& request) const;
  void admit(const HttpRequest& request, const Fields& fields);
  std::string key_of(const HttpRequest& request, const Fields& fields) const;
  std::string client_of(const HttpRequest& request) const;
  void done(const HttpRecord& record);

  ServerOptions options;
  Service service;
  std::optional<ApiKeys> keys;
  RateLimit rate;
  WebFiles web;
  AccessLog log;
  std::unique_ptr<HttpServer> http;
  std::string no_sandbox;  // why the kernel has none
  // Destroyed first, since its requests use all other members.
  std::unique_ptr<RequestQueue> queue;
};

Server::State::State(const ServerOptions& settings)
    : options(settings),
      rate(settings.requests_per_minute),
      web(settings.web.empty() ? WebFiles() : WebFiles(settings.web)),
      log(settings.access_log) {
  require_origin(options.cors);
  if (!options.api_keys.empty()) keys = ApiKeys::load(options.api_keys);
  service.limits = options.limits;
  service.keys_required = keys.has_value();
  http = std::make_unique<HttpServer>(
      options.http,
      [this](HttpRequest request, const std::shared_ptr<HttpReply>& reply) {
        handle(std::move(request), reply);
      },
      [this](const HttpRecord& record) { done(record); });
  // Everything else is open now, and no thread runs yet: those that are started from here on are restricted.
  if (options.sandbox) enter_sandbox();
  service.models = std::make_unique<ServedModels>(options.models, options.load);
  search::SharedSearch::Options engine;
  engine.threads = options.threads;
  engine.on_step = [this](size_t rows) { service.metrics.add_step(rows); };
  engine.on_sentence = [this](size_t source, size_t target) { service.metrics.add_sentence(source, target); };
  service.engine = std::make_unique<search::SharedSearch>(engine);
  // Enough concurrent requests of one sentence each to fill the batches of all threads.
  const size_t at_once = std::clamp<size_t>(static_cast<size_t>(service.engine->threads()) * 32, 32, 256);
  queue = std::make_unique<RequestQueue>(at_once, options.queue);
}

void Server::State::enter_sandbox() {
  std::vector<std::string> directories;
  for (const ModelSource& model : options.models) directories.push_back(model.files.directory());
  no_sandbox = restrict_thread(readable_when_serving(directories));
}

std::string Server::State::client_of(const HttpRequest& request) const {
  if (options.trust_proxy) {
    // The last address is the one that the proxy has seen; earlier ones come from the client and cannot be
    // trusted.
    const std::string_view forwarded = request.header("x-forwarded-for");
    const size_t comma = forwarded.rfind(',');
    std::string_view last = comma == std::string_view::npos ? forwarded : forwarded.substr(comma + 1);
    while (last.starts_with(' ')) last.remove_prefix(1);
    if (!last.empty() && last.size() < 64) return client_of_address(std::string(last));
  }
  return client_of_address(request.address);
}

std::string Server::State::key_of(const HttpRequest& request, const Fields& fields) const {
  constexpr std::string_view kBearer = "bearer ";  // in any case (RFC 9110, section 11.1)
  const std::string_view authorization = request.header("authorization");
  if (ascii_lower(authorization.substr(0, kBearer.size())) == kBearer)
    return std::string(authorization.substr(kBearer.size()));
  std::string key = fields.text_or("api_key", "");
  if (!key.empty() || request.query.empty()) return key;
  // Beside a body, fields are not read from the query, but some clients put the key there.
  HttpRequest query;
  query.query = request.query;
  return Fields(query, options.limits.json_depth).text_or("api_key", "");
}

/// False for a request to a server on the loopback address by the name of another site. If that name leads to
/// this machine (DNS rebinding), browsers give the answer to pages of the site.
bool Server::State::has_own_name(const HttpRequest& request) const {
  return names_this_machine(request.header("host")) || !http->is_loopback() || keys || options.trust_proxy;
}

/// Throws 415 for a request of a page of another site that browsers send without asking this server first:
/// forms and plain text, so that any page could have a local server work for it. Pages cannot have the origin
/// of an extension.
void Server::State::require_own_page(const HttpRequest& request) const {
  const std::string_view origin = request.header("origin");
  const bool of_a_page = origin == "null" || origin.starts_with("http://") || origin.starts_with("https://");
  if (!of_a_page || options.cors == "*" || origin == options.cors) return;
  const size_t host = origin.find("://");
  if (host != std::string_view::npos && origin.substr(host + 3) == request.header("host")) return;
  if (media_type_of(request) == "application/json") return;
  refuse(415,
         "requests of pages of other sites must be application/json, and the server must allow their origin "
         "(--cors)");
}

/// Throws a RequestError for an unauthorized request, or one beyond the rate limit.
void Server::State::admit(const HttpRequest& request, const Fields& fields) {
  std::string client = client_of(request);
  if (keys) {
    const std::string key = key_of(request, fields);
    const std::optional<size_t> number = keys->find(key);
    if (!number) {
      service.metrics.add_rejected("key");
      // Wrong keys count against the rate limit, which slows down guessing.
      const double wait = rate.take(client);
      if (wait > 0) refuse_for(wait, "Slowdown: too many requests without a valid key");
      if (is_openai(request.path))
        refuse(401, "{}", key.empty() ? "an API key is needed" : "the API key is wrong");
      if (key.empty()) refuse(400, "Please contact the server operator to get an API key");
      refuse(403, "Invalid API key");
    }
    client = fmt::format("key {}", *number);
  }
  const double wait = rate.take(client);
  if (wait <= 0) return;
  service.metrics.add_rejected("rate");
  refuse_for(wait, fmt::format("Slowdown: {:g} requests a minute are allowed", options.requests_per_minute));
}

/// On the input/output thread.
void Server::State::handle(HttpRequest request, const std::shared_ptr<HttpReply>& plain_reply) {
  const auto reply = std::make_shared<CorsReply>(plain_reply, options.cors);
  if (!has_own_name(request)) {
    return reply->send(
        error_for(request, 403,
                  "a server on the loopback address answers to localhost and addresses; behind a "
                  "proxy it needs --trust-proxy"));
  }
  const RouteMatch match = find_route(request.method, request.path);
  if (match.entry != nullptr) {
    const RouteEntry& entry = *match.entry;
    if (entry.access != Access::kWork) return work(entry, request, *reply);
    const auto shared = std::make_shared<HttpRequest>(std::move(request));
    if (queue->push([this, &entry, shared, reply] { work(entry, *shared, *reply); })) return;
    service.metrics.add_rejected("queue");
    HttpResponse full = error_for(*shared, 503, "the server is busy: try again in a moment");
    full.headers.emplace_back("Retry-After", "1");
    return reply->send(std::move(full));
  }
  if (request.method == "OPTIONS" && (!match.allowed.empty() || request.path == "*")) {
    return reply->send({.status = 204,
                        .content_type = "",
                        .body = {},
                        .headers = {{"Allow", fmt::format("OPTIONS, {}", fmt::join(match.allowed, ", "))},
                                    {"Access-Control-Allow-Methods", "GET, POST"},
                                    {"Access-Control-Allow-Headers", "Authorization, Content-Type"},
                                    {"Access-Control-Max-Age", "86400"}}});
  }
  if (!match.allowed.empty()) return reply->send(method_error(request, match.allowed));
  const bool read = request.method == "GET" || request.method == "HEAD";
  if (const HttpResponse* file = read ? web.find(request.path) : nullptr) {
    return reply->send(file_response(request, *file));
  }
  reply->send(error_response(404, "there is no such page or route"));
}

void Server::State::work(const RouteEntry& entry, const HttpRequest& request, HttpReply& reply) {
  const auto answer = [&] {
    Stop(request.gone.get()).check();
    if (entry.access == Access::kWork && http->is_full()) {
      service.metrics.add_rejected("answers");
      throw RequestError(503, std::string(kTooManyAnswers), {{"Retry-After", "5"}});
    }
    if (entry.access == Access::kWork) require_own_page(request);
    const Fields fields(request, options.limits.json_depth);
    if (options.log_text && entry.access == Access::kWork) log.write_text(request, fields);
    if (entry.access != Access::kOpen) admit(request, fields);
    const Exchange exchange{service, request, fields, reply};
    if (entry.route == nullptr) return send_metrics(exchange);
    const StopScope stop{Stop(request.gone.get())};
    entry.route(exchange);
  };
  answer_or_refuse(request, reply, std::ref(answer));  // which takes no memory of its own
}

void Server::State::send_metrics(const Exchange& exchange) const {
  const Metrics::Gauges gauges{http->open_connections(), queue->running(), queue->waiting(),
                               service.engine->waiting(), service.models->all().size()};
  send_text(exchange, service.metrics.text(gauges), "text/plain; version=0.0.4; charset=utf-8");
}

void Server::State::done(const HttpRecord& record) {
  std::string route = route_path(record.path);
  if (route.empty() && web.find(record.path) != nullptr) route = record.path;
  service.metrics.add_request(route.empty() ? "other" : route, record.status, record.seconds);
  log.write(record, route);
}

Server::Server(const ServerOptions& options) : state_(std::make_unique<State>(options)) {}

Server::~Server() = default;

void Server::start() {
  state_->http->start();
}

bool Server::drain(double seconds) {
  const double cancelling = std::min(3.0, seconds / 4);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  state_->http->drain(seconds - cancelling, cancelling / 2);
  const std::chrono::duration<double> left = end - std::chrono::steady_clock::now();
  return state_->queue->stop(std::clamp(left.count(), 0.0, cancelling));
}

std::string Server::url() const {
  return state_->http->url();
}

std::vector<std::string> Server::warnings() const {
  std::vector<std::string> warnings;
  if (!state_->http->is_loopback() && !state_->keys) {
    warnings.emplace_back(
        "everybody who can reach this address can use the server: give --api-keys, or leave out --host");
  }
  if (state_->options.log_text && !state_->options.access_log.empty()) {
    warnings.emplace_back("texts are written to the access log (--log-text)");
  }
  if (!state_->no_sandbox.empty()) {
    warnings.push_back(
        fmt::format("no sandbox: an error in this server could open every file that its user can ({})",
                    state_->no_sandbox));
  }
  if (state_->web.find("/") == nullptr) {
    warnings.push_back(
        fmt::format("'{}' holds no index.html, so there is no page (--web)", state_->options.web));
  }
  for (const auto& model : state_->service.models->all()) {
    if (model->task == models::Task::kTranslation && (model->sources.empty() || model->targets.empty())) {
      warnings.push_back(fmt::format(
          "the model '{}' does not say its languages, so only Heed's own routes reach it, by its name",
          model->name));
    }
  }
  return warnings;
}

}  // namespace heed::serve
