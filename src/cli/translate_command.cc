// heed translate

#include <cctype>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/files/file.h"
#include "base/text/json_file.h"
#include "base/thread_pool.h"
#include "cli/ablation.h"
#include "cli/checked_options.h"
#include "cli/command.h"
#include "cli/input_notes.h"
#include "cli/line_job.h"
#include "cli/line_output.h"
#include "cli/search_flags.h"
#include "cli/source_lines.h"
#include "cli/terminal.h"
#include "cli/translation.h"
#include "data/corpus/whole_text.h"
#include "decode/document.h"
#include "decode/result_json.h"
#include "decode/word_alignment.h"
#include "inspect/trace/head_ablation.h"
#include "text/utf8.h"

namespace heed::cli {
namespace {

struct TranslateOptions {
  CommonOptions common;
  ModelChoice model;
  decode::TranslationChoices choices;
  std::vector<std::string> texts, ablate;
  std::string input, output, glossary, format = "text";
  bool scores = false, json = false, split_sentences = true, placeholders = true, lossy = false;
  LineJobOptions job;
  const Command* command = nullptr;
};

decode::TranslatorOptions translator_options(const TranslateOptions& o, const models::LoadedModel& model) {
  decode::TranslationChoices choices = o.choices;
  choices.whole_lines = !o.split_sentences;
  choices.no_placeholders = !o.placeholders;
  if (o.glossary == "-") {
    fail(ErrorKind::kUsage,
         "--glossary cannot be standard input ('-'), which is for the text: give the name of a file");
  }
  if (!o.glossary.empty()) choices.glossary = std::make_shared<const Glossary>(Glossary::load(o.glossary));
  decode::TranslatorOptions options = decode::default_translator_options(model);
  decode::apply(choices, options);
  return options;
}

/// Writes the requested columns: score, translation, alignment. With --nbest N, each source line gives N
/// lines, best first; missing translations are empty lines.
void write(const TranslateOptions& o, const decode::Translation& translation, LineOutput& output) {
  if (o.json) {
    output.write_line(decode::to_json(translation, o.choices.align).dump());
    return;
  }
  for (size_t rank = 0; rank < static_cast<size_t>(o.choices.nbest); ++rank) {
    const bool found = rank < translation.candidates.size();
    std::string line;
    if (o.scores && found) line += fmt::format("{:.6f}", translation.candidates[rank].score);
    if (o.scores) line += '\t';
    if (found) line += within_line(translation.candidates[rank].text, o.scores || o.choices.align);
    if (o.choices.align) line += '\t';
    if (o.choices.align && found) line += decode::to_pharaoh(translation.candidates[rank].alignment);
    output.write_line(line);
  }
}

/// A model with what a translator needs beside it. Stays where it is made: the translator refers to the rest.
struct OpenTranslator {
  /// `align`: translations come with alignments even if --alignment is absent.
  OpenTranslator(const TranslateOptions& o, bool align)
      : model(load_translation_model(o.model)), pool(o.common.threads), heads(heads_off(o.ablate)) {
    require_heads(model.loaded.seq2seq(), heads);
    nn::Context context = model.loaded.context();
    context.head_scales = &heads;
    options = translator_options(o, model.loaded);
    if (align) options.align = true;
    translator.emplace(model.loaded.seq2seq(), context, model.tokenizer, pool, options);
  }
  OpenTranslator(const OpenTranslator&) = delete;
  OpenTranslator& operator=(const OpenTranslator&) = delete;

  const TranslationModel model;
  ThreadPool pool;
  const nn::HeadScales heads;
  decode::TranslatorOptions options;
  std::optional<decode::Translator> translator;
};

/// Writes what was noticed about the first lines to standard error, once.
class NotedInput {
 public:
  NotedInput(std::string source_language, bool quiet) : notes_(std::move(source_language)), done_(quiet) {}
  void add(std::string_view line) {
    if (!done_ && !notes_.add(line)) write();
  }
  /// At the end of the input, which may be short.
  void write() {
    if (std::exchange(done_, true)) return;
    const std::string note = notes_.note();
    noted_ = !note.empty();
    if (noted_) std::fprintf(stderr, "note: %s\n", note.c_str());
  }
  bool noted() const { return noted_; }

