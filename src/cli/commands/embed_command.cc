// heed embed: a vector for each line.

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "cli/jobs/text_lines.h"
#include "cli/options/checked_options.h"
#include "io/npy.h"
#include "tasks/model_files.h"
#include "tasks/text_embedder.h"

namespace heed::cli {
namespace {

struct EmbedOptions {
  TextLinesOptions texts;
  std::string pooling;
  std::optional<bool> normalize;
  std::optional<std::string> prompt;
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

size_t truncated(const TextVectors& found) {
  return static_cast<size_t>(std::ranges::count(found.truncated, true));
}

/// One array of all vectors.
int write_array(const EmbedOptions& o, const tasks::TextEmbedder& embedder, SourceLines& lines) {
  std::vector<float> all;
  const auto keep = [&](const std::vector<std::string>& taken) {
    const TextVectors found = embedder.embed(taken, stop_on_interrupt());
    const float* first = found.vectors.data<float>();
    all.insert(all.end(), first, first + found.vectors.size());
    return truncated(found);
  };
  process_lines(o.texts, lines, 0, embedder.max_length(), keep);
  const int64_t width = embedder.width();
  write_npy(o.texts.output, Tensor::from(all, {static_cast<int64_t>(all.size()) / width, width}));
  return kExitDone;
}

int write_lines(const EmbedOptions& o, const tasks::TextEmbedder& embedder, SourceLines& lines,
                LineOutput& output) {
  const auto write = [&](const std::vector<std::string>& taken) {
    const TextVectors found = embedder.embed(taken, stop_on_interrupt());
    for (size_t n = 0; n < taken.size(); ++n) {
      const float* vector = found.vectors.data<float>() + static_cast<int64_t>(n) * embedder.width();
      output.write_line(to_json(taken[n], vector, embedder.width(), found.truncated[n]));
      output.end_input_line();
    }
    output.flush();
    return truncated(found);
  };
  process_lines(o.texts, lines, output.lines_done(), embedder.max_length(), write);
  output.commit(lines.fingerprint());
  return kExitDone;
}

int run_embed(const EmbedOptions& o) {
  const bool array = std::filesystem::path(o.texts.output).extension() == ".npy";
  if (array && o.texts.job.resume) {
    fail(ErrorKind::kUsage, "--resume continues JSON lines, not .npy: give --output another name");
  }
  if (o.texts.output.ends_with(".npy.gz") || o.texts.output.ends_with(".npy.zst")) {
    fail(ErrorKind::kUsage, "'{}': arrays are not compressed; give a name that ends in .npy", o.texts.output);
  }
  SourceLines lines = open_lines(o.texts);
  const ModelInventory files = find_named_model(o.texts.model, models::Task::kEmbedding);
  std::optional<LineOutput> output;
  if (!array) {
    output = open_output(o.texts, files, lines);
    if (output->complete()) return kExitDone;
  }
  models::LoadOptions load = load_options(o.texts.model.precision);
  load.encoder = true;
  const tasks::EncoderModel model =
      tasks::encoder_model(models::load_model(models::ModelDirectory::open(files), load));
  ThreadPool pool(o.texts.common.threads);
  const tasks::TextEmbedder embedder(model.loaded.encoder(), model.loaded.context(), model.tokenizer,
                                     tasks::embedding_settings(model.loaded, embedder_options(o)), pool);
  return array ? write_array(o, embedder, lines) : write_lines(o, embedder, lines, *output);
}

}  // namespace

void add_embed(Command& app, Work& work) {
  auto [command, o] =
      add_command(app, work, "embed", "Compute a vector for each line: sentence embeddings", run_embed);
  command->footer(R"(Examples:
  heed embed "The dog sleeps." --model all-MiniLM-L6-v2
  heed embed --input sentences.txt --output vectors.npy --model all-MiniLM-L6-v2

For directories of sentence-transformers, whose files say how the vectors of the tokens become one, and for
other encoders (BERT, RoBERTa, XLM-R, DistilBERT, MPNet, ModernBERT), by default with the mean. A name that
ends in .npy gives an array of NumPy, (lines, width) in float32, which is held in memory until it is
complete; otherwise one JSON object per line: text, embedding. Every line has a vector, also an empty one.
Texts longer than the model's maximum are truncated.)");
  add_text_lines(*command, o->texts, "Texts", "Write to this file (.npy: an array)");
  command->group("Vectors");
  add_choice(*command, "--pooling NAME", o->pooling,
             "How the vectors of the tokens become one: mean, cls (that of the first token), max or "
             "mean_sqrt_len_tokens [default: the model's, or mean]",
             pooling_words());
  command->add_switch("--normalize", o->normalize,
                      "Scale vectors to unit length (L2 norm) [default: the model's, or off]");
  command->add_option("--prompt NAME", o->prompt,
                      "Put a prompt of the model before each text, such as query or document [default: the "
                      "model's]");
  add_text_lines_end(*command, o->texts);
  add_common_options(*command, o->texts.common);
}

}  // namespace heed::cli
