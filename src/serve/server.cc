#include "serve/server.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "base/check.h"
#include "base/stop.h"
#include "base/text/ascii.h"
#include "serve/admission.h"
#include "serve/http/access_log.h"
#include "serve/request_queue.h"
#include "serve/routes/page_files.h"
#include "serve/routes/route_table.h"
#include "serve/sandbox.h"

namespace heed::serve {
namespace {

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

/// Of every response, for pages of the allowed origin.
HttpHeaders cors_headers(const std::string& origin) {
  if (origin.empty()) return {};
  HttpHeaders headers{{"Access-Control-Allow-Origin", origin},
                      {"Access-Control-Expose-Headers", "X-Request-Id, Retry-After, X-Tokens, X-Max-Tokens"}};
  if (origin != "*") headers.emplace_back("Vary", "Origin");
  return headers;
}

}  // namespace

class Server::State {
 public:
  explicit State(const ServerOptions& settings);

  void enter_sandbox();
  void handle(HttpRequest received, const std::shared_ptr<HttpReply>& reply);
  void answer_without_route(const HttpRequest& request, const std::vector<std::string>& allowed,
                            HttpReply& reply) const;
  void enqueue(const RouteEntry& entry, const std::shared_ptr<const HttpRequest>& request,
               const Admission::Client& client, const std::shared_ptr<HttpReply>& reply);
  void work(const RouteEntry& entry, const HttpRequest& request, const Admission::Client& client,
            HttpReply& reply);
  void send_metrics(const Exchange& exchange) const;
  void done(const HttpRecord& record);

