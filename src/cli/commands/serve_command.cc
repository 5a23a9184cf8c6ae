// heed serve: serves models over HTTP.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "cli/files/model_lookup.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "serve/server.h"

namespace heed::cli {
namespace {

struct ServeOptions {
  CommonOptions common;
  serve::ServerOptions server;
  std::vector<std::string> pairs, models;
  std::string precision;
  std::optional<bool> shortlist;
  int64_t port = 7333;
};

/// The model of "DIR" or "NAME=DIR".
serve::ModelSource model_source(const std::string& model) {
  const size_t equals = model.find('=');
  const std::string name = model.substr(0, equals);
  const bool named =
      equals != std::string::npos && name.find('/') == std::string::npos && !std::filesystem::exists(model);
  if (!named) return {serve::name_of_directory(model), model_directory_at(model, "--model")};
  if (name.empty()) fail(ErrorKind::kUsage, "--model {}: the name before '=' is empty", model);
  return {name, model_directory_at(model.substr(equals + 1), "--model")};
}

/// The models of --pair and --model; otherwise $HEED_MODEL, or all bundled pairs.
std::vector<serve::ModelSource> sources_of(const ServeOptions& o) {
  std::vector<serve::ModelSource> sources;
  for (const std::string& pair : o.pairs) {
    for (const BundledModel& model : bundled_chain(pair)) {
      const std::string name = serve::name_of_directory(model.directory);
      const bool there = std::ranges::any_of(sources, [&](const auto& each) { return each.name == name; });
      if (!there) sources.push_back({name, ModelInventory(model.directory), true});
    }
  }
  for (const std::string& model : o.models) sources.push_back(model_source(model));
  if (!sources.empty()) return sources;
  if (const std::string named = default_model(); !named.empty()) {
    return {{serve::name_of_directory(named), default_model_directory()}};
  }
  for (const BundledModel& model : bundled_models()) {
    if (model.pair.find('-') != std::string::npos)
      sources.push_back({model.pair, ModelInventory(model.directory), true});
  }
  if (sources.empty())
    sources.push_back(
        {"de-en", ModelInventory(bundled_model("de-en")), true});  // the error names the directories searched
  return sources;
}

int run_serve(ServeOptions o) {
  constexpr double kDrainSeconds = 25;  // service managers wait at least 30 s
  serve::ServerOptions& server = o.server;
  server.models = sources_of(o);
  server.load = load_options(o.precision, o.shortlist);
  server.threads = o.common.threads;
  server.http.port = static_cast<uint16_t>(o.port);
  serve::Server running(server);
  for (const std::string& warning : running.warnings()) {
    std::fprintf(stderr, "heed: warning: %s\n", warning.c_str());
  }
  if (interrupted()) return kExitInterrupted;
  on_interrupt(OnInterrupt::kFinishWork);
  running.start();
  if (!o.common.quiet) std::fprintf(stderr, "listening on %s\n", running.url().c_str());
  while (!interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (running.drain(kDrainSeconds)) return kExitDone;
  // Destroying the server would wait for them.
  std::fprintf(stderr, "heed: warning: requests that did not stop in time were abandoned\n");
  std::_Exit(kExitDone);
}

void add_limits(Command& command, serve::ServerOptions& server) {
  command.group("Limits");
  const NumberRange seconds{.least = 0, .most = 86400, .above_least = true};
  add_integer(command, "--max-head-bytes", server.http.head_bytes,
              "Maximum size of request line and headers (else status 431)", {256, 1 << 20});
  add_number(command, "--head-seconds S", server.http.head_seconds,
             "Time-out for receiving the request head (else status 408)", seconds);
  add_integer(command, "--max-body-bytes", server.http.body_bytes,
              "Maximum size of a request body (else status 413)", {1, 1 << 30});
  add_number(command, "--body-seconds S", server.http.body_seconds,
             "Time-out for receiving the request body (else status 408)", seconds);
  add_number(command, "--idle-seconds S", server.http.idle_seconds, "Time-out of idle connections", seconds);
  add_number(command, "--write-seconds S", server.http.write_seconds,
             "Time-out for sending 64 KiB of a response", seconds);
  add_integer(command, "--max-characters", server.limits.characters,
              "Maximum number of characters per text (else status 400)", {1, 1 << 30});
  add_integer(command, "--max-texts", server.limits.texts,
              "Maximum number of texts per request (else status 400)", {1, 1 << 20});
  add_integer(command, "--max-sentences", server.limits.sentences,
              "Maximum number of sentences to translate, or texts to generate, per request (else status 400)",
              {1, 1 << 30});
  add_integer(command, "--max-work-tokens", server.limits.work_tokens,
              "Maximum number of tokens to translate or to generate per request (else status 400)",
              {1, 1 << 30});
  add_integer(command, "--max-detail-tokens", server.limits.detail_tokens,
              "Maximum number of tokens of a text whose attention is shown with details, or whose states are "
              "(else status 400)",
              {1, 1 << 20});
  add_integer(command, "--max-attention-weights", server.limits.attention_weights,
              "Maximum number of attention weights that are shown at once, of all heads (else status 400)",
              {1, int64_t{1} << 40});
  add_integer(command, "--max-json-depth", server.limits.json_depth, "Maximum nesting of JSON in a request",
              {1, 1000});
  add_integer(command, "--max-beam", server.limits.beam, "Maximum beam size and number of translations",
              {1, models::kMaxBeamSize});
  add_integer(command, "--max-alternatives", server.limits.alternatives,
              "Maximum number of alternatives of /translate", {0, 1000});
  add_integer(command, "--max-tokens", server.limits.tokens,
              "Maximum number of tokens that a language model generates", {1, 1 << 24});
  add_integer(command, "--max-request-bytes", server.http.request_bytes,
              "Maximum size of the bodies of all requests that are received or worked on (else status 503)",
              {1 << 16, int64_t{1} << 40});
  add_integer(command, "--max-answer-bytes", server.http.answer_bytes,
              "Maximum size of all responses that clients have not received yet (else status 503)",
              {1 << 16, int64_t{1} << 40});
  add_integer(command, "--max-queue", server.queue, "Maximum number of waiting requests (else status 503)",
              {0, 1 << 20});
  add_integer(command, "--max-connections", server.http.connections,
              "Maximum number of open connections (else status 503)", {1, 1 << 20});
  add_number(command, "--requests-per-minute N", server.requests_per_minute,
             "Rate limit per address or API key (else status 429); 0: none", {.least = 0, .most = 1e9});
}

}  // namespace

void add_serve(Command& app, Work& work) {
  auto [command, o] =
      add_command(app, work, "serve",
                  "Serve models over HTTP: LibreTranslate and OpenAI APIs, and the explorer", run_serve);
  command->footer(R"(Examples:
  heed serve
  heed serve --pair de-en --pair en-es --port 8080
  heed serve --model news=my-model --host 0.0.0.0 --api-keys keys.txt --access-log -
  curl localhost:7333/translate -d '{"q": "Guten Morgen!", "source": "de", "target": "en"}'

Without --pair and --model, serves $HEED_MODEL or all bundled pairs. On SIGTERM, the server completes
running requests and exits. docs/server.md describes routes, limits, and how to run it as a service.)");
  command->add_option("--pair PAIR", o->pairs, "Bundled model for these languages; may be repeated")
      ->repeatable();
  command
      ->add_option(
          "--model [NAME=]DIR", o->models,
          "Model directory of any kind, with its name in requests, by default that of the directory; "
          "may be repeated")
      ->repeatable();
  command->add_option("--host ADDRESS", o->server.http.host, "Address to listen on; 0.0.0.0: all interfaces")
      ->show_default();
  add_integer(*command, "--port", o->port, "Port; 0: any free port", {0, 65535});
  command->group("Access");
  command->add_option("--api-keys FILE", o->server.api_keys,
                      "File of API keys, one per line; requests need one of them");
  command->add_option("--cors ORIGIN", o->server.cors,
                      "Allow requests from web pages of this origin; *: all");
  command
      ->add_option("--allowed-host NAME", o->server.allowed_hosts,
                   "Without API keys, answer requests for this name of the server too; may be repeated. "
                   "Addresses, localhost and names of local networks are always answered")
      ->repeatable();
  command->add_switch("--trust-proxy", o->server.trust_proxy,
                      "Identify clients by X-Forwarded-For, for a server behind a proxy");
  o->server.sandbox = true;
  command->add_switch("--sandbox", o->server.sandbox,
                      "Let the server read model directories, libraries and fonts only, and write nothing");
  command->group("Log");
  command->add_option("--access-log F", o->server.access_log,
                      "Write a JSON object per request; - is standard output");
  command->add_switch("--log-text", o->server.log_text, "Write the texts of requests to the access log");
  add_precision_option(*command, o->precision);
  add_shortlist_option(*command, o->shortlist);
  add_limits(*command, o->server);
  command->group("Development");
  command->add_option("--web DIR", o->server.web, "Directory of the explorer page [default: embedded]");
  add_common_options(*command, o->common);
}

}  // namespace heed::cli
