// Shared by all subcommands. Each subcommand has its own file NAME_command.cc with a function that adds it to
// the command line; run.cc calls them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "cli/options/command_line.h"
#include "cli/options/interrupts.h"

namespace heed::cli {

constexpr int kExitDone = 0, kExitFailed = 1, kExitUsage = 2, kExitInterrupted = 130;

/// Titles of groups of options in the help; what stands before the first group are the common options. Those
/// that most subcommands have come last.
constexpr const char* kCommonOptions = "Common options";
constexpr const char* kModelOptions = "Model";
constexpr const char* kSearchOptions = "Search";
constexpr const char* kSamplingOptions = "Sampling";
constexpr const char* kOutputOptions = "Output";
constexpr const char* kInputOptions = "Input";
constexpr const char* kLargeFileOptions = "Large files";
constexpr const char* kGeneralOptions = "General options";

/// Options of every subcommand that computes.
struct CommonOptions {
  int threads = 0;
  bool quiet = false;
};

/// Adds --threads and --quiet, which end the options of a subcommand.
void add_common_options(Command& app, CommonOptions& options);
/// Adds --quiet alone, for a subcommand that computes little.
void add_quiet(Command& app, bool& quiet);

/// "de-en" -> {"de", "en"}; codes without a region or script in lower case, "DE-EN" too. Throws kUsage unless
/// it is two words with a dash between them.
std::pair<std::string, std::string> split_pair(const std::string& pair);

/// A subcommand's work; returns the exit status. Errors are thrown.
using Work = std::function<int()>;

/// Adds a subcommand, whose work is run(options) if it is chosen.
template <typename Argument, typename Options = std::remove_cvref_t<Argument>>
std::pair<Command*, Options*> add_command(Command& app, Work& work, const std::string& name,
                                          const std::string& help, int (*run)(Argument)) {
  const auto options = std::make_shared<Options>();
  Command* command = app.add_subcommand(name, help);
  command->callback([options, run, &work] { work = [options, run] { return run(*options); }; });
  return {command, options.get()};
}

/// Each adds a subcommand and sets `work` when it is chosen.
void add_translate(Command& app, Work& work);
void add_attend(Command& app, Work& work);
void add_train(Command& app, Work& work);
void add_evaluate(Command& app, Work& work);
void add_heads(Command& app, Work& work);
void add_lens(Command& app, Work& work);
void add_attribute(Command& app, Work& work);
void add_patch(Command& app, Work& work);
void add_score(Command& app, Work& work);
void add_align(Command& app, Work& work);
void add_classify(Command& app, Work& work);
void add_fill(Command& app, Work& work);
void add_embed(Command& app, Work& work);
void add_info(Command& app, Work& work);
void add_convert(Command& app, Work& work);
void add_quantize(Command& app, Work& work);
void add_shortlist(Command& app, Work& work);
void add_generate(Command& app, Work& work);
void add_serve(Command& app, Work& work);
void add_verify(Command& app, Work& work);

/// Runs the command line; returns the exit status.
int run(int argc, const char* const* argv);

}  // namespace heed::cli
