// heed classify

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/text/json_file.h"
#include "base/thread_pool.h"
#include "cli/jobs/classification.h"
#include "cli/jobs/line_job.h"
#include "cli/jobs/line_output.h"
#include "cli/jobs/source_lines.h"
#include "cli/options/command.h"
#include "cli/options/input_notes.h"
#include "cli/options/terminal.h"
#include "tasks/result_json.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {
namespace {

/// Lines per call of the classifier: enough for batches of similar lengths on all threads.
constexpr size_t kLinesPerCall = 4096;

struct ClassifyOptions {
  CommonOptions common;
  NamedModel model;
  std::vector<std::string> texts;
  std::string input, output;
  bool json = false, lossy = false;
  LineJobOptions job;
  const Command* command = nullptr;
};

std::string to_text(const std::vector<std::string>& labels, const decode::Classification* result) {
  if (result == nullptr) return "";
  return fmt::format("{}\t{:.6f}", printable(labels[result->best]), result->probabilities[result->best]);
}

int run_classify(const ClassifyOptions& o) {
  note_file_names(o.texts, o.common.quiet);
  SourceLines lines(o.texts, o.input, {.lossy = o.lossy, .part = o.job.part});
  LineOutput output = open_output(
      {.options = o.job, .command = o.command, .models = {find_named_model(o.model)}}, o.input, o.output);
  if (output.complete()) return kExitDone;
  lines.skip(output.lines_done());
  const EncoderModel model = classifier_model(
      load_model(models::ModelDirectory::open(find_named_model(o.model)), o.model.precision));
  const std::vector<std::string>& labels = model.loaded.classifier().labels();
  ThreadPool pool(o.common.threads);
  const decode::TextClassifier classifier(model.loaded.classifier(), model.loaded.context(), model.tokenizer,
                                          pool);
  const bool live = !o.common.quiet && stderr_is_terminal() && !(output.to_stdout() && stdout_is_terminal());
  if (!o.common.quiet && lines.from_terminal())
    std::fprintf(stderr, "Enter one text per line; end with Ctrl-D.\n");
  ProgressLine progress("lines", live ? lines.count() : 0, live);
  size_t written = output.lines_done(), truncated = 0;
  while (!lines.at_end()) {
    const std::vector<std::string> taken = lines.take(kLinesPerCall);
    std::vector<decode::ClassifierText> texts;
    for (const std::string& line : taken) {
      if (!strip(line).empty()) texts.push_back(classifier_text(line));
    }
    const std::vector<decode::Classification> results = classifier.classify(texts, &interrupted());
    if (interrupted()) return kExitInterrupted;
    auto next = results.begin();
    for (const std::string& line : taken) {
      const decode::Classification* result = strip(line).empty() ? nullptr : &*next++;
      truncated += result != nullptr && result->truncated ? 1 : 0;
      output.write_line(o.json ? decode::to_json(classifier_text(line), labels, result).dump()
                               : to_text(labels, result));
      output.end_input_line();
    }
    written += taken.size();
    progress.show(written);
    output.flush();
  }
  output.commit();
  progress.clear();
  if (!o.common.quiet && truncated > 0) {
    std::fprintf(stderr, "heed: %s truncated to the model's maximum of %lld tokens\n",
                 counted(truncated, "text").c_str(),
                 static_cast<long long>(model.loaded.classifier().max_length()));
  }
  return kExitDone;
}

}  // namespace

void add_classify(Command& app, Work& work) {
  auto o = std::make_shared<ClassifyOptions>();
  Command* command = app.add_subcommand("classify", "Classify texts, line by line");
  command->footer(
      "Examples:\n  heed classify \"a fine film\" --model my-classifier\n"
      "  heed classify --input reviews.txt --model my-classifier --json\n\n"
      "One output line per input line: the most probable class, a tab, and its probability; blank lines "
      "stay\n"
      "blank. A tab in a line separates two texts, for models that classify pairs. Texts longer than the\n"
      "model's maximum are truncated.");
  command->add_option("TEXT", o->texts, "Texts to classify; default: the lines of --input")->take_all();
  add_named_model_option(*command, o->model);
  command->add_option("--input", o->input, "Read lines from this file; -: standard input [default: -]")
      ->type_name("F");
  command->add_option("--output", o->output, "Write to this file instead of standard output")->type_name("F");
  command->add_switch("--json", o->json,
                      "One JSON object per line: text, label, probability, probabilities of all classes");
  add_precision_option(*command, o->model.precision);
  command->group(kInputOptions);
  command->add_switch("--lossy", o->lossy, "Replace invalid UTF-8 instead of failing");
  add_line_job_options(*command, o->job);
  add_common_options(*command, o->common);
  o->command = command;
  command->callback([o, &work] { work = [o] { return run_classify(*o); }; });
}

}  // namespace heed::cli
