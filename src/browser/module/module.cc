#include "browser/module/module.h"

#include <nlohmann/json.hpp>

#include "models/config/precision_names.h"
#include "serve/routes/route_table.h"

namespace heed::browser {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// A line of JSON with the status and the headers, then the body.
std::string bytes_of(const serve::HttpResponse& response) {
  ordered_json headers = {{"Content-Type", response.content_type}};
  for (const auto& [name, value] : response.headers) headers[name] = value;
  return ordered_json{{"status", response.status}, {"headers", std::move(headers)}}.dump() + "\n" +
         response.body;
}

}  // namespace

Module::Module() {
  service_.models =
      std::make_unique<serve::ServedModels>(std::vector<serve::ModelSource>{}, models::LoadOptions{});
  service_.engine = std::make_unique<search::SharedSearch>(search::SharedSearch::Options{});
}

void Module::open(const json& model) {
  models::LoadOptions options;
  if (model.contains("precision")) {
    options.precision = models::precision_named(model["precision"].get<std::string>());
  }
  service_.models->add({.name = model.at("name").get<std::string>(),
                        .files = ModelInventory(model.at("directory").get<std::string>()),
                        .bundled = model.value("bundled", false),
                        .in_all_precisions = true},
                       options);
}

std::string Module::answer(const std::string& text) {
  const json given = json::parse(text);
  serve::HttpRequest request{.id = std::to_string(++requests_),
                             .method = given.value("method", "GET"),
                             .path = given.value("path", ""),
                             .query = "",
                             .address = "",
                             .headers = {},
                             .body = given.value("body", ""),
                             .gone = nullptr};
  if (!request.body.empty()) request.headers.emplace_back("content-type", "application/json");
  serve::CollectedReply reply;
  serve::answer_or_refuse(request, reply, [&] {
    if (given.contains("open")) {
      open(given["open"]);
      request.path = "/v1/models/" + given["open"]["name"].get<std::string>();
    }
    const serve::RouteMatch match = serve::find_route(request.method, request.path);
    if (!match.allowed.empty()) return reply.send(serve::method_error(request, match.allowed));
    if (match.entry == nullptr || match.entry->route == nullptr) {
      serve::refuse(404, "there is no such page or route");
    }
    const serve::Fields fields(request, service_.limits.json_depth);
    match.entry->route({service_, request, fields, reply});
  });
  return bytes_of(reply.response());
}

}  // namespace heed::browser
