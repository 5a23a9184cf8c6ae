// Texts line by line: what the subcommands that classify, embed and fill have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/files/model_lookup.h"
#include "cli/jobs/resumable/line_job.h"
#include "cli/jobs/source_lines.h"
#include "cli/options/command.h"

namespace heed::cli {

struct TextLinesOptions {
  CommonOptions common;
  NamedModel model;
  std::vector<std::string> texts;
  std::string input, output;
  bool lossy = false;
  LineJobOptions job;
};

/// Adds TEXT, --model, --input and --output, which begin the options of a subcommand.
void add_text_lines(Command& command, TextLinesOptions& options, const std::string& texts = "Texts",
                    const std::string& written = "Write to this file");
/// Adds --precision, --lossy, --part and --resume, which end them before the general options.
void add_text_lines_end(Command& command, TextLinesOptions& options);

/// Throws the errors of SourceLines.
SourceLines open_lines(const TextLinesOptions& options);
/// The output for these lines, which are skipped as far as it has them. Throws the errors of open_output().
LineOutput open_output(const TextLinesOptions& options, const ModelInventory& model, SourceLines& lines);

/// Calls process(lines) for each part of the input, of which `done` lines were skipped; it returns how many
/// texts were longer than `max_length` tokens. Shows progress, and says at the end how many texts were
/// truncated.
void process_lines(const TextLinesOptions& options, SourceLines& lines, uint64_t done, int64_t max_length,
                   const std::function<size_t(const std::vector<std::string>&)>& process);

/// Says how many texts were truncated, if any.
void note_truncated(size_t texts, int64_t max_length, bool quiet);

}  // namespace heed::cli
