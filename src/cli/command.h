// What all subcommands share. Each stands in a file of its own, NAME_command.cc, with one function that adds
// it to the command line; run.cc lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>

#include "cli/interrupts.h"

namespace heed::cli {

constexpr int kExitDone = 0, kExitFailed = 1, kExitUsage = 2, kExitInterrupted = 130;

/// Options of every subcommand that computes.
struct CommonOptions {
  int threads = 0;
  bool quiet = false;
};

/// Adds --threads and --quiet.
void add_common_options(CLI::App& app, CommonOptions& options);

/// "de-en" -> {"de", "en"}. Throws kUsage for anything but two words with a dash between them.
std::pair<std::string, std::string> split_pair(const std::string& pair);

/// A subcommand's work; returns the exit status. Errors are thrown.
using Work = std::function<int()>;

/// Each adds a subcommand and sets `work` when it is chosen.
void add_translate(CLI::App& app, Work& work);
void add_attend(CLI::App& app, Work& work);
void add_train(CLI::App& app, Work& work);
void add_evaluate(CLI::App& app, Work& work);
void add_score(CLI::App& app, Work& work);
void add_align(CLI::App& app, Work& work);
void add_classify(CLI::App& app, Work& work);
void add_fill(CLI::App& app, Work& work);
void add_info(CLI::App& app, Work& work);
void add_convert(CLI::App& app, Work& work);
void add_quantize(CLI::App& app, Work& work);
void add_shortlist(CLI::App& app, Work& work);
void add_generate(CLI::App& app, Work& work);

/// The command line, from arguments to exit status.
int run(int argc, const char* const* argv);

}  // namespace heed::cli
