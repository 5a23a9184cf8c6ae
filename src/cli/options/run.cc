// The command line `heed`: runs the chosen subcommand and turns errors into messages and exit statuses.

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include "base/check.h"
#include "base/files/unfinished_files.h"
#include "base/log.h"
#include "base/text/ascii.h"
#include "base/text/option_error.h"
#include "base/text/printable.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "heed/cancel.h"
#include "heed/error.h"
#include "heed/version.h"

namespace heed::cli {
namespace {

constexpr const char* kQuiet = "--quiet";

int report_out_of_memory() {
  std::fputs("heed: out of memory; try fewer --threads or smaller batches\n", stderr);
  return kExitFailed;
}

/// Whether the system refused a thread, for whose stack there is no memory, or which is one too many.
bool is_refused_thread(const std::system_error& error) {
  return error.code() == std::errc::resource_unavailable_try_again;
}

int report_refused_thread() {
  std::fputs(
      "heed: no further thread can be started: there is too little memory (ulimit -v) or a limit of "
      "processes (ulimit -u); try fewer --threads\n",
      stderr);
  return kExitFailed;
}

/// A command may be started without standard input, output or error. The next file that is opened would take
/// the place of one, and be read or written as such; so each is held by a descriptor that cannot be used for
/// it.
void hold_standard_descriptors() {
  for (const int number : {0, 1, 2}) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int held = ::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
  }
}

std::terminate_handler terminate_before = nullptr;

/// For memory that runs out where nothing can be thrown: in a destructor, a noexcept function or a thread of
/// a library. Other errors there are our own mistakes, and abort.
void end_out_of_memory() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    const int status = report_out_of_memory();
    remove_unfinished_for_good();
    std::_Exit(status);
  } catch (...) {
  }
  terminate_before();
}

int report(const std::exception& error, int status) {
  if (interrupted()) {  // the signal made a read or a wait fail
    std::fprintf(stderr, "heed: interrupted\n");
    return kExitInterrupted;
  }
  std::fprintf(stderr, "heed: %s\n", printable(error.what()).c_str());  // it may quote file content
  return status;
}

int report_errors(const CommandLine& app, const Work& work) {
  try {
    return work();
  } catch (const Cancelled&) {
    return kExitInterrupted;
  } catch (const OptionError& error) {
    const auto name_of = [&](const std::string& field) { return app.chosen_flag_of(field); };
    return report(Error(error.kind(), error.message(name_of)),
                  error.kind() == ErrorKind::kUsage ? kExitUsage : kExitFailed);
  } catch (const Error& error) {
    return report(error, error.kind() == ErrorKind::kUsage ? kExitUsage : kExitFailed);
  } catch (const std::bad_alloc&) {
    return report_out_of_memory();
  } catch (const std::system_error& error) {
    return is_refused_thread(error) ? report_refused_thread() : report(error, kExitFailed);
  } catch (const std::exception& error) {
    // Of all that is written as JSON, only names of files may be anything but UTF-8.
    if (std::string_view(error.what()).starts_with("[json.exception.type_error.316]")) {
      return report(Error(ErrorKind::kFile,
                          "the name of a file or folder is not valid UTF-8, as JSON and the records of "
                          "unfinished work need it: rename it"),
                    kExitFailed);
    }
    return report(error, kExitFailed);
  }
}

/// "DE" as "de"; codes such as "de_DE" and "deu_Latn" keep their case.
std::string plain_code(const std::string& code) {
  return code.find('_') == std::string::npos ? ascii_lower(code) : code;
}

}  // namespace

void add_common_options(Command& app, CommonOptions& options) {
  app.group(kGeneralOptions);
  add_integer(app, "--threads", options.threads, "Number of threads; 0: one per processor", {0, 1024});
  add_quiet(app, options.quiet);
}

void add_quiet(Command& app, bool& quiet) {
  app.group(kGeneralOptions);
  app.add_switch(kQuiet, quiet, "Write only errors to standard error");
}

std::pair<std::string, std::string> split_pair(const std::string& pair) {
  const size_t dash = pair.find('-');
  if (dash == std::string::npos || dash == 0 || dash + 1 == pair.size() ||
      pair.find_first_of("/.") != std::string::npos) {
    fail(ErrorKind::kUsage, "--pair takes two languages, such as de-en, not '{}'", pair);
  }
  return {plain_code(pair.substr(0, dash)), plain_code(pair.substr(dash + 1))};
}

namespace {

int run_subcommand(int argc, const char* const* argv) {
  CommandLine app("heed", "Heed: a Transformer you can train, translate with and look inside.", HEED_VERSION);
  app.footer(R"(Example:
  heed translate "Guten Morgen!"
  heed help SUBCOMMAND

A switch --X is turned off by --no-X; the last one counts. Results go to standard output, one line per input
line; everything else goes to standard error. The file name - is standard input. Exit status: 0 done, 1
failed, 2 wrong usage, 130 interrupted.)");
  Work work;
  app.group("Use models");
  add_translate(app, work);
  add_generate(app, work);
  add_classify(app, work);
  add_fill(app, work);
  add_embed(app, work);
  add_score(app, work);
  add_align(app, work);
  add_serve(app, work);
  app.group("Train and evaluate");
  add_train(app, work);
  add_evaluate(app, work);
  app.group("Look inside");
  add_attend(app, work);
  add_heads(app, work);
  add_lens(app, work);
  add_attribute(app, work);
  add_patch(app, work);
  add_info(app, work);
  app.group("Files");
  add_convert(app, work);
  add_quantize(app, work);
  add_shortlist(app, work);
  add_verify(app, work);
  return report_errors(app, [&] {
    if (const std::optional<int> status = app.parse(argc, argv)) return *status;
    const LogLevel least = app.chosen_switch(kQuiet) ? LogLevel::kError : LogLevel::kInfo;
    set_log_handler([least](LogLevel level, const std::string& message) {
      if (level < least) return;
      std::fprintf(stderr, "heed: %s\n", printable(message).c_str());
    });
    watch_interrupts();
    return work();
  });
}

}  // namespace

int run(int argc, const char* const* argv) {
  hold_standard_descriptors();
  terminate_before = std::set_terminate(end_out_of_memory);
  try {
    return run_subcommand(argc, argv);
  } catch (const std::bad_alloc&) {  // also while options are declared or an error is reported
    return report_out_of_memory();
  }
}

}  // namespace heed::cli
