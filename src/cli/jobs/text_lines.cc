#include "cli/jobs/text_lines.h"

#include <cstdio>

#include "base/counted.h"
#include "cli/options/input_notes.h"
#include "cli/options/terminal.h"

namespace heed::cli {
namespace {

/// Lines per call: enough for batches of similar lengths on all threads.
constexpr size_t kLinesPerCall = 4096;

}  // namespace

void add_text_lines(Command& command, TextLinesOptions& o, const std::string& texts,
                    const std::string& written) {
  command.add_option("TEXT", o.texts, texts + "; default: the lines of --input")->take_all();
  add_named_model_option(command, o.model);
  command.add_option("--input F", o.input, "Read lines from this file; -: standard input [default: -]");
  command.add_option("--output F", o.output, written + " instead of standard output");
}

void add_text_lines_end(Command& command, TextLinesOptions& o) {
  add_precision_option(command, o.model.precision);
  command.group(kInputOptions);
  command.add_switch("--lossy", o.lossy, "Replace invalid UTF-8 instead of failing");
  add_line_job_options(command, o.job);
}

SourceLines open_lines(const TextLinesOptions& o) {
  note_file_names(o.texts, o.common.quiet);
  return SourceLines(o.texts, o.input, {.lossy = o.lossy, .part = o.job.part});
}

LineOutput open_output(const TextLinesOptions& o, const ModelInventory& model, SourceLines& lines) {
  LineOutput output = open_output({.options = o.job, .models = {model.directory()}}, o.input, o.output);
  lines.skip(output.lines_done());
  return output;
}

void process_lines(const TextLinesOptions& o, SourceLines& lines, uint64_t done, int64_t max_length,
                   const std::function<size_t(const std::vector<std::string>&)>& process) {
  const bool to_terminal = (o.output.empty() || o.output == "-") && stdout_is_terminal();
  const bool live = !o.common.quiet && stderr_is_terminal() && !to_terminal;
  if (!o.common.quiet && lines.from_terminal())
    std::fprintf(stderr, "Enter one text per line; end with Ctrl-D.\n");
  ProgressLine progress("lines", live ? lines.count() : 0, live);
  size_t truncated = 0;
  while (!lines.at_end()) {
    const std::vector<std::string> taken = lines.take(kLinesPerCall);
    truncated += process(taken);
    progress.show(done += taken.size());
  }
  progress.clear();
  note_truncated(truncated, max_length, o.common.quiet);
}

void note_truncated(size_t texts, int64_t max_length, bool quiet) {
  if (quiet || texts == 0) return;
  std::fprintf(stderr, "heed: %s truncated to the model's maximum of %lld tokens\n",
               counted(texts, "text").c_str(), static_cast<long long>(max_length));
}

}  // namespace heed::cli
