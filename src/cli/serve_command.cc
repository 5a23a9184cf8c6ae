// heed serve: models behind HTTP.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "cli/checked_options.h"
#include "cli/command.h"
#include "cli/model_lookup.h"
#include "serve/server.h"

namespace heed::cli {
namespace {

struct ServeOptions {
  CommonOptions common;
  serve::ServerOptions server;
  std::vector<std::string> pairs, models;
  std::string precision, shortlist;
  int64_t port = 7333;
  int64_t head_bytes = 8 << 10, body_bytes = 1 << 20, characters = 20000, texts = 64, queue = 256,
          connections = 4096;
};

std::string name_of_directory(const std::string& path) {
  std::filesystem::path directory = std::filesystem::path(path).lexically_normal();
  if (!directory.has_filename()) directory = directory.parent_path();
  if (directory.filename() == "." || directory.filename() == "..") {
    directory = std::filesystem::canonical(directory);
  }
  return directory.filename().string();
}

/// What was named; else $HEED_MODEL; else every bundled pair.
std::vector<serve::ModelSource> sources_of(const ServeOptions& o) {
  std::vector<serve::ModelSource> sources;
  for (const std::string& pair : o.pairs) sources.push_back({pair, bundled_model(pair)});
  for (const std::string& model : o.models) {
    sources.push_back({name_of_directory(model), model_directory_at(model, "--model")});
  }
  if (!sources.empty()) return sources;
  if (const char* named = std::getenv("HEED_MODEL"); named != nullptr && *named != '\0') {
    return {{name_of_directory(named), model_directory_at(named, "$HEED_MODEL")}};
  }
  for (const BundledModel& model : bundled_models()) {
    if (model.pair.find('-') != std::string::npos) sources.push_back({model.pair, model.directory});
  }
  if (sources.empty()) sources.push_back({"de-en", bundled_model("de-en")});  // says where it looked
  return sources;
}

int run_serve(ServeOptions o) {
  constexpr double kDrainSeconds = 25;  // a service manager waits 30 s or longer
  serve::ServerOptions& server = o.server;
  server.models = sources_of(o);
  server.load = load_options(o.precision, o.shortlist);
  server.threads = o.common.threads;
  server.http.port = static_cast<uint16_t>(o.port);
  server.http.head_bytes = static_cast<size_t>(o.head_bytes);
  server.http.body_bytes = static_cast<size_t>(o.body_bytes);
  server.http.connections = static_cast<size_t>(o.connections);
  server.limits.characters = static_cast<size_t>(o.characters);
  server.limits.texts = static_cast<size_t>(o.texts);
  server.queue = static_cast<size_t>(o.queue);
  serve::Server running(server);
  for (const std::string& warning : running.warnings()) {
    std::fprintf(stderr, "heed: warning: %s\n", warning.c_str());
  }
  if (interrupted()) return kExitInterrupted;
  on_interrupt(OnInterrupt::kFinishWork);
  running.start();
  if (!o.common.quiet) std::fprintf(stderr, "listening on %s\n", running.url().c_str());
  while (!interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  running.drain(kDrainSeconds);
  return kExitDone;
}

void add_limits(Command& command, ServeOptions& o) {
  serve::ServerOptions& server = o.server;
  const NumberRange seconds{.least = 0, .most = 86400, .above_least = true};
  add_integer(command, "--max-head-bytes", o.head_bytes, "Of the head of a request; more: 431",
              {256, 1 << 20});
  add_number(command, "--head-seconds", server.http.head_seconds, "For the whole head; longer: 408", seconds)
      ->type_name("S");
  add_integer(command, "--max-body-bytes", o.body_bytes, "Of the body of a request; more: 413", {1, 1 << 30});
  add_number(command, "--body-seconds", server.http.body_seconds, "For the whole body; longer: 408", seconds)
      ->type_name("S");
  add_number(command, "--idle-seconds", server.http.idle_seconds, "Before an idle connection is closed",
             seconds)
      ->type_name("S");
  add_number(command, "--write-seconds", server.http.write_seconds,
             "For a client to accept 64 KiB of an answer", seconds)
      ->type_name("S");
  add_integer(command, "--max-characters", o.characters, "Of a text; more: 400", {1, 1 << 30});
  add_integer(command, "--max-texts", o.texts, "Of a request; more: 400", {1, 1 << 20});
  add_integer(command, "--max-json-depth", server.limits.json_depth, "Of arrays and objects in a request",
              {1, 1000});
  add_integer(command, "--max-beam", server.limits.beam, "Of beam sizes and numbers of translations",
              {1, models::kMaxBeamSize});
  add_integer(command, "--max-alternatives", server.limits.alternatives, "Of /translate", {0, 1000});
  add_integer(command, "--max-tokens", server.limits.tokens, "That a language model writes", {1, 1 << 24});
  add_integer(command, "--max-queue", o.queue, "Requests that wait; more: 503", {0, 1 << 20});
  add_integer(command, "--max-connections", o.connections, "Open at once; more: 503", {1, 1 << 20});
  add_number(command, "--requests-per-minute", server.requests_per_minute,
             "Of each address or API key, more: 429; 0: no limit", {.least = 0, .most = 1e9})
      ->type_name("N");
}

}  // namespace

void add_serve(Command& app, Work& work) {
  auto o = std::make_shared<ServeOptions>();
  Command* command =
      app.add_subcommand("serve", "Serve models over HTTP: LibreTranslate's and OpenAI's API, and a page");
  command->footer(
      "Examples:\n  heed serve\n"
      "  heed serve --pair de-en --pair en-es --port 8080\n"
      "  heed serve --model my-model --host 0.0.0.0 --api-keys keys.txt --access-log -\n"
      "  curl localhost:7333/translate -d '{\"q\": \"Guten Morgen!\", \"source\": \"de\", \"target\": "
      "\"en\"}'\n\n"
      "Without --pair and --model, $HEED_MODEL is served, else all bundled pairs. SIGTERM ends the server "
      "when "
      "what is\n"
      "under way is answered. docs/server.md describes the routes, limits, and how to run it as a service.");
  command->add_option("--host", o->server.http.host, "Address to listen on; 0.0.0.0: all of this machine")
      ->type_name("ADDRESS")
      ->show_default();
  add_integer(*command, "--port", o->port, "Port; 0: a free one", {0, 65535});
  command->add_option("--pair", o->pairs, "Bundled model for these languages; may be given several times")
      ->repeatable()
      ->type_name("PAIR");
  command->add_option("--model", o->models, "Model directory of any kind; may be given several times")
      ->repeatable()
      ->type_name("DIR");
  add_precision_option(*command, o->precision);
  add_shortlist_option(*command, o->shortlist);
  command->add_option("--api-keys", o->server.api_keys, "Only requests with a key of this file, one a line")
      ->type_name("FILE");
  command->add_option("--cors", o->server.cors, "Web pages of this origin may use the API; *: all")
      ->type_name("ORIGIN");
  command
      ->add_option("--web", o->server.web,
                   "Folder of the explorer page, for work on it [the one that was compiled in]")
      ->type_name("DIR");
  command
      ->add_option("--access-log", o->server.access_log,
                   "A JSON object for each request; - is standard output")
      ->type_name("F");
  command->add_flag("--log-text", o->server.log_text, "Write the texts of requests to the access log");
  command->add_flag("--trust-proxy", o->server.trust_proxy,
                    "Tell clients apart by X-Forwarded-For, for a server behind a proxy");
  add_limits(*command, *o);
  add_common_options(*command, o->common);
  command->callback([o, &work] { work = [o] { return run_serve(*o); }; });
}

}  // namespace heed::cli
