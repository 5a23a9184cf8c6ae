// The command line `heed`: picks the subcommand, and turns errors into messages and exit statuses.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/nearest_word.h"
#include "base/option_error.h"
#include "base/printable.h"
#include "cli/checked_options.h"
#include "cli/command.h"
#include "cli/line_output.h"
#include "heed/error.h"
#include "heed/version.h"

namespace heed::cli {
namespace {

/// The subcommand that was named, or the command itself.
const CLI::App& chosen(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? app : *subcommands[0];
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(each->get_name());
  }
  return names;
}

/// What is wrong with the arguments; for a word that is not known, the nearest one that is.
std::string describe(const CLI::App& app, const CLI::Error& error) {
  const CLI::App& command = chosen(app);
  const std::vector<std::string> unknown = command.remaining(true);
  const std::string prefix = fmt::format("heed{}", &command == &app ? "" : " " + command.get_name());
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && &command == &app && unknown.empty()) {
    return fmt::format("heed: a subcommand is needed: {}\nheed --help says what they do\n",
                       fmt::join(subcommand_names(app), ", "));
  }
  std::string message = fmt::format("{}: {}", prefix, error.what());
  // "--beam: 1 required N missing"
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && message.ends_with("missing")) {
    message = message.substr(0, message.find(": ", prefix.size() + 2)) + " needs a value";
  }
  // "--beam: takes an integer ...", as the library puts names before what a check says
  if (const size_t colon = message.find(": takes "); colon != std::string::npos) message.erase(colon, 1);
  if (!unknown.empty()) {
    const std::string word = unknown[0].substr(0, unknown[0].find('='));
    const bool option = word.starts_with("-");
    if (!option && &command == &app) {
      message =
          fmt::format("heed: there is no subcommand '{}'{}", word, did_you_mean(word, subcommand_names(app)));
    } else {
      message = fmt::format("{}: '{}' is not understood{}", prefix, word,
                            option ? did_you_mean(word, option_names(command)) : "");
    }
  }
  return fmt::format("{}\n{} --help says what there is\n", message, prefix);
}

/// The option of a command that sets a field of the library's options; the field's name where it has none.
std::string flag_of(const CLI::App& command, const std::string& field) {
  static const std::map<std::string, std::vector<std::string>> other_names{
      {"beam_size", {"beam"}},
      {"max_new", {"max-tokens"}},
      {"nbest", {"nbest", "samples"}},
      {"no_repeat_ngram_size", {"no-repeat-ngram"}},
      {"stops", {"stop"}}};
  std::string flag = field;
  std::replace(flag.begin(), flag.end(), '_', '-');
  const auto found = other_names.find(field);
  for (const std::string& name : found == other_names.end() ? std::vector{flag} : found->second) {
    if (command.get_option_no_throw("--" + name) != nullptr) return "--" + name;
  }
  return field;
}

int report(const std::exception& error, int status) {
  if (interrupted()) {  // what failed was a read or a wait that the user ended
    std::fprintf(stderr, "heed: interrupted\n");
    return kExitInterrupted;
  }
  std::fprintf(stderr, "heed: %s\n", printable(error.what()).c_str());  // it may quote any file
  return status;
}

/// What --help or --version asked for.
int print(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream text, ignored;
  app.exit(error, text, ignored);
  LineOutput output("-");
  output.write(text.str());
  output.commit();
  return kExitDone;
}

/// "heed help" and "heed help NAME" are "heed --help" and "heed NAME --help".
std::vector<const char*> with_help_as_option(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  if (argc < 2 || std::string_view(argv[1]) != "help") return arguments;
  if (argc > 3) {
    fail(ErrorKind::kUsage, "heed help takes the name of one subcommand; '{}' is too much", shown(argv[3]));
  }
  arguments.erase(arguments.begin() + 1);
  arguments.push_back("--help");
  if (argc == 2) return arguments;
  const std::vector<std::string> names = subcommand_names(app);
  const std::string name = argv[2];
  if (name != "help" && name != "--help" && std::find(names.begin(), names.end(), name) == names.end()) {
    fail(ErrorKind::kUsage, "there is no subcommand '{}'{}", shown(name), did_you_mean(name, names));
  }
  if (name == "help") arguments.erase(arguments.begin() + 1);
  return arguments;
}

int work_and_report(const CLI::App& command, const Work& work) {
  try {
    return work();
  } catch (const OptionError& error) {
    const auto name_of = [&](const std::string& field) { return flag_of(command, field); };
    return report(Error(error.kind(), error.message(name_of)), kExitUsage);
  } catch (const Error& error) {
    return report(error, error.kind() == ErrorKind::kUsage ? kExitUsage : kExitFailed);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "heed: out of memory; try fewer --threads or smaller batches\n");
  } catch (const std::exception& error) {
    return report(error, kExitFailed);
  }
  return kExitFailed;
}

}  // namespace

void add_common_options(CLI::App& app, CommonOptions& options) {
  add_integer(app, "--threads", options.threads, "Threads; 0: one for each processor", {0, 1024});
  app.add_flag("--quiet", options.quiet, "Nothing on standard error but errors");
}

std::pair<std::string, std::string> split_pair(const std::string& pair) {
  const size_t dash = pair.find('-');
  if (dash == std::string::npos || dash == 0 || dash + 1 == pair.size() ||
      pair.find_first_of("/.") != std::string::npos) {
    fail(ErrorKind::kUsage, "--pair takes two languages, such as de-en, not '{}'", pair);
  }
  return {pair.substr(0, dash), pair.substr(dash + 1)};
}

int run(int argc, const char* const* argv) {
  CLI::App app("Heed: a Transformer you can train, translate with and look inside.", "heed");
  app.require_subcommand(1);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // of all subcommands
  app.set_version_flag("--version", HEED_VERSION);
  app.footer(
      "Example:\n"
      "  heed translate \"Guten Morgen!\"\n"
      "  heed help SUBCOMMAND\n\n"
      "Lines in, lines out; results on standard output, all else on standard error; - is standard input.\n"
      "Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.");
  Work work;
  add_translate(app, work);
  add_attend(app, work);
  add_train(app, work);
  add_evaluate(app, work);
  add_score(app, work);
  add_align(app, work);
  add_classify(app, work);
  add_fill(app, work);
  add_info(app, work);
  add_convert(app, work);
  add_quantize(app, work);
  add_shortlist(app, work);
  add_generate(app, work);
  try {
    const std::vector<const char*> arguments = with_help_as_option(app, argc, argv);
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return work_and_report(app, [&] { return print(app, error); });
    std::fputs(describe(app, error).c_str(), stderr);
    return kExitUsage;
  } catch (const Error& error) {
    return report(error, kExitUsage);
  }
  set_log_handler([](LogLevel, const std::string& message) {
    std::fprintf(stderr, "heed: %s\n", printable(message).c_str());
  });
  watch_interrupts();
  return work_and_report(chosen(app), work);
}

}  // namespace heed::cli
