// Bodies of requests to each route of a server: the first line is the path, the rest the JSON. Behind them
// are a translation model, a language model and a classifier, untrained and so small that each answers in a
// millisecond. An "internal error" (status 500) is a finding, as is a body of the answer that is not JSON.
#include <nlohmann/json.hpp>

#include "fuzz.h"
#include "json_mutator.h"
#include "serve/routes/route_table.h"
#include "small_models.h"

namespace heed::serve {
namespace {

/// What a server has after its start.
class SmallServer {
 public:
  SmallServer() {
    service_.limits = {.characters = 200,
                       .texts = 4,
                       .alternatives = 4,
                       .beam = 8,
                       .tokens = 16,
                       .sentences = 16,
                       .work_tokens = 256,
                       .detail_tokens = 24,
                       .attributed_tokens = 12};
    std::vector<ModelSource> sources;
    for (const char* name : {"translator", "writer", "classifier"}) {
      sources.push_back({.name = name, .files = ModelInventory(small_.directory(name))});
    }
    service_.models = std::make_unique<ServedModels>(sources, models::LoadOptions{});
    search::SharedSearch::Options engine;
    engine.threads = 1;
    service_.engine = std::make_unique<search::SharedSearch>(engine);
  }

  /// Of a request to a path, whatever its method is. Nothing for a path without a route.
  HttpResponse answer(HttpRequest request) {
    RouteMatch match = find_route(request.method = "POST", request.path);
    if (match.entry == nullptr) match = find_route(request.method = "GET", request.path);
    CollectedReply reply;
    if (match.entry != nullptr && match.entry->route != nullptr) {
      answer_or_refuse(request, reply, [&] {
        const Fields fields(request, service_.limits.json_depth);
        match.entry->route({service_, request, fields, reply});
      });
    }
    return reply.response();
  }

 private:
  SmallModels small_;  // whose modules.json is read at requests
  Service service_;
};

}  // namespace
}  // namespace heed::serve

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static heed::serve::SmallServer server;
  const std::string_view text = heed::text_of(bytes, size);
  const size_t end = std::min(text.find('\n'), text.size());
  heed::serve::HttpRequest request;
  request.path = text.substr(0, end);
  request.headers = {{"content-type", "application/json"}};
  request.body = text.substr(std::min(end + 1, text.size()));
  const heed::serve::HttpResponse response = server.answer(std::move(request));
  constexpr int kServerError = 500;  // an answer about the request may quote any words of it
  if (response.status == kServerError && response.body.find("internal error") != std::string::npos)
    std::abort();
  if (response.content_type == "application/json" && !response.body.empty() &&
      !nlohmann::json::accept(response.body)) {
    std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t room, unsigned seed) {
  return heed::mutate_json_behind_line(bytes, size, room, seed);
}