  ServerOptions options;
  Service service;
  Admission admission;
  WebFiles web;
  AccessLog log;
  std::unique_ptr<HttpServer> http;
  std::string no_sandbox;  // why the kernel has none
  // Destroyed first, since its requests use all other members.
  std::unique_ptr<RequestQueue> queue;
};

Server::State::State(const ServerOptions& settings)
    : options(settings),
      admission(options, service.metrics),
      web(settings.web.empty() ? WebFiles() : WebFiles(settings.web)),
      log(settings.access_log) {
  require_origin(options.cors);
  if (options.log_text && options.access_log.empty()) {
    fail(ErrorKind::kUsage, "texts are written to the access log only: --log-text needs --access-log");
  }
  service.limits = options.limits;
  service.keys_required = admission.requires_keys();
  options.http.headers = cors_headers(options.cors);
  http = std::make_unique<HttpServer>(
      options.http,
      [this](HttpRequest request, const std::shared_ptr<HttpReply>& reply) {
        handle(std::move(request), reply);
      },
      [this](const HttpRecord& record) { done(record); });
  // Everything else is open now, and no thread runs yet: those that are started from here on are restricted.
  if (options.sandbox) enter_sandbox();
  log.start();
  service.models = std::make_unique<ServedModels>(options.models, options.load);
  search::SharedSearch::Options engine;
  engine.threads = options.threads;
  engine.on_step = [this](size_t rows) { service.metrics.add_step(rows); };
  engine.on_sentence = [this](size_t source, size_t target) { service.metrics.add_sentence(source, target); };
  service.engine = std::make_unique<search::SharedSearch>(engine);
  // Enough concurrent requests of one sentence each, of one client, to fill the batches of all threads.
  const size_t at_once = std::clamp<size_t>(static_cast<size_t>(service.engine->threads()) * 32, 32, 256);
  queue = std::make_unique<RequestQueue>(at_once, options.queue);
}

void Server::State::enter_sandbox() {
  std::vector<std::string> directories;
  for (const ModelSource& model : options.models) directories.push_back(model.files.directory());
  no_sandbox = restrict_thread(readable_when_serving(directories));
}

/// On the input/output thread.
void Server::State::handle(HttpRequest received, const std::shared_ptr<HttpReply>& reply) {
  const auto request = std::make_shared<const HttpRequest>(std::move(received));
  const auto answer = [&] {
    admission.require_own_name(*request);
    const RouteMatch match = find_route(request->method, request->path);
    if (match.entry == nullptr) return answer_without_route(*request, match.allowed, *reply);
    Admission::Client client;
    if (match.entry->access == Access::kWork) admission.require_own_page(*request);
    if (match.entry->access != Access::kOpen) client = admission.admit(*request);
    if (match.entry->access != Access::kWork) return work(*match.entry, *request, client, *reply);
    enqueue(*match.entry, request, client, reply);
  };
  answer_or_refuse(*request, *reply, std::ref(answer));  // which takes no memory of its own
}

/// Anything but a route: a file of the page, or an error.
void Server::State::answer_without_route(const HttpRequest& request, const std::vector<std::string>& allowed,
                                         HttpReply& reply) const {
  if (request.method == "OPTIONS" && (!allowed.empty() || request.path == "*")) {
    return reply.send({.status = 204,
                       .content_type = "",
                       .body = {},
                       .headers = {{"Allow", fmt::format("OPTIONS, {}", fmt::join(allowed, ", "))},
                                   {"Access-Control-Allow-Methods", "GET, POST"},
                                   {"Access-Control-Allow-Headers", admission.allowed_headers(request)},
                                   {"Access-Control-Max-Age", "86400"}}});
  }
  if (!allowed.empty()) return reply.send(method_error(request, allowed));
  const bool read = request.method == "GET" || request.method == "HEAD";
  if (const HttpResponse* file = read ? web.find(request.path) : nullptr) {
    return reply.send(file_response(request, *file));
  }
  reply.send(error_response(404, "there is no such page or route"));
}

void Server::State::enqueue(const RouteEntry& entry, const std::shared_ptr<const HttpRequest>& request,
                            const Admission::Client& client, const std::shared_ptr<HttpReply>& reply) {
  const auto refuse_busy = [this, request, reply] {
    const auto refusal = [&] {
      service.metrics.add_rejected("queue");
      throw RequestError(503, "the server is busy: try again in a moment", {{"Retry-After", "1"}});
    };
    answer_or_refuse(*request, *reply, std::ref(refusal));
  };
  const bool has_room =
      queue->push({.client = client.name,
                   .work = [this, &entry, request, client, reply] { work(entry, *request, client, *reply); },
                   .refuse = refuse_busy,
                   .gone = request->gone});
  if (!has_room) refuse_busy();
}

void Server::State::work(const RouteEntry& entry, const HttpRequest& request, const Admission::Client& client,
                         HttpReply& reply) {
  const auto answer = [&] {
    Stop(request.gone.get()).check();
    if (entry.access == Access::kWork && http->is_full()) {
      service.metrics.add_rejected("answers");
      throw RequestError(503, std::string(kTooManyAnswers), {{"Retry-After", "5"}});
    }
    const Fields fields(request, options.limits.json_depth);
    admission.admit_body(client, request, fields);
    if (options.log_text && entry.access == Access::kWork) log.write_text(request, fields);
    const Exchange exchange{service, request, fields, reply, client.name};
    if (entry.route == nullptr) return send_metrics(exchange);
    const StopScope stop{Stop(request.gone.get())};
    entry.route(exchange);
  };
  answer_or_refuse(request, reply, std::ref(answer));
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
  const bool stopped = state_->queue->stop(std::clamp(left.count(), 0.0, cancelling));
  state_->log.flush();  // nobody destroys a server whose requests still run
  return stopped;
}

std::string Server::url() const {
  return state_->http->url();
}

std::vector<std::string> Server::warnings() const {
  std::vector<std::string> warnings;
  if (!state_->http->is_loopback() && !state_->admission.requires_keys()) {
    warnings.emplace_back(
        "everybody who can reach this address can use the server: give --api-keys, or leave out --host");
  }
  if (state_->options.log_text) {
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
