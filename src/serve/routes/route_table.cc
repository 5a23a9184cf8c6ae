#include "serve/routes/route_table.h"

#include <nlohmann/json.hpp>

#include "base/stop.h"
#include "base/text/option_error.h"

namespace heed::serve {
namespace {

constexpr RouteEntry kRoutes[] = {
    {"POST", "/translate", Access::kWork, route_translate},
    {"POST", "/detect", Access::kWork, route_detect},
    {"POST", "/translate_file", Access::kWork, route_unavailable},
    {"POST", "/suggest", Access::kWork, route_unavailable},
    {"GET", "/languages", Access::kOpen, route_languages},
    {"GET", "/frontend/settings", Access::kOpen, route_frontend_settings},
    {"GET", "/health", Access::kOpen, route_health},
    {"GET", "/metrics", Access::kGuarded, nullptr},
    {"GET", "/v1/models", Access::kGuarded, route_v1_models},
    {"GET", "/v1/models/", Access::kGuarded, route_v1_models},
    {"POST", "/v1/translate", Access::kWork, route_v1_translate},
    {"POST", "/v1/attend", Access::kWork, route_v1_attend},
    {"POST", "/v1/lens", Access::kWork, route_v1_lens},
    {"POST", "/v1/attribute", Access::kWork, route_v1_attribute},
    {"POST", "/v1/patch", Access::kWork, route_v1_patch},
    {"POST", "/v1/search", Access::kWork, route_v1_search},
    {"POST", "/v1/classify", Access::kWork, route_v1_classify},
    {"POST", "/v1/completions", Access::kWork, route_v1_completions},
    {"POST", "/v1/chat/completions", Access::kGuarded, route_v1_chat_completions},
    {"POST", "/v1/embeddings", Access::kWork, route_v1_embeddings},
};

bool matches(const RouteEntry& entry, std::string_view path) {
  const std::string_view own = entry.path;
  return path == own || (own.ends_with('/') && path.size() > own.size() && path.starts_with(own));
}

}  // namespace

RouteMatch find_route(const std::string& method, const std::string& path) {
  const bool read = method == "GET" || method == "HEAD";
  RouteMatch match;
  for (const RouteEntry& entry : kRoutes) {
    if (!matches(entry, path)) continue;
    if (method == entry.method || (read && entry.method == std::string_view("GET"))) return {&entry, {}};
    match.allowed.emplace_back(entry.method);
    if (match.allowed.back() == "GET") match.allowed.emplace_back("HEAD");
  }
  return match;
}

std::string route_path(const std::string& path) {
  std::string route;
  for (const RouteEntry& entry : kRoutes) {
    if (matches(entry, path)) route = entry.path;
  }
  return route;
}

bool is_openai(std::string_view path) {
  return path == "/v1/completions" || path == "/v1/chat/completions" || path == "/v1/embeddings" ||
         path.starts_with("/v1/models");
}

/// OpenAI's clients expect an object as `error`, LibreTranslate's a string.
HttpResponse error_for(const HttpRequest& request, int status, const std::string& message) {
  HttpResponse response = error_response(status, message);
  if (!is_openai(request.path)) return response;
  const char* type = status == 429   ? "rate_limit_error"
                     : status >= 500 ? "server_error"
                                     : "invalid_request_error";
  nlohmann::ordered_json error{{"message", message}, {"type", type}, {"param", nullptr}, {"code", nullptr}};
  if (status == 404) error["code"] = "model_not_found";
  response.body = nlohmann::ordered_json{{"error", error}}.dump(-1, ' ', false,
                                                                nlohmann::json::error_handler_t::replace) +
                  "\n";
  return response;
}

HttpResponse method_error(const HttpRequest& request, const std::vector<std::string>& allowed) {
  const std::string methods = fmt::format("{}", fmt::join(allowed, ", "));
  HttpResponse response = error_for(request, 405, fmt::format("{} takes {}", request.path, methods));
  response.headers.emplace_back("Allow", methods);
  return response;
}

namespace {

/// What a request calls an option of the library. OpenAI calls the number of texts "n".
std::string field_of(const HttpRequest& request, const std::string& option) {
  return is_openai(request.path) && option == "nbest" ? "'n'" : "'" + option + "'";
}

void answer_or_send_error(const HttpRequest& request, HttpReply& reply, const std::function<void()>& answer) {
  const auto send_error = [&](int status, const std::string& message, const HttpHeaders& headers = {}) {
    HttpResponse response = error_for(request, status, message);
    response.headers.insert(response.headers.end(), headers.begin(), headers.end());
    reply.send(std::move(response));
  };
  try {
    answer();
  } catch (const RequestError& error) {
    send_error(error.status(), error.what(), error.headers());
  } catch (const Cancelled&) {  // the client has disconnected, or the server shuts down
    send_error(503, "the request was cancelled");
  } catch (const OptionError& error) {
    send_error(400, error.message([&](const std::string& option) { return field_of(request, option); }));
  } catch (const Error& error) {
    // The client's error (4xx) or the server's (500).
    const bool theirs = error.kind() == ErrorKind::kUsage || error.kind() == ErrorKind::kText ||
                        error.kind() == ErrorKind::kFormat;
    send_error(theirs ? 400 : 500, error.what());
  } catch (const std::bad_alloc&) {
    send_error(503, "out of memory", {{"Retry-After", "5"}});
  } catch (const std::exception&) {
    send_error(500, "internal error");
  }
}

}  // namespace

void answer_or_refuse(const HttpRequest& request, HttpReply& reply, const std::function<void()>& answer) {
  try {
    answer_or_send_error(request, reply, answer);
  } catch (const std::exception&) {
    // Memory has run out for the error as well: the reply, which is dropped, ends the request.
  }
}

}  // namespace heed::serve
