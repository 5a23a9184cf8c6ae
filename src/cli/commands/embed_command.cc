// heed embed: a vector for each line.

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/thread_pool.h"
#include "cli/files/model_lookup.h"
#include "cli/jobs/line_job.h"
#include "cli/jobs/line_output.h"
#include "cli/jobs/source_lines.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "cli/options/input_notes.h"
#include "cli/options/terminal.h"
#include "io/npy.h"
#include "tasks/model_files.h"
#include "tasks/text_embedder.h"

namespace heed::cli {
namespace {

/// Texts per call of the embedder: enough for batches of similar lengths on all threads.
constexpr size_t kTextsPerCall = 4096;

struct EmbedOptions {
  CommonOptions common;
  NamedModel model;
  std::vector<std::string> texts;
  std::string input, output, pooling;
  std::optional<bool> normalize;
  std::optional<std::string> prompt;
  bool lossy = false;
  LineJobOptions job;
  const Command* command = nullptr;
};

std::vector<std::string> pooling_words() {
  std::vector<std::string> words;
  for (const auto& [name, pooling] : models::pooling_names()) words.push_back(name);
  return words;
}

EmbedderOptions embedder_options(const EmbedOptions& o) {
  EmbedderOptions options{.prompt = o.prompt};
  for (const auto& [name, pooling] : models::pooling_names()) {
    if (name == o.pooling) options.pooling = pooling;
  }
  if (o.normalize) options.normalize = *o.normalize;
  return options;
}

/// {"text": "...", "embedding": [0.5, ...]}, each number with the digits that identify a float32.
std::string to_json(const std::string& text, const float* vector, int64_t width, bool truncated) {
  std::string json = fmt::format("{{\"text\":{},\"embedding\":[", nlohmann::json(text).dump());
  for (int64_t n = 0; n < width; ++n) json += fmt::format("{}{}", n > 0 ? "," : "", vector[n]);
  return json + (truncated ? "],\"truncated\":true}" : "]}");
}

/// Reads the input and calls write(lines, vectors) for each part of it. Returns false if interrupted.
template <typename Write>
bool embed_lines(const EmbedOptions& o, const decode::TextEmbedder& embedder, SourceLines& lines,
                 uint64_t done, const Write& write) {
  const bool live = !o.common.quiet && stderr_is_terminal() && !(o.output.empty() && stdout_is_terminal());
  if (!o.common.quiet && lines.from_terminal())
    std::fprintf(stderr, "Enter one text per line; end with Ctrl-D.\n");
  ProgressLine progress("lines", live ? lines.count() : 0, live);
  size_t truncated = 0;
  while (!lines.at_end()) {
    const std::vector<std::string> taken = lines.take(kTextsPerCall);
    const TextVectors found = embedder.embed(taken, &interrupted());
    if (interrupted()) return false;
    for (const bool each : found.truncated) truncated += each ? 1 : 0;
    write(taken, found);
    progress.show(done += taken.size());
  }
  progress.clear();
  if (!o.common.quiet && truncated > 0) {
    std::fprintf(stderr, "heed: %s truncated to the maximum of %lld tokens\n",
                 counted(truncated, "text").c_str(), static_cast<long long>(embedder.max_length()));
  }
  return true;
}

/// One array of all vectors.
int write_array(const EmbedOptions& o, const decode::TextEmbedder& embedder, SourceLines& lines) {
  std::vector<float> all;
  const auto keep = [&](const std::vector<std::string>&, const TextVectors& found) {
    const float* first = found.vectors.data<float>();
    all.insert(all.end(), first, first + found.vectors.size());
  };
  if (!embed_lines(o, embedder, lines, 0, keep)) return kExitInterrupted;
  const int64_t width = embedder.width();
  write_npy(o.output, Tensor::from(all, {static_cast<int64_t>(all.size()) / width, width}));
  return kExitDone;
}

int write_lines(const EmbedOptions& o, const decode::TextEmbedder& embedder, SourceLines& lines,
                LineOutput& output) {
  const auto write = [&](const std::vector<std::string>& taken, const TextVectors& found) {
    for (size_t n = 0; n < taken.size(); ++n) {
      const float* vector = found.vectors.data<float>() + static_cast<int64_t>(n) * embedder.width();
      output.write_line(to_json(taken[n], vector, embedder.width(), found.truncated[n]));
      output.end_input_line();
    }
    output.flush();
  };
  if (!embed_lines(o, embedder, lines, output.lines_done(), write)) return kExitInterrupted;
  output.commit();
  return kExitDone;
}

int run_embed(const EmbedOptions& o) {
  const bool array = std::filesystem::path(o.output).extension() == ".npy";
  if (array && o.job.resume) {
    fail(ErrorKind::kUsage, "--resume continues JSON lines, not .npy: give --output another name");
  }
  if (o.output.ends_with(".npy.gz") || o.output.ends_with(".npy.zst")) {
    fail(ErrorKind::kUsage, "'{}': arrays are not compressed; give a name that ends in .npy", o.output);
  }
  note_file_names(o.texts, o.common.quiet);
  SourceLines lines(o.texts, o.input, {.lossy = o.lossy, .part = o.job.part});
  const std::string directory = find_named_model(o.model);
  std::optional<LineOutput> output;
  if (!array) {
    output = open_output({.options = o.job, .command = o.command, .models = {directory}}, o.input, o.output);
    if (output->complete()) return kExitDone;
    lines.skip(output->lines_done());
  }
  models::LoadOptions load = load_options(o.model.precision);
  load.encoder = true;
  const decode::EncoderModel model = decode::encoder_model(models::load_model(directory, load));
  ThreadPool pool(o.common.threads);
  const decode::TextEmbedder embedder(model.loaded.encoder(), model.loaded.context(), model.tokenizer,
                                      decode::embedding_settings(model.loaded, embedder_options(o)), pool);
  return array ? write_array(o, embedder, lines) : write_lines(o, embedder, lines, *output);
}

}  // namespace

void add_embed(Command& app, Work& work) {
  auto o = std::make_shared<EmbedOptions>();
  Command* command = app.add_subcommand("embed", "Compute a vector for each line: sentence embeddings");
  command->footer(
      "Examples:\n  heed embed \"The dog sleeps.\" --model all-MiniLM-L6-v2\n"
      "  heed embed --input sentences.txt --output vectors.npy --model all-MiniLM-L6-v2\n\n"
      "For directories of sentence-transformers, whose files say how the vectors of the tokens become one, "
      "and\n"
      "for other encoders (BERT, RoBERTa, XLM-R, DistilBERT, MPNet, ModernBERT), by default with the mean. "
      "A\n"
      "name that ends in .npy gives an array of NumPy, (lines, width) in float32, which is held in memory "
      "until "
      "it\n"
      "is complete; otherwise one JSON object per line: text, embedding. Every line has a vector, also an "
      "empty\n"
      "one. Texts longer than the model's maximum are truncated.");
  command->add_option("TEXT", o->texts, "Texts; default: the lines of --input")->take_all();
  add_named_model_option(*command, o->model);
  command->add_option("--input", o->input, "Read lines from this file; -: standard input [default: -]")
      ->type_name("F");
  command->add_option("--output", o->output, "Write to this file (.npy: an array) instead of standard output")
      ->type_name("F");
  command->group("Vectors");
  add_choice(*command, "--pooling", o->pooling,
             "How the vectors of the tokens become one: mean, cls (that of the first token), max or "
             "mean_sqrt_len_tokens [default: the model's, or mean]",
             pooling_words())
      ->type_name("NAME");
  command->add_switch("--normalize", o->normalize,
                      "Divide vectors by their length, which is 1 then [default: the model's, or off]");
  command
      ->add_option("--prompt", o->prompt,
                   "Put a prompt of the model before each text, such as query or document [default: the "
                   "model's]")
      ->type_name("NAME");
  add_precision_option(*command, o->model.precision);
  command->group(kInputOptions);
  command->add_switch("--lossy", o->lossy, "Replace invalid UTF-8 instead of failing");
  add_line_job_options(*command, o->job);
  add_common_options(*command, o->common);
  o->command = command;
  command->callback([o, &work] { work = [o] { return run_embed(*o); }; });
}

}  // namespace heed::cli
