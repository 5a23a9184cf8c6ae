// heed translate

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/files/file.h"
#include "base/text/json_file.h"
#include "base/thread_pool.h"
#include "cli/files/model_lookup.h"
#include "cli/jobs/resumable/line_job.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/jobs/source_lines.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "cli/options/input_notes.h"
#include "cli/options/search_flags.h"
#include "cli/options/terminal.h"
#include "data/corpus/readers/whole_text.h"
#include "tasks/result_json.h"
#include "text/unicode/utf8.h"
#include "translate/documents/document.h"
#include "translate/words/confidence.h"
#include "translate/words/word_alignment.h"

namespace heed::cli {
namespace {

struct TranslateArguments {
  CommonOptions common;
  ModelChoice model;
  TranslateFlags flags;
  std::vector<std::string> texts;
  std::string input, output, format = "text";
  bool scores = false, json = false, lossy = false;
  LineJobOptions job;
};

/// Writes the requested columns: score, translation, alignment, confidence. With --nbest N, each source line
/// gives N lines, best first; missing translations are empty lines.
void write(const TranslateArguments& o, const translate::Translation& translation, LineOutput& output) {
  const TranslateOptions& options = o.flags.options;
  if (o.json) {
    output.write_line(tasks::to_json(translation, options).dump());
    return;
  }
  const bool columns = o.scores || options.alignment || options.confidence;
  for (size_t rank = 0; rank < static_cast<size_t>(options.nbest); ++rank) {
    static const translate::Candidate kMissing;
    const bool found = rank < translation.candidates.size();
    const translate::Candidate& candidate = found ? translation.candidates[rank] : kMissing;
    std::string line;
    if (o.scores) line += found ? fmt::format("{:.6f}\t", candidate.score) : "\t";
    line += within_line(candidate.text, columns);
    if (options.alignment) line += '\t' + translate::to_pharaoh(candidate.alignment);
    if (options.confidence) line += '\t';
    if (options.confidence && found) {
      line += fmt::format("{:.3f}", translate::text_confidence(candidate.word_confidence));
    }
    output.write_line(line);
  }
}

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

/// Writes lines whose translation says other numbers, times or dates to standard error, the first of them one
/// by one. --json has them all.
class ValueWarnings {
 public:
  explicit ValueWarnings(const TranslateArguments& options) : quiet_(options.common.quiet || options.json) {}
  /// `line` gives its number, which is only asked for where it is shown: in a part of a file, lines before
  /// the part have to be counted for it.
  void add(const std::function<uint64_t()>& line, const translate::Translation& translation) {
    if (translation.warnings.empty() || quiet_) return;
    if (++lines_ > kShown) return;
    std::string all;
    for (const std::string& warning : translation.warnings) all += (all.empty() ? "" : "; ") + warning;
    std::fprintf(stderr, "warning: line %llu: %s\n", static_cast<unsigned long long>(line()), all.c_str());
  }
  /// At the end.
  void write_rest() const {
    if (lines_ <= kShown) return;
    std::fprintf(stderr, "warning: %s in all with other values than the source; --json gives them\n",
                 counted(lines_, "line").c_str());
  }

