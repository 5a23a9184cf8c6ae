// --part and --resume: large files, spread over machines and continued after interruptions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/jobs/resumable/line_output.h"
#include "cli/options/command_line.h"
#include "data/corpus/readers/pairs_reader.h"

namespace heed::cli {

struct LineJobOptions {
  FilePart part = {};
  bool resume = false;
  std::string part_text = {};        ///< --part as given
  const Command* command = nullptr;  ///< its name and the options that were given decide about the output
};

/// Adds --part and --resume.
void add_line_job_options(Command& command, LineJobOptions& options);

/// What decides about a job's output, besides its input.
struct LineJob {
  LineJobOptions options;
  std::vector<std::string> models;  ///< directories
  uint64_t outputs_per_line = 1;    ///< output lines for each input line; 0: varies
};

/// The output of a job: with --resume a file that is continued, else LineOutput(path). Throws kUsage for
/// --resume without input and output files, or for a continued file of another job.
LineOutput open_output(const LineJob& job, const std::string& input, const std::string& output);
LineOutput open_output(const LineJob& job, const PairsInput& input, const std::string& output);

}  // namespace heed::cli
