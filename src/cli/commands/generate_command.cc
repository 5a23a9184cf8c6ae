// heed generate: continues prompts with a language model.

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text/json_file.h"
#include "base/thread_pool.h"
#include "cli/files/model_lookup.h"
#include "cli/jobs/resumable/line_job.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/jobs/source_lines.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "cli/options/option_flags.h"
#include "tasks/generate_options.h"
#include "tasks/generation_settings.h"
#include "tasks/model_files.h"
#include "tasks/result_json.h"
#include "text/unicode/utf8.h"

namespace heed::cli {
namespace {

struct GenerateArguments {
  CommonOptions common;
  ModelChoice model;
  GenerateOptions options;
  int samples = 1;
  std::vector<std::string> prompts;
  std::string input, output;
  bool prompt = true, json = false, lossy = false;
  LineJobOptions job;
};

void explain_ending(const GenerateArguments& o, const models::LanguageModel& model,
                    tasks::TextEnding ending) {
  if (o.common.quiet || ending != tasks::TextEnding::kPositions) return;
  std::fprintf(stderr, "heed: the text ends at the model's maximum length of %lld tokens\n",
               static_cast<long long>(model.max_length()));
}

/// One sample of one prompt, written token by token.
int generate_live(const GenerateArguments& o, const tasks::LanguageModelFiles& model,
                  const tasks::TextGenerator& generator, LineOutput& output) {
  const std::string prompt = o.prompts.empty() ? "" : o.prompts[0];
  if (o.prompt) output.write(prompt);
  output.flush();
  const auto show = [&](std::string_view text) {
    output.write(text);
    output.flush();
  };
  tasks::Generation made;
  try {
    made = generator.generate(prompt, 0, {.stop = stop_on_interrupt(), .show = show});
  } catch (const Cancelled&) {
    output.write("\n");
    output.flush();
    throw;
  }
  output.write("\n");
  output.commit();
  explain_ending(o, model.loaded.language_model(), made.texts.front().ending);
  return kExitDone;
}

/// Each sample under a heading.
void write(const GenerateArguments& o, const tasks::Generation& generation, uint64_t number,
           LineOutput& output) {
  for (size_t sample = 0; sample < generation.texts.size(); ++sample) {
    const tasks::GeneratedText& text = generation.texts[sample];
    if (o.json) {
      output.write_line(tasks::to_json(generation, text, sample).dump());
      continue;
    }
    output.write(fmt::format("== {}", number));
    if (o.samples > 1) output.write(fmt::format(" [{}]", sample + 1));
    output.write_line("");
    output.write_line((o.prompt ? generation.prompt : "") + text.text);
  }
  output.flush();
}

int run_generate(GenerateArguments o) {
  if (!o.prompts.empty() && !o.input.empty()) {
    fail(ErrorKind::kUsage, "PROMPT and --input exclude each other: give one of them");
  }
  for (std::string& prompt : o.prompts) {
    if (!o.lossy && find_invalid_utf8(prompt)) {
      fail(ErrorKind::kText, "the prompt is not UTF-8: convert it, or give --lossy");
    }
    prompt = replace_invalid_utf8(prompt);
  }
  if (!o.job.part.is_whole() && o.input.empty()) {
    fail(ErrorKind::kUsage, "--part takes a part of a file: give --input");
  }
  const ModelInventory files = find_language_model(o.model);
  const bool is_one_line = o.json && o.samples == 1;  // beam search may find fewer texts than samples
  LineOutput output = open_output(
      {.options = o.job, .models = {files.directory()}, .outputs_per_line = is_one_line ? 1U : 0U}, o.input,
      o.output);
  if (output.complete()) return kExitDone;
  const tasks::LanguageModelFiles model = tasks::with_tokenizer(load_model(files, o.model.precision));
  ThreadPool pool(o.common.threads);
  const tasks::TextGenerator generator(model.loaded.language_model(), model.loaded.context(), model.tokenizer,
                                       pool, tasks::generator_options(model.loaded, o.options, o.samples));
  if (o.prompts.size() <= 1 && o.input.empty() && o.samples == 1 && !o.json) {
    return generate_live(o, model, generator, output);
  }
  // Prompts given as arguments may contain line breaks; in a file, each line is a prompt.
  std::optional<SourceLines> lines;
  if (!o.input.empty())
    lines.emplace(std::vector<std::string>{}, o.input,
                  LineReaderOptions{.lossy = o.lossy, .part = o.job.part});
  if (lines) lines->skip(output.lines_done());
  const std::vector<std::string> given = o.prompts.empty() ? std::vector<std::string>{""} : o.prompts;
  size_t taken = 0;
  uint64_t number = lines ? lines->lines_before() : 0;
  const uint64_t first_prompt = number;
  const auto next = [&](std::string& prompt) {
    if (lines) return lines->next(prompt);
    if (taken == given.size()) return false;
    prompt = given[taken++];
    return true;
  };
  generator.generate(next,
                     [&](const tasks::Generation& made) {
                       write(o, made, ++number, output);
                       output.end_input_line();
                     },
                     {.stop = stop_on_interrupt(), .first_prompt = first_prompt});
  output.commit(lines ? lines->fingerprint() : std::nullopt);
  return kExitDone;
}

}  // namespace

void add_generate(Command& app, Work& work) {
  auto [command, o] =
      add_command(app, work, "generate", "Continue a text with a language model", run_generate);
  command->footer(R"(Examples:
  heed generate "Once upon a time" --model my-model
  heed generate "ROMEO:" --model my-model --samples 3 --temperature 0.8 --seed 7
  heed generate --input prompts.txt --model my-model --greedy --json

A single sample of a single prompt is written token by token. Several samples are written under headings, ==
PROMPT [SAMPLE], for each prompt in descending order of their scores. With --input, each line is a prompt. Without a
prompt, the text starts from the model's start token. The same options and seed give the same text with any
number of threads.)");
  command->add_option("PROMPT", o->prompts, "Text to continue; may be repeated")->take_all();
  command->add_option("--model DIR", o->model.model, "Directory of a language model [default: $HEED_MODEL]");
  command->add_option("--input F", o->input, "Read prompts from this file, one per line; -: standard input");
  command->add_option("--output F", o->output, "Write to this file instead of standard output");
  command->add_switch(
      "--json", o->json,
      "One JSON object per sample: prompt, text, tokens, log-probabilities, reason of its end");
  command->group(kOutputOptions);
  add_integer(*command, "--samples", o->samples, "Samples per prompt",
              {models::kCounts.least, models::kCounts.most});
  command->add_switch("--prompt", o->prompt, "Write the prompt before the new text");
  const auto add = [&to = *command, &options = o->options](const search::OptionRow& row, auto field,
                                                           const auto&... range) {
    to.group(title_of(row.group));
    add_row(to, row, options.*field, range...);
  };
  tasks::visit_generate_options(add);
  command->group(kInputOptions);
  command->add_switch("--lossy", o->lossy, "Replace invalid UTF-8 instead of failing");
  add_precision_option(*command, o->model.precision);
  add_line_job_options(*command, o->job);
  add_common_options(*command, o->common);
}

}  // namespace heed::cli