 private:
  InputNotes notes_;
  bool done_, noted_ = false;
};

/// Translates whole documents instead of lines.
int run_translate_documents(const TranslateOptions& o) {
  if (!o.texts.empty() && !o.input.empty()) {
    fail(ErrorKind::kUsage, "give either documents as arguments or --input, not both");
  }
  if (o.json || o.scores || o.choices.align || o.choices.nbest > 1 || o.choices.sample ||
      !o.choices.constraints.prefix.empty() || !o.choices.constraints.required.empty() || !o.placeholders ||
      o.job.resume || !o.job.part.is_whole()) {
    fail(ErrorKind::kUsage,
         "--format {} translates whole documents: --json, --scores, --alignment, --nbest, --sample, "
         "--prefix, --require, --no-placeholders, --part and --resume only work with --format text",
         o.format);
  }
  std::vector<std::string> documents = o.texts;
  const bool arguments = !documents.empty();
  if (!arguments) documents.push_back(read_whole_text(o.input.empty() ? "-" : o.input));
  LineOutput output(o.output);
  const OpenTranslator open(o, /*align=*/true);
  const auto format = o.format == "html" ? decode::DocumentFormat::kHtml : decode::DocumentFormat::kMarkdown;
  for (const std::string& document : documents) {
    const std::string text = o.lossy ? replace_invalid_utf8(document) : document;
    const std::string translation =
        decode::translate_document(*open.translator, text, format, &interrupted());
    if (interrupted()) return kExitInterrupted;
    output.write(translation);
    if (arguments) output.write("\n");
  }
  output.commit();
  return kExitDone;
}

/// Whether a line contains a closing tag such as "</b>".
bool has_closing_tag(std::string_view line) {
  for (size_t at = line.find("</"); at != line.npos; at = line.find("</", at + 1)) {
    size_t end = at + 2;
    while (end < line.size() && std::isalnum(static_cast<unsigned char>(line[end])) != 0) ++end;
    if (end > at + 2 && end < line.size() && line[end] == '>') return true;
  }
  return false;
}

int run_translate(const TranslateOptions& o) {
  note_file_names(o.texts, o.common.quiet);
  if (o.format != "text") return run_translate_documents(o);
  SourceLines lines(o.texts, o.input, {.lossy = o.lossy, .part = o.job.part});
  LineOutput output = open_output({.options = o.job,
                                   .command = o.command,
                                   .models = {find_translation_model(o.model)},
                                   .outputs_per_line = o.json ? 1 : static_cast<uint64_t>(o.choices.nbest)},
                                  o.input, o.output);
  if (output.complete()) return kExitDone;
  lines.skip(output.lines_done());
  const OpenTranslator open(o, /*align=*/false);
  const decode::Translator& translator = *open.translator;

  const bool live = !o.common.quiet && stderr_is_terminal() && !(output.to_stdout() && stdout_is_terminal());
  if (!o.common.quiet && lines.from_terminal())
    std::fprintf(stderr, "Enter one sentence per line; end with Ctrl-D.\n");
  ProgressLine progress("lines", live ? lines.count() : 0, live);
  const double all_bytes = static_cast<double>(lines.bytes());
  double bytes_before = 0;
  size_t written = output.lines_done();
  bool markup = false;
  NotedInput noted(open.model.tokenizer.source_language(), o.common.quiet);
  decode::Translator::Control control;
  control.cancelled = &interrupted();
  decode::Translator::Progress last;
  control.progress = [&](const decode::Translator::Progress& done) {
    last = done;
    progress.show(written + done.lines, all_bytes > 0 ? (bytes_before + done.bytes) / all_bytes : -1);
  };
  while (!lines.at_end()) {
    // Interactive input and pipes: translate as soon as no further line is available.
    size_t taken = 0;
    if (open.options.search.sample) control.first_line = lines.lines_before();
    last = {};
    const bool whole = translator.translate(
        [&](std::string& line) {
          if (taken > 0 && !lines.ready()) return false;
          const bool more = lines.next(line);
          taken += more ? 1 : 0;
          if (more) noted.add(line);
          markup = markup || has_closing_tag(line);
          return more;
        },
        [&](const decode::Translation& translation) {
          write(o, translation, output);
          output.end_input_line();
        },
        control);
    if (!whole) return kExitInterrupted;
    written += taken;
    bytes_before += last.bytes;
    output.flush();
  }
  output.commit();
  progress.clear();
  noted.write();
  if (markup && !noted.noted() && !o.common.quiet) {
    std::fprintf(stderr,
                 "note: the text contains tags, which are translated like words; --format html keeps them\n");
  }
  if (live) {
    const double seconds = progress.seconds();
    std::fprintf(stderr, "%s in %.2f s, %.0f lines/s\n", counted(written, "line").c_str(), seconds,
                 static_cast<double>(written) / seconds);
  }
  return kExitDone;
}

void add_sampling_options(Command& command, TranslateOptions& o) {
  command.group(kSamplingOptions);
  Option* sample =
      command.add_switch("--sample", o.choices.sample, "Sample translations instead of searching");
  add_number(command, "--temperature", o.choices.temperature,
             "Sampling temperature [default: the model's, or 1]", {.least = 0, .above_least = true})
      ->needs(sample)
      ->type_name("T");
  add_integer(command, "--top-k", o.choices.top_k,
              "Sample from the K most likely tokens; 0: all [default: the model's, or 0]", {})
      ->needs(sample)
      ->type_name("K");
  add_number(command, "--top-p", o.choices.top_p,
             "Sample from the most likely tokens whose probabilities sum to P (nucleus sampling) [default: "
             "the model's, or 1]",
             {.least = 0, .most = 1, .above_least = true})
      ->needs(sample)
      ->type_name("P");
  add_integer(command, "--seed", o.choices.seed, "Seed for sampling", kAnySeed)->needs(sample);
}

}  // namespace

void add_translate(Command& app, Work& work) {
  auto o = std::make_shared<TranslateOptions>();
  Command* command = app.add_subcommand("translate", "Translate text, line by line");
  command->footer(
      "Examples:\n  heed translate \"Der Hund schläft.\"\n"
      "  heed translate --input german.txt --output english.txt --beam 1\n"
      "  heed translate --json --nbest 3 < german.txt\n"
      "  heed translate --format html --input seite.html --output page.html\n\n"
      "One output line per input line; blank lines stay blank. --scores and --alignment add columns: score,\n"
      "translation, alignment, separated by tabs. --nbest N writes N lines per input line, best first.\n"
      "The score is the log-probability of the translation divided by length^A, see --length-penalty.");
  command->add_option("TEXT", o->texts, "Text to translate; default: the lines of --input")->take_all();
  add_model_options(*command, o->model);
  command->add_option("--input", o->input, "Read lines from this file; -: standard input [default: -]")
      ->type_name("F");
  command->add_option("--output", o->output, "Write to this file instead of standard output")->type_name("F");
  add_choice(*command, "--format", o->format,
             "text: line by line; html or markdown: the input is one document, and its markup is kept",
             {"text", "html", "markdown"})
      ->type_name("FORMAT");
  command->add_switch("--json", o->json,
                      "One JSON object per line: source, translation, score, pieces, alternatives");
  command->group(kOutputOptions);
  add_integer(*command, "--nbest", o->choices.nbest, "Translations per line", {1, 1024});
  command->add_switch("--scores", o->scores, "Write the score in a column before the translation");
  command->add_switch("--alignment", o->choices.align,
                      "Write the word alignment in a column, as source-target pairs such as 0-0 1-2");
  command->group(kInputOptions);
  command->add_switch("--split-sentences", o->split_sentences,
                      "Split lines into sentences and translate each separately");
  command->add_switch(
      "--placeholders", o->placeholders,
      "Copy URLs, code, numbers, emojis etc. unchanged instead of translating them like other text");
  command
      ->add_option("--glossary", o->glossary,
                   "Required translations of terms, one per line: source TAB target; terms match as they are "
                   "written, or with a capital first letter, not inflected")
      ->type_name("F.tsv");
  command->add_switch("--lossy", o->lossy, "Replace invalid UTF-8 instead of failing");
  add_constraint_options(*command, o->choices.constraints);
  add_search_options(*command, o->choices.search);
  add_sampling_options(*command, *o);
  add_language_options(*command, o->model);
  add_precision_option(*command, o->model.precision);
  add_shortlist_option(*command, o->model.shortlist);
  add_ablate_option(*command, o->ablate);
  add_line_job_options(*command, o->job);
  add_common_options(*command, o->common);
  o->command = command;
  command->callback([o, &work] { work = [o] { return run_translate(*o); }; });
}

}  // namespace heed::cli