 private:
  static constexpr size_t kShown = 10;
  bool quiet_;
  size_t lines_ = 0;
};

/// Writes what the n-th of some documents says otherwise than its source to standard error.
void warn_of_values(const std::vector<std::string>& warnings, size_t number, size_t documents) {
  constexpr size_t kShown = 20;
  const std::string where = documents == 1 ? "" : fmt::format("document {}: ", number);
  for (size_t n = 0; n < std::min(kShown, warnings.size()); ++n)
    std::fprintf(stderr, "warning: %s%s\n", where.c_str(), warnings[n].c_str());
  if (warnings.size() <= kShown) return;
  std::fprintf(stderr, "warning: %s%s in all that differ from the source\n", where.c_str(),
               counted(warnings.size(), "value").c_str());
}

/// Translates whole documents instead of lines.
int run_translate_documents(const TranslateArguments& o) {
  if (!o.texts.empty() && !o.input.empty()) {
    fail(ErrorKind::kUsage, "give either documents as arguments or --input, not both");
  }
  if (o.json || o.scores || o.job.resume || !o.job.part.is_whole()) {
    fail(ErrorKind::kUsage,
         "--format {} translates whole documents: --json, --scores, --part and --resume only work with "
         "--format text",
         o.format);
  }
  const TranslateOptions options = translate::options_for_document(read_options(o.flags));
  std::vector<std::string> documents = o.texts;
  const bool arguments = !documents.empty();
  if (!arguments) documents.push_back(read_whole_text(o.input.empty() ? "-" : o.input, o.lossy));
  LineOutput output(o.output);
  const std::vector<TranslationModel> models =
      load_translation_models(o.model, open_translation_models(o.model));
  ThreadPool pool(o.common.threads);
  const translate::TranslatorChain translator(tasks::chain_steps(models, options), pool);
  const auto format =
      o.format == "html" ? translate::DocumentFormat::kHtml : translate::DocumentFormat::kMarkdown;
  for (size_t n = 0; n < documents.size(); ++n) {
    const std::string text = o.lossy ? replace_invalid_utf8(documents[n]) : documents[n];
    const translate::TranslatedDocument translation =
        translate::translate_document(translator, text, format, stop_on_interrupt());
    if (!o.common.quiet) warn_of_values(translation.warnings, n + 1, documents.size());
    output.write(translation.text);
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

int run_translate(const TranslateArguments& o) {
  note_file_names(o.texts, o.common.quiet);
  if (o.format != "text") return run_translate_documents(o);
  SourceLines lines(o.texts, o.input, {.lossy = o.lossy, .part = o.job.part});
  const TranslateOptions options = read_options(o.flags);
  const std::vector<models::ModelDirectory> directories = open_translation_models(o.model);
  std::vector<std::string> paths;
  for (const models::ModelDirectory& directory : directories) paths.push_back(directory.path());
  LineOutput output =
      open_output({.options = o.job,
                   .models = std::move(paths),
                   .outputs_per_line = o.json ? 1 : static_cast<uint64_t>(o.flags.options.nbest)},
                  o.input, o.output);
  if (output.complete()) return kExitDone;
  lines.skip(output.lines_done());
  const std::vector<TranslationModel> models = load_translation_models(o.model, directories);
  ThreadPool pool(o.common.threads);
  const translate::TranslatorChain translator(tasks::chain_steps(models, options), pool);

  const bool live = !o.common.quiet && stderr_is_terminal() && !(output.to_stdout() && stdout_is_terminal());
  if (!o.common.quiet && lines.from_terminal())
    std::fprintf(stderr, "Enter one sentence per line; end with Ctrl-D.\n");
  ProgressLine progress("lines", live ? lines.count() : 0, live);
  const double all_bytes = static_cast<double>(lines.bytes());
  double bytes_before = 0;
  size_t written = output.lines_done();
  bool markup = false;
  NotedInput noted(models.front().tokenizer.source_language(), o.common.quiet);
  ValueWarnings warnings(o);
  uint64_t given = 0, finished = 0;  // lines of this run
  translate::LineTranslator::Control control;
  control.stop = stop_on_interrupt();
  translate::LineTranslator::Progress last;
  control.progress = [&](const translate::LineTranslator::Progress& done) {
    last = done;
    progress.show(written + done.lines, all_bytes > 0 ? (bytes_before + done.bytes) / all_bytes : -1);
  };
  while (!lines.at_end()) {
    // Interactive input and pipes: translate as soon as no further line is available.
    size_t taken = 0;
    if (options.sample) control.first_line = lines.lines_before();
    last = {};
    translator.translate(
        [&](std::string& line) {
          if (taken > 0 && !lines.ready()) return false;
          const bool more = lines.next(line);
          taken += more ? 1 : 0;
          given += more ? 1 : 0;
          if (more) noted.add(line);
          markup = markup || has_closing_tag(line);
          return more;
        },
        [&](const translate::Translation& translation) {
          write(o, translation, output);
          ++finished;
          warnings.add([&] { return lines.lines_before() - given + finished; }, translation);
          output.end_input_line();
        },
        control);
    written += taken;
    bytes_before += last.bytes;
    output.flush();
  }
  output.commit(lines.fingerprint());
  progress.clear();
  noted.write();
  warnings.write_rest();
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

}  // namespace

void add_translate(Command& app, Work& work) {
  auto [command, o] = add_command(app, work, "translate", "Translate text, line by line", run_translate);
  command->footer(R"(Examples:
  heed translate "Der Hund schläft."
  heed translate --input german.txt --output english.txt --beam 1
  heed translate --json --nbest 3 < german.txt
  heed translate --format html --input seite.html --output page.html

One output line per input line; blank lines stay blank. --scores, --alignment and --confidence add
columns: score, translation, alignment, confidence, separated by tabs. --nbest N writes N lines per input
line, best first. The score is the log-probability of the translation divided by length^A, see
--length-penalty.)");
  command->add_option("TEXT", o->texts, "Text to translate; default: the lines of --input")->take_all();
  add_model_options(*command, o->model);
  command->add_option("--input F", o->input, "Read lines from this file; -: standard input [default: -]");
  command->add_option("--output F", o->output, "Write to this file instead of standard output");
  add_choice(*command, "--format FORMAT", o->format,
             "text: line by line; html or markdown: the input is one document, and its markup is kept "
             "[default: text]",
             {"text", "html", "markdown"});
  command->add_switch("--json", o->json,
                      "One JSON object per line: source, translation, score, pieces, warnings, alternatives");
  using enum search::OptionGroup;
  add_translate_options(*command, o->flags, {kOutput});
  command->add_switch("--scores", o->scores, "Write the score in a column before the translation");
  add_translate_options(*command, o->flags, {kText});
  command->add_switch("--lossy", o->lossy, "Replace invalid UTF-8 instead of failing");
  add_translate_options(*command, o->flags, {kConstraints, kSearch, kSampling});
  add_language_options(*command, o->model);
  add_precision_option(*command, o->model.precision);
  add_shortlist_option(*command, o->model.shortlist);
  add_translate_options(*command, o->flags, {kHeads});
  add_line_job_options(*command, o->job);
  add_common_options(*command, o->common);
}

}  // namespace heed::cli
