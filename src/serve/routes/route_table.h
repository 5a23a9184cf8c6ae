// Which function answers which path, and what becomes of its errors: the same for a server and for a module
// in a browser, which has no sockets (src/browser/).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/http_message.h"
#include "serve/service.h"

namespace heed::serve {

enum class Access {
  kOpen,     ///< answered at once, without a key
  kGuarded,  ///< answered at once, with a key if keys are needed
  kWork,     ///< waits in the queue, with a key
};

struct RouteEntry {
  const char* method;
  const char* path;  ///< one that ends in a slash stands for all below it
  Access access;
  Route route;  ///< null for /metrics, which needs the server's gauges
};

/// What is there for a request: `entry`, or null and the methods that its path takes; none for an unknown
/// path.
struct RouteMatch {
  const RouteEntry* entry = nullptr;
  std::vector<std::string> allowed = {};
};
RouteMatch find_route(const std::string& method, const std::string& path);

/// The path of the entry that a request's path belongs to; empty for an unknown path.
std::string route_path(const std::string& path);

/// {"error": ...} in the form that clients of the request's path expect.
HttpResponse error_for(const HttpRequest& request, int status, const std::string& message);
/// 405, with the methods that the path takes.
HttpResponse method_error(const HttpRequest& request, const std::vector<std::string>& allowed);
/// Whether the path is one of OpenAI's.
bool is_openai(std::string_view path);

/// Calls `answer`, and sends what it throws as an error. Does not throw.
void answer_or_refuse(const HttpRequest& request, HttpReply& reply, const std::function<void()>& answer);

}  // namespace heed::serve
