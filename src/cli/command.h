// Shared by all subcommands. Each subcommand has its own file NAME_command.cc with a function that adds it to
// the command line; run.cc calls them.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "cli/command_line.h"
#include "cli/interrupts.h"

namespace heed::cli {

constexpr int kExitDone = 0, kExitFailed = 1, kExitUsage = 2, kExitInterrupted = 130;

/// Options of every subcommand that computes.
struct CommonOptions {
  int threads = 0;
  bool quiet = false;
};

/// Adds --threads and --quiet.
void add_common_options(Command& app, CommonOptions& options);

/// "de-en" -> {"de", "en"}; codes without a region or script in lower case, "DE-EN" too. Throws kUsage unless
/// it is two words with a dash between them.
std::pair<std::string, std::string> split_pair(const std::string& pair);

/// A subcommand's work; returns the exit status. Errors are thrown.
using Work = std::function<int()>;

/// Each adds a subcommand and sets `work` when it is chosen.
void add_translate(Command& app, Work& work);
void add_attend(Command& app, Work& work);
void add_train(Command& app, Work& work);
void add_evaluate(Command& app, Work& work);
void add_heads(Command& app, Work& work);
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
