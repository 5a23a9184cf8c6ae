// The command line `heed`: picks the subcommand, and turns errors into messages and exit statuses.

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <unistd.h>

#include "base/log.h"
#include "cli/command.h"
#include "heed/error.h"
#include "heed/version.h"

namespace heed::cli {
namespace {

std::atomic<bool>& interrupt_flag() {
  static std::atomic<bool> flag{false};
  return flag;
}

void on_signal(int) {
  if (interrupt_flag().exchange(true)) ::_exit(kExitInterrupted);
}

}  // namespace

void add_common_options(CLI::App& app, CommonOptions& options) {
  app.add_option("--threads", options.threads, "Threads; 0: one for each processor")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_flag("--quiet", options.quiet, "Nothing on standard error but errors");
}

const std::atomic<bool>& interrupted() { return interrupt_flag(); }

void watch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

int run(int argc, const char* const* argv) {
  CLI::App app("Heed: a Transformer you can train, translate with and look inside.", "heed");
  app.require_subcommand(1);
  app.set_version_flag("--version", HEED_VERSION);
  Work work;
  add_train(app, work);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? kExitDone : kExitUsage;
  }
  set_log_handler([](LogLevel, const std::string& message) { std::fprintf(stderr, "heed: %s\n", message.c_str()); });
  try {
    return work();
  } catch (const Error& error) {
    std::fprintf(stderr, "heed: %s\n", error.what());
    return error.kind() == ErrorKind::kUsage ? kExitUsage : kExitFailed;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "heed: out of memory; try fewer --threads or smaller batches\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heed: %s\n", error.what());
  }
  return kExitFailed;
}

}  // namespace heed::cli
